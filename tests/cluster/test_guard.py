"""The guard on a real API server: what clients lose is put back, what they forge is refused, and nobody else notices.

Each story is told at both storage versions. Where it matters it is told three times: with the policies of Kubernetes
1.36 and later (``puts back``), with those of older ones (``refuses``), and without any, which shows what they are for.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import copy
import dataclasses
import json
import random
import signal
import time
from typing import Any

import pytest
from tests.cluster import command, converter
from tests.cluster import test_laws_apply as laws_apply
from tests.cluster.conftest import EXAMPLES, Conversion, install, remove
from tests.cluster.test_serve_kubectl import ADDED, NEW, OLD, RICH, SPEC, manifest

from instar import conversion as conversion_module
from instar import errors
from instar.cli import load
from instar.conversion import entries
from instar.model import crd as crd_model
from instar.model import resource as resource_model
from instar.rollout import guard as guard_module
from instar.serving import local

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
    if await code(guarded.patch(OLD, forged, "canary", dry_run=True)) != 403:
        return False
    if mode == "refuses":
        return True
    try:
        return bool(carried(await guarded.patch(OLD, {"metadata": {"annotations": None}}, "canary", dry_run=True)))
    except errors.ApiError as error:
        if error.code != 503:
            raise
        return False


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


# --- everybody else ---------------------------------------------------------------------------------------------------


@BOTH
@MODES
async def test_one_who_writes_back_what_was_read_is_not_disturbed(guarding, storage, mode, tmp_path):
    """get, then replace, apply, edit or patch, at both versions; entries come back as they were read."""
    guarded = await guarding(storage, mode)
    for number, version in enumerate((OLD, NEW)):
        kubectl, resource = guarded.kubectl, guarded.conversion.named(version)
        for words in (("replace",), ("apply",), ("apply",)):
            await kubectl(*words, "-f", "-", stdin=await kubectl("get", resource, "acme", "-o", "yaml"))
        await kubectl("annotate", resource, "acme", f"mine={number}", "--overwrite")
        await kubectl("label", resource, "acme", f"mine={number}", "--overwrite")
        document = await guarded.get(version)
        document["spec"][{OLD: "title", NEW: "displayName"}[version]] = f"T{number}"
        await guarded.put(version, document)
        await kubectl("patch", resource, "acme", "--type=merge", "-p", json.dumps({"metadata": {"labels": {"a": "b"}}}))
        title = f"T{number}"
        await assert_specs(guarded, {**SPEC[OLD], "title": title}, {**RICH, "displayName": title})


@BOTH
@MODES
async def test_an_entry_deleted_on_purpose_is_dropped(guarding, storage, mode):
    """One of several by kubectl; then all others, the view left: a deliberate drop, leaf by leaf."""
    guarded = await guarding(storage, mode)
    resource = guarded.conversion.named(OLD)
    await guarded.kubectl("annotate", resource, "acme", key(NEW, "/spec/suspended") + "-")
    await assert_specs(guarded, SPEC[OLD], {**RICH, "suspended": False})
    left = [PREFIX + name + "-" for name in await guarded.carried(OLD) if not name.endswith(".view")]
    await guarded.kubectl("annotate", resource, "acme", *left)
    await assert_specs(guarded, SPEC[OLD], SPEC[NEW])
    assert await guarded.spec(OLD) == SPEC[OLD]


@BOTH
@MODES
async def test_what_an_apply_gives_up_is_gone(guarding, storage, mode):
    """A manager that gave up the only carried leaf through the other version: nothing is left, and nothing put back."""
    guarded = await guarding(storage, mode)
    first = manifest(NEW, "given", displayName="one", suspended=True)
    for body, version in ((first, NEW), (manifest(OLD, "given", title="two"), OLD)):
        if version == OLD:
            assert await guarded.carried(OLD, "given")
        await guarded.patch(version, body, "given", patch_type="apply", field_manager="ann")
    assert (await guarded.spec(NEW, "given"))["suspended"] is False
    assert await guarded.carried(OLD, "given") == {}


@BOTH
async def test_a_cleaned_manifest_takes_nothing_away(guarding, storage):
    """Entries that came from an applied manifest are put back when the manifest has been cleaned of them."""
    guarded = await guarding(storage)
    for words in (["--server-side"], []):
        name = "own-server" if words else "own-client"
        read = await guarded.get(OLD)
        body = {**manifest(OLD, name), "metadata": {"name": name, "annotations": read["metadata"]["annotations"]}}
        await guarded.kubectl("apply", *words, "-f", "-", stdin=body)
        await assert_specs(guarded, SPEC[OLD], RICH, name)
        await guarded.kubectl("apply", *words, "-f", "-", stdin=manifest(OLD, name))
        await assert_specs(guarded, SPEC[OLD], RICH, name, str(words))


@BOTH
@MODES
async def test_copies_and_restores_keep_what_is_carried(guarding, storage, mode):
    """Created from what was read at either version: the copy reads as the original does, at both."""
    guarded = await guarding(storage, mode)
    for version in (OLD, NEW):
        read = await guarded.get(version)
        metadata = {"name": f"copy-{version}", "annotations": read["metadata"]["annotations"]}
        await guarded.create(version, {**read, "metadata": metadata})
        await assert_specs(guarded, SPEC[OLD], RICH, metadata["name"])
        await guarded.patch(version, {"metadata": {"labels": {"a": "b"}}}, metadata["name"])
        await assert_specs(guarded, SPEC[OLD], RICH, metadata["name"])


@BOTH
@MODES
async def test_a_create_sets_no_status(guarding, storage, mode):
    """Neither by itself nor by an entry: that one has no effect, or is refused where nothing can be undone."""
    guarded = await guarding(storage, mode)
    body = manifest(OLD, "fresh")
    body["metadata"] |= forged("/status/phase", "Active")["metadata"]
    assert await code(guarded.create(OLD, body)) == (201 if mode == "refuses" else 200) or mode == "refuses"
    if mode == "puts back":
        assert await guarded.status(NEW, "fresh") is None
        assert await guarded.spec(OLD, "fresh") == SPEC[OLD]


@BOTH
@MODES
async def test_annotations_that_are_copied_from_another_kind_are_nobodys_fault(guarding, storage, mode):
    """A controller that copies all annotations of a parent of another kind, once and again, is not stopped by that."""
    guarded = await guarding(storage, mode)
    name = key(NEW, "/spec/resources/replicas")
    foreign = {name: '["Widget","/spec/resources/replicas",[3],["small"]]', PREFIX + "v1.view": "0" * 32}
    body = manifest(OLD, "child")
    body["metadata"]["annotations"] = foreign
    await guarded.create(OLD, body)
    await guarded.patch(NEW, {"spec": ADDED}, "child")
    for _ in range(2):
        await guarded.patch(OLD, {"metadata": {"annotations": foreign}}, "child")
        await assert_specs(guarded, SPEC[OLD], RICH, "child")
    if mode == "puts back":
        assert name.removeprefix(PREFIX) not in await guarded.carried(OLD, "child")


@BOTH
@MODES
async def test_status_is_written_as_ever(guarding, storage, mode):
    """Through its subresource, at both versions; and a write of the main resource keeps what is carried of it."""
    guarded = await guarding(storage, mode)
    status = {"phase": "Active", "used": {"cpu": "1"}, "observedGeneration": 4}
    await guarded.put(NEW, {**await guarded.get(NEW), "status": status}, subresource="status")
    assert await guarded.status(OLD) == {"phase": "Active", "used": "cpu=1"}
    lost = key(NEW, "/status/observedGeneration")
    if mode == "puts back":
        await guarded.put(OLD, without(await guarded.get(OLD), lost))
    else:
        assert await code(guarded.put(OLD, without(await guarded.get(OLD), lost))) == 403
    assert await guarded.status(NEW) == status
    written = {**await guarded.get(OLD), "status": {"phase": "Pending", "used": "cpu=2"}}
    await guarded.put(OLD, without(written), subresource="status")
    assert await guarded.status(NEW) == {"phase": "Pending", "used": {"cpu": "2"}, "observedGeneration": 4}
    await assert_specs(guarded, SPEC[OLD], RICH)


@MODES
async def test_an_exempt_user_may_write_anything(guarding, mode):
    """A restore that puts back old annotations, by the user that the guard was told of, and by no other."""
    user = "system:serviceaccount:velero:velero"
    guarded = await guarding(OLD, mode, exempt=(user,))
    changes = json.dumps(forged("/spec/tier", "dedicated", "premium"))
    words = ("patch", guarded.conversion.named(OLD), "acme", "--type=merge", "-p", changes, "--as-group=system:masters")
    assert (await guarded.kubectl.try_(*words, "--as=system:serviceaccount:velero:other"))[0] == 1
    await guarded.kubectl(*words, f"--as={user}")
    assert (await guarded.spec(NEW))["tier"] == "dedicated"


@MODES
async def test_it_goes_on_without_the_webhook(guarding, mode):
    """Nothing is converted for the guard: with the webhook down, writes at the stored version pass or are refused."""
    guarded = await guarding(OLD, mode)
    webhook = guarded.conversion.webhook
    plain = manifest(OLD, "plain")
    await guarded.create(OLD, plain)
    await guarded.patch(OLD, {"metadata": {"labels": {"a": "b"}}}, "plain")
    webhook.process.send_signal(signal.SIGSTOP)
    try:
        async with asyncio.timeout(5):
            await guarded.patch(OLD, {"metadata": {"labels": {"a": "c"}}}, "plain")
            assert await code(guarded.patch(OLD, forged("/spec/tier", "dedicated", "premium"), "plain")) == 403
    finally:
        webhook.process.send_signal(signal.SIGCONT)


# --- what changes entries besides clients -----------------------------------------------------------------------------


@pytest.fixture
async def isolating(cluster):
    """A mutating webhook that speaks v1 and isolates each tenant: writes at v1alpha1 are converted for it, and back."""
    with converter.serve() as server:
        server.answer = isolate
        name = f"isolate.{cluster.namespace}.acme.io"
        rule = {
            "apiGroups": ["platform.acme.io"],
            "apiVersions": [NEW],
            "resources": ["tenants"],
            "operations": ["CREATE", "UPDATE"],
        }
        webhook = {
            "name": name,
            "clientConfig": {**server.client_config, "url": server.client_config["url"].replace("convert", "isolate")},
            "rules": [rule],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
        resource = resource_model.Resource(
            group="admissionregistration.k8s.io",
            version="v1",
            plural="mutatingwebhookconfigurations",
            kind="MutatingWebhookConfiguration",
            namespaced=False,
        )
        body = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": name}}
        await cluster.client.create(resource, {**body, "webhooks": [webhook]})
        await asyncio.sleep(1)
        yield
        await cluster.client.delete(resource, name)


def isolate(review: Document) -> Document:
    spec = review["request"]["object"].get("spec", {})
    assert review["request"]["object"]["apiVersion"].endswith("/v1")
    patch = [] if spec.get("network") else [{"op": "add", "path": "/spec/network", "value": {"isolated": True}}]
    response: Document = {"uid": review["request"]["uid"], "allowed": True}
    if patch:
        encoded = base64.b64encode(json.dumps(patch).encode()).decode()
        response |= {"patchType": "JSONPatch", "patch": encoded}
    return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}


@BOTH
@MODES
async def test_a_mutating_webhook_of_another_version_is_no_forger(guarding, isolating, storage, mode):
    """What it sets is carried as it should be, on creates and on edits, and no client is refused for it."""
    guarded = await guarding(storage, mode)
    isolated = {"network": {"isolated": True}}
    await guarded.create(OLD, manifest(OLD, "new"))
    await assert_specs(guarded, SPEC[OLD], {**SPEC[NEW], **isolated}, "new")
    for number, edit in enumerate(({"title": "T1"}, {"title": "T2", "costCentre": "1"})):
        await guarded.patch(OLD, {"spec": edit})
        await guarded.put(OLD, {**(read := await guarded.get(OLD)), "spec": {**read["spec"], "quota": f"cpu={number}"}})
    await guarded.patch(NEW, {"spec": {"network": None}})
    await guarded.patch(OLD, {"spec": {"quota": SPEC[OLD]["quota"]}})
    new = {**RICH, "displayName": "T2", **isolated}
    await assert_specs(guarded, {**SPEC[OLD], "title": "T2", "costCentre": "1"}, new)
    if mode == "puts back":
        await put_without(guarded, OLD)
        await assert_specs(guarded, {**SPEC[OLD], "title": "T2", "costCentre": "1"}, new)
    assert await code(guarded.patch(OLD, forged("/spec/tier", "dedicated", "premium"))) == 403


@MODES
async def test_a_migration_passes(guarding, tmp_path, mode):
    """`instar migrate` rewrites everything under the guard, and both versions read as before."""
    guarded = await guarding(OLD, mode)
    crd = guarded.conversion.crd
    flipped = [{**one, "storage": one["name"] == NEW} for one in crd.document["spec"]["versions"]]
    await guarded.cluster.client.patch(crd_model.RESOURCE, crd.name, {"spec": {"versions": flipped}})
    kubeconfig = guarded.cluster.control_plane.kubeconfig
    ended = await command.instar(
        *("migrate", crd.name, "--kubeconfig", kubeconfig, "--settle", "1"),
        environment={"XDG_STATE_HOME": str(tmp_path)},
    )
    assert ended.code == 0, ended.err
    assert "2 objects proved to be stored at v1" in ended.out
    await assert_specs(guarded, SPEC[OLD], RICH)


reference = laws_apply.reference


@BOTH
@MODES
@pytest.mark.parametrize(("name", "reference"), [("tenant", "tenant"), ("widget", "widget")], indirect=["reference"])
async def test_random_applies_are_not_disturbed(guarding, reference, name, storage, mode):
    """Applies of three managers at two versions end in the state and ownership of a one-version CRD, guarded too."""
    guarded = await guarding(storage, mode, example=name)
    await asyncio.sleep(0 if name == "tenant" else 8)
    async with asyncio.TaskGroup() as group:
        for number in range(4):
            twin = laws_apply.Twin(
                cluster=guarded.cluster,
                conversion=guarded.conversion,
                reference=reference,
                kind=name,
                name=f"twin-{number}",
            )
            group.create_task(laws_apply.sequence(twin, random.Random(f"{laws_apply.SEED} {twin.name}")))


# --- how much, and how many versions ----------------------------------------------------------------------------------

WIDE = "guard.acme.io"
WIDE_CONVERSION = """
from instar.conversion import Conversion, Spoke


