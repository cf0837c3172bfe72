"""Under the guard, what clients lose is put back, and what they forge is refused."""

from __future__ import annotations

import asyncio
import copy
import time

import pytest
from tests.cluster import guarded as guarded_module
from tests.cluster.guarded import (
    BOTH,
    MODES,
    OTHER,
    PREFIX,
    Document,
    Guarded,
    assert_specs,
    code,
    forged,
    key,
    put_without,
    without,
)
from tests.cluster.test_serve_kubectl import NEW, OLD, RICH, SPEC, manifest

from instar import errors

pytestmark = pytest.mark.cluster

guarding = guarded_module.guarding


# --- a client that writes without the annotations ---------------------------------------------------------------------


async def replaced_by_kubectl(guarded: Guarded, version: str) -> None:
    await guarded.kubectl("replace", "-f", "-", stdin=manifest(version, **await guarded.spec(version)))


async def put_with_others(guarded: Guarded, version: str) -> None:
    document = without(await guarded.get(version))
    document["metadata"]["annotations"] = {"mine": "1"}
    await guarded.put(version, document)


async def merge_null(guarded: Guarded, version: str) -> None:
    await guarded.patch(version, {"metadata": {"annotations": None}})


async def json_remove(guarded: Guarded, version: str) -> None:
    await guarded.patch(version, [{"op": "remove", "path": "/metadata/annotations"}], patch_type="json")


REPLACING = (replaced_by_kubectl, put_without, put_with_others, merge_null, json_remove)


@BOTH
async def test_what_a_replace_loses_is_put_back(guarding, storage):
    """However a client of either version writes an object without the annotations, both versions read as before."""
    guarded = await guarding(storage)
    for version in (OLD, NEW):
        for replace in REPLACING:
            await replace(guarded, version)
            await assert_specs(guarded, SPEC[OLD], RICH, story=f"{replace.__name__} at {version}")


@BOTH
async def test_an_edit_in_such_a_replace_wins(guarding, storage):
    """What is put back is judged like any other entry: the edit wins, and the rest comes back."""
    guarded = await guarding(storage)
    changed = {**SPEC[OLD], "quota": "mem=32Gi,cpu=9", "owners": ["zoe"]}
    await guarded.kubectl("replace", "-f", "-", stdin=manifest(OLD, **changed))
    new = {**RICH, "quota": {**RICH["quota"], "cpu": "9"}, "owners": RICH["owners"][:1]}
    await assert_specs(guarded, changed, new)


@BOTH
async def test_such_a_replace_is_refused_where_nothing_can_be_put_back(guarding, storage):
    """Before Kubernetes 1.36: the write fails, says which annotation of which object, what to do; no change."""
    guarded = await guarding(storage, "refuses")
    for version in (OLD, NEW):
        for replace in REPLACING[1:]:
            with pytest.raises(errors.ApiError) as refused:
                await replace(guarded, version)
            assert refused.value.code == 403
            said = refused.value.detail
            assert f"Tenant {guarded.cluster.namespace}/acme: annotation {PREFIX}{OTHER[version]}." in said
            assert "is missing" in said
            assert "write it back with its annotations" in said
            await assert_specs(guarded, SPEC[OLD], RICH, story=f"{replace.__name__} at {version}")
    ended, _, err = await guarded.kubectl.try_("replace", "-f", "-", stdin=manifest(OLD))
    assert ended == 1
    assert f"Tenant {guarded.cluster.namespace}/acme: annotation" in err


@BOTH
async def test_what_happens_without_a_guard(guarding, storage):
    """A replace loses what was carried; a forged entry sets what its writer may not; this is what the guard is for."""
    guarded = await guarding(storage, "none")
    await guarded.patch(OLD, forged("/status/phase", "Active"))
    assert await guarded.status(NEW) == {"phase": "Active"}, "set by a write of the main resource"
    await guarded.patch(OLD, forged("/spec/tier", "dedicated", "premium"))
    assert (await guarded.spec(NEW))["tier"] == "dedicated"
    await guarded.kubectl("replace", "-f", "-", stdin=manifest(OLD))
    assert await guarded.spec(NEW) == SPEC[NEW], "storage, roles and the suspension are lost"


# --- a client that forges ---------------------------------------------------------------------------------------------


