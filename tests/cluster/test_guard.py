"""The guard on a real API server: what clients lose is put back, what they forge is refused, and nobody else notices.

Each story is told at both storage versions. Where it matters it is told three times: with the policies of Kubernetes
1.36 and later (``puts back``), with those of older ones (``refuses``), and without any, which shows what they are for.
"""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import json
import time
from typing import Any

import pytest
from tests.cluster.conftest import EXAMPLES
from tests.cluster.test_serve_kubectl import ADDED, NEW, OLD, RICH, SPEC, manifest

from instar import conversion as conversion_module
from instar import errors
from instar.cli import load
from instar.conversion import entries
from instar.model import crd as crd_model
from instar.model import resource as resource_model
from instar.rollout import guard as guard_module

pytestmark = pytest.mark.cluster

PREFIX = "carried.platform.acme.io/"
KUBERNETES = {"puts back": "1.37", "refuses": "1.35"}
OTHER = {OLD: NEW, NEW: OLD}
Document = dict[str, Any]


def policy_resource(document: Document) -> resource_model.Resource:
    kind = document["kind"]
    plural = kind.lower()[:-1] + "ies" if kind.endswith("Policy") else kind.lower() + "s"
    return resource_model.Resource(
        group="admissionregistration.k8s.io", version="v1", plural=plural, kind=kind, namespaced=False
    )


def bound_of(crd: crd_model.Crd, example: str) -> conversion_module.Bound:
    return conversion_module.bind(load.conversion(str(EXAMPLES / example / "conversion.py")), crd)


@dataclasses.dataclass(kw_only=True)
class Guarded:
    """Objects of one kind under a guard, and the clients that write them."""

    cluster: Any
    kubectl: Any
    conversion: Any

    async def get(self, version: str, name: str = "acme") -> Document:
        return await self.cluster.client.get(self.conversion.at(version), name, self.cluster.namespace)

    async def put(self, version: str, document: Document, **options: Any) -> Document:
        name = document["metadata"]["name"]
        return await self.cluster.client.update(
            self.conversion.at(version), document, name, self.cluster.namespace, **options
        )

    async def patch(self, version: str, patch: Any, name: str = "acme", **options: Any) -> Document:
        return await self.cluster.client.patch(
            self.conversion.at(version), name, patch, self.cluster.namespace, **options
        )

    async def create(self, version: str, document: Document) -> Document:
        return await self.cluster.client.create(self.conversion.at(version), document, self.cluster.namespace)

    async def create_rich(self, name: str) -> None:
        """A tenant of which each version says only a part."""
        await self.create(OLD, manifest(OLD, name))
        await self.patch(NEW, {"spec": ADDED}, name)

    async def spec(self, version: str, name: str = "acme") -> Document:
        return (await self.get(version, name)).get("spec", {})

    async def status(self, version: str, name: str = "acme") -> Document | None:
        return (await self.get(version, name)).get("status")

    async def carried(self, version: str, name: str = "acme") -> dict[str, str]:
        return carried(await self.get(version, name))


def carried(document: Document) -> dict[str, str]:
    """What is carried on an object, by key without the prefix."""
    annotations = document["metadata"].get("annotations") or {}
    return {key.removeprefix(PREFIX): text for key, text in annotations.items() if key.startswith(PREFIX)}


def key(version: str, path: str) -> str:
    return PREFIX + entries.key(version, path)


async def apply_guard(cluster, bound: conversion_module.Bound, kubernetes: str, exempt: tuple[str, ...] = ()):
    documents = guard_module.documents(guard_module.plan(bound, kubernetes=kubernetes, exempt=exempt))
    for document in documents:
        await cluster.client.create(policy_resource(document), document)
    return documents


async def remove_guard(cluster, documents) -> None:
    for document in reversed(documents):
        await cluster.client.delete(policy_resource(document), document["metadata"]["name"])