def same(thing):
    return thing


spokes = tuple(Spoke(version=name, to_hub=same, from_hub=same) for name in ("v1alpha1", "v1beta1"))
conversion = Conversion(group="guard.acme.io", kind="Wide", hub="v1", spokes=spokes)
"""
TEXT = {"type": "string"}
FIELDS: dict[str, Document] = {
    OLD: {"size": TEXT, "old": TEXT},
    "v1beta1": {"size": TEXT, "beta": TEXT},
    NEW: {"size": TEXT, "extra": {"type": "object", "additionalProperties": TEXT}},
}
"""Each version has a field of its own; a schema that lacks a field drops it, so the functions may do nothing."""


def wide_crd(storage: str) -> Document:
    versions = [
        {
            "name": name,
            "served": True,
            "storage": name == storage,
            "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
            },
        }
        for name, fields in FIELDS.items()
    ]
    names = {"kind": "Wide", "listKind": "WideList", "plural": "wides", "singular": "wide"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"wides.{WIDE}"},
        "spec": {"group": WIDE, "scope": "Namespaced", "names": names, "versions": versions},
    }


@pytest.fixture
async def wide(cluster, kubectl, tmp_path):
    """`await wide(storage, mode)`: three versions, each with a field that the others lack, under that guard."""
    async with contextlib.AsyncExitStack() as stack:

        async def wide(storage: str, mode: str) -> Guarded:
            manifest, code = tmp_path / "crd.yaml", tmp_path / "conversion.py"
            manifest.write_text(json.dumps(wide_crd(storage)))
            code.write_text(WIDE_CONVERSION)
            webhook = await stack.enter_async_context(local.start(code, manifest))
            body = wide_crd(storage)
            body["spec"]["conversion"] = webhook.conversion
            crd = await install(cluster.client, body)
            stack.push_async_callback(remove, cluster.client, crd.name)
            served = Conversion(client=cluster.client, crd=crd, webhook=webhook)
            bound = conversion_module.bind(load.conversion(str(code)), crd)
            stack.push_async_callback(remove_guard, cluster, await apply_guard(cluster, bound, KUBERNETES[mode]))
            await asyncio.sleep(8)  # mutation takes over the schema of a new CRD every 5 s, and answers 503 until then
            return Guarded(cluster=cluster, kubectl=kubectl, conversion=served)

        yield wide


def a_wide(version: str, **spec: Any) -> Document:
    return {"apiVersion": f"{WIDE}/{version}", "kind": "Wide", "metadata": {"name": "acme"}, "spec": spec}


@pytest.mark.parametrize("storage", list(FIELDS))
async def test_three_versions(wide, storage):
    """A replace at any of three versions keeps what the other two alone can say, wherever it is stored."""
    guarded = await wide(storage, "puts back")
    await guarded.create(OLD, a_wide(OLD, size="1", old="o"))
    await guarded.patch("v1beta1", {"spec": {"beta": "b"}})
    await guarded.patch(NEW, {"spec": {"extra": {"e": "f"}}})
    said = {OLD: {"old": "o"}, "v1beta1": {"beta": "b"}, NEW: {"extra": {"e": "f"}}}
    for number, (version, own) in enumerate(said.items()):
        document = without(await guarded.get(version))
        await guarded.put(version, {**document, "spec": {"size": str(number), **own}})
        assert {name: await guarded.spec(name) for name in said} == {
            name: {"size": str(number), **fields} for name, fields in said.items()
        }, version


BIG = 255_000
LONG, MANY = {"number": 950, "length": 200}, {"number": 3450, "length": 1}


@pytest.mark.parametrize("size", [LONG, MANY], ids=["long", "many"])
@MODES
async def test_annotations_as_many_as_an_object_may_have(wide, mode, size):
    """256 KiB of them cost less than the API server allows an expression, and no write fails for that."""
    guarded = await wide(OLD, mode)
    extra = {f"k{number}": "x" * size["length"] for number in range(size["number"])}
    await guarded.create(NEW, a_wide(NEW, size="1", extra=extra))
    read = await guarded.get(OLD)
    annotations = read["metadata"]["annotations"]
    assert sum(len(name) + len(text) for name, text in annotations.items()) > BIG
    assert len(annotations) == size["number"] + 1
    if mode == "puts back":
        await guarded.put(OLD, without(read))
    else:
        with pytest.raises(errors.ApiError, match="is missing"):
            await guarded.put(OLD, without(read))
    assert await guarded.spec(NEW) == {"size": "1", "extra": extra}
    altered = {name: text.replace("x", "y") for name, text in annotations.items()}
    with pytest.raises(errors.ApiError, match="is not what it was"):
        await guarded.patch(OLD, {"metadata": {"annotations": altered}})
    garbage = {name: text.replace("[", "{") for name, text in annotations.items()}
    assert await code(guarded.patch(OLD, {"metadata": {"annotations": garbage}})) == (
        200 if mode == "puts back" else 403
    )
    assert await guarded.spec(NEW) == {"size": "1", "extra": extra}
    copy_ = {**read, "metadata": {"name": "copy", "annotations": annotations}}
    await guarded.create(OLD, copy_)
    assert await guarded.spec(NEW, "copy") == {"size": "1", "extra": extra}