def altered(document: Document) -> Document:
    """The object with another value in the entry for the suspension."""
    copied = copy.deepcopy(document)
    name = key(NEW, "/spec/suspended")
    copied["metadata"]["annotations"][name] = copied["metadata"]["annotations"][name].replace("true", "false")
    return copied


async def put_altered(guarded: Guarded) -> None:
    await guarded.put(OLD, altered(await guarded.get(OLD)))


async def patch_altered(guarded: Guarded) -> None:
    await guarded.patch(OLD, {"metadata": {"annotations": altered(await guarded.get(OLD))["metadata"]["annotations"]}})


async def put_altered_alone(guarded: Guarded) -> None:
    """All others left out: an object with entries of an older manifest."""
    document = altered(await guarded.get(OLD))
    name = key(NEW, "/spec/suspended")
    document["metadata"]["annotations"] = {name: document["metadata"]["annotations"][name]}
    await guarded.put(OLD, document)


async def merge_added(guarded: Guarded) -> None:
    await guarded.patch(OLD, forged("/spec/tier", "dedicated", "premium"))


async def json_added(guarded: Guarded) -> None:
    ((name, text),) = forged("/spec/tier", "dedicated", "premium")["metadata"]["annotations"].items()
    path = "/metadata/annotations/" + name.replace("/", "~1")
    await guarded.patch(OLD, [{"op": "add", "path": path, "value": text}], patch_type="json")


async def applied(guarded: Guarded) -> None:
    body = {**manifest(OLD), "metadata": {"name": "acme", **forged("/spec/tier", "dedicated", "premium")["metadata"]}}
    await guarded.patch(OLD, body, patch_type="apply", field_manager="forger", force=True)


async def status_added(guarded: Guarded) -> None:
    await guarded.patch(OLD, forged("/status/phase", "Active"))


async def old_spelling_added(guarded: Guarded) -> None:
    """The other way: at v1, an entry for v1alpha1."""
    await guarded.patch(NEW, forged("/status/used", "cpu=1", version=OLD))


FORGING = (
    put_altered,
    patch_altered,
    put_altered_alone,
    merge_added,
    json_added,
    applied,
    status_added,
    old_spelling_added,
)


@BOTH
@MODES
async def test_entries_that_a_client_adds_or_alters_are_refused(guarding, storage, mode):
    """By every verb, with a message that names the object, the annotation and the remedy; nothing changes."""
    guarded = await guarding(storage, mode)
    for forge in FORGING:
        with pytest.raises(errors.ApiError) as refused:
            await forge(guarded)
        said = refused.value.detail
        assert refused.value.code == 403, forge.__name__
        assert f"Tenant {guarded.cluster.namespace}/acme: annotation {PREFIX}v1" in said, forge.__name__
        assert "is not what it was" in said if "altered" in forge.__name__ else "was not there" in said
        assert "instar convert --strip-carried" in said
        await assert_specs(guarded, SPEC[OLD], RICH, story=forge.__name__)
        assert await guarded.status(NEW) is None, forge.__name__


async def tampered(guarded: Guarded, name: str) -> None:
    """A claim in managedFields that makes the forgery look like nothing new: the same manager, fields and second."""
    second = int(time.time()) + 3
    document = await guarded.get(OLD)
    claim = {
        "manager": "mallory",
        "operation": "Update",
        "apiVersion": "platform.acme.io/v1alpha1",
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second)),
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": {"f:annotations": {f"f:{name}": {}}}},
    }
    document["metadata"]["managedFields"].append(claim)
    await guarded.put(OLD, document)
    assert claim in (await guarded.get(OLD))["metadata"]["managedFields"]
    await asyncio.sleep(second + 0.2 - time.time())


@MODES
async def test_status_is_safe_from_one_who_tampers_with_managed_fields(guarding, mode):
    """What the status carries does not rest on managedFields: such an entry has no effect, or is refused."""
    guarded = await guarding(NEW, mode)
    await tampered(guarded, key(NEW, "/status/phase"))
    forgery = guarded.patch(OLD, forged("/status/phase", "Active"), field_manager="mallory")
    assert await code(forgery) == (200 if mode == "puts back" else 403)
    assert await guarded.status(NEW) is None