@pytest.fixture
async def guarding(request, cluster, serve_conversion, kubectl):
    """`await guarding(storage, mode)`: tenant `acme`, of which each version says only a part, under that guard."""
    applied: list[Any] = []

    async def guarding(storage: str, mode: str = "puts back", example: str = "tenant", exempt=()) -> Guarded:
        conversion = await serve_conversion(example, storage=storage)
        guarded = Guarded(cluster=cluster, kubectl=kubectl, conversion=conversion)
        if example == "tenant":
            await guarded.create_rich("canary")
            await guarded.create_rich("acme")
        if mode != "none":
            applied.append(await apply_guard(cluster, bound_of(conversion.crd, example), KUBERNETES[mode], exempt))
            if example == "tenant":
                await until_it_guards(guarded, mode)
        return guarded

    yield guarding
    for documents in applied:
        await remove_guard(cluster, documents)
        await asyncio.sleep(1)


async def until_it_guards(guarded: Guarded, mode: str) -> None:
    """API servers take a policy over within a second or two of its creation."""
    for _ in range(300):
        if await guards(guarded, mode):
            return
        await asyncio.sleep(0.05)
    pytest.fail("the guard is not in force after 15 s")


async def guards(guarded: Guarded, mode: str) -> bool:
    """Whether it refuses and, where it can, puts back. A 503: mutation waits for the schema of a new CRD."""
    forged = {"metadata": {"annotations": {key(NEW, "/spec/suspended"): '["Tenant","/spec/suspended",[false]]'}}}
    emptied = {"metadata": {"annotations": None}}
    if await code(guarded.patch(OLD, forged, "canary", dry_run=True)) != 403:
        return False
    if mode == "refuses":
        return True
    if await code(guarded.patch(OLD, emptied, "canary", dry_run=True)) == 503:
        return False
    return bool(carried(await guarded.patch(OLD, emptied, "canary", dry_run=True)))


async def code(write: Any) -> int:
    """200, or the code of the refusal."""
    try:
        await write
    except errors.ApiError as error:
        return error.code
    return 200


BOTH = pytest.mark.parametrize("storage", [OLD, NEW])
MODES = pytest.mark.parametrize("mode", list(KUBERNETES))


def without(document: Document, *keys: str) -> Document:
    """The object without these annotations; without any, if none is named."""
    copied = copy.deepcopy(document)
    annotations = copied["metadata"].pop("annotations", {})
    if keys:
        copied["metadata"]["annotations"] = {name: text for name, text in annotations.items() if name not in keys}
    return copied


async def assert_specs(guarded: Guarded, old: Document, new: Document, name: str = "acme", story: str = "") -> None:
    assert await guarded.spec(NEW, name) == new, story
    assert await guarded.spec(OLD, name) == old, story


# --- a client that writes without the annotations ---------------------------------------------------------------------


async def replaced_by_kubectl(guarded: Guarded, version: str) -> None:
    await guarded.kubectl("replace", "-f", "-", stdin=manifest(version, **await guarded.spec(version)))


async def put_without(guarded: Guarded, version: str) -> None:
    await guarded.put(version, without(await guarded.get(version)))


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


def forged(path: str, value: Any, *base: Any, version: str = NEW) -> Document:
    """A merge patch that adds an entry."""
    text = json.dumps(["Tenant", path, [value], *([list(base)] if base else [])], separators=(",", ":"))
    return {"metadata": {"annotations": {key(version, path): text}}}


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


@BOTH
@MODES
async def test_status_is_safe_from_one_who_tampers_with_managed_fields(guarding, storage, mode):
    """What the status carries does not rest on managedFields: such an entry has no effect, or is refused."""
    guarded = await guarding(storage, mode)
    await tampered(guarded, key(NEW, "/status/phase"))
    forgery = guarded.patch(OLD, forged("/status/phase", "Active"), field_manager="mallory")
    assert await code(forgery) == (200 if mode == "puts back" else 403)
    assert await guarded.status(NEW) is None
