"""Nobody else notices the guard: clients that write back, apply, copy, restore, delete, or write the status."""

from __future__ import annotations

import asyncio
import json
import signal

import pytest
from tests.cluster import guarded as guarded_module
from tests.cluster.guarded import (
    BOTH,
    EVERYWHERE,
    MODES,
    PREFIX,
    assert_specs,
    code,
    forged,
    key,
    without,
)
from tests.cluster.test_serve_kubectl import ADDED, NEW, OLD, RICH, SPEC, manifest

pytestmark = pytest.mark.cluster

guarding = guarded_module.guarding


@EVERYWHERE
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


@EVERYWHERE
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


@EVERYWHERE
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


@EVERYWHERE
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


@MODES
async def test_a_create_sets_no_status(guarding, mode):
    """Neither by itself nor by an entry: that one has no effect, or is refused where nothing can be undone."""
    guarded = await guarding(NEW, mode)
    body = manifest(OLD, "fresh")
    body["metadata"] |= forged("/status/phase", "Active")["metadata"]
    assert await code(guarded.create(OLD, body)) == (200 if mode == "puts back" else 403)
    if mode == "puts back":
        assert await guarded.status(NEW, "fresh") is None
        assert await guarded.spec(OLD, "fresh") == SPEC[OLD]


@MODES
async def test_annotations_that_are_copied_from_another_kind_are_nobodys_fault(guarding, mode):
    """A controller that copies all annotations of a parent of another kind, once and again, is not stopped by that."""
    guarded = await guarding(OLD, mode)
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


@EVERYWHERE
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
