"""The demo's comparison can find a loss: one value changed in etcd is one loss, on a real API server."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
import pytest
import pytest_asyncio

from instar.controlplane import namespaces
from instar.demo import judging, recorder, screen, seeding, stages, verbs, world
from instar.kube import etcd as kube_etcd
from instar.serving import local

pytestmark = pytest.mark.cluster

OBJECTS = 24


class Stage:
    """A few Tenants, written to through both versions, stored at v1alpha1 and served at both."""

    def __init__(self, here: world.World, made: list[verbs.Made]) -> None:
        self.here, self.made = here, made

    async def judge(self) -> list[str]:
        resources = {version: self.here.resource(version) for version in (world.OLD, world.NEW)}
        found = await judging.judge(self.here.client, self.here.etcd, resources, self.here.book, stored=world.OLD)
        assert found.compared == OBJECTS
        return [loss.message for loss in found.losses]

    async def tamper(self, made: verbs.Made, change: Callable[[dict[str, Any]], None]) -> None:
        """Change the bytes in etcd."""
        key = kube_etcd.key(self.here.resource(world.OLD), made.key.namespace, made.key.name)
        stored = await self.here.etcd.get(key)
        assert stored is not None
        document = msgspec.json.decode(stored.value)
        change(document)
        await self.here.etcd.put(key, msgspec.json.encode(document))


@pytest_asyncio.fixture
async def stage(make_control_plane: Any) -> AsyncIterator[Stage]:
    steps = recorder.Recorder(screen.Plain(io.StringIO()), time.monotonic)
    async with contextlib.AsyncExitStack() as stack:
        here = await stack.enter_async_context(world.opened(make_control_plane(), steps))
        webhook = await stack.enter_async_context(local.start(here.folder / "conversion.py", here.folder / "crd.yaml"))
        await stages.create(here.client, stages.shipped(here.document, world.OLD))
        made = await seeding.create(here, OBJECTS, lambda done: None)
        both = stages.versions(here.document, (world.OLD, world.NEW), (world.OLD, world.NEW), world.OLD)
        await stages.change(here.client, here.api.name, {"spec": {"conversion": webhook.conversion, **both["spec"]}})
        for version in (world.NEW, world.OLD):
            clients = verbs.Verbs(here.caller(version, f"client-{version}"), here.book)
            for number, (verb, entry) in enumerate(zip(verbs.EDITS * (OBJECTS // 3), made, strict=True)):
                await clients.edit(verb, entry, 100 + number)
        yield Stage(here, made)


def one_digit(document: dict[str, Any]) -> None:
    document["spec"]["quota"] = "cpu=9999,mem=1Gi"


def drop_carried(document: dict[str, Any]) -> None:
    annotations = document["metadata"]["annotations"]
    carried = [key for key in annotations if key.startswith("carried.")]
    assert carried
    for key in carried:
        del annotations[key]


async def test_every_loss_is_found_and_counted_once(stage: Stage) -> None:
    """Nothing at first. Then one value changed in etcd: wrong there, at v1alpha1 and at v1, and one loss.

    Then what is carried, taken away: missed at v1 alone, value by value. Then an object that is gone and one that is
    too much: one each.
    """
    changed, bare, gone = stage.made[0], stage.made[3], stage.made[6]
    assert await stage.judge() == []

    await stage.tamper(changed, one_digit)
    (loss,) = await stage.judge()
    assert f'{changed.key} at v1alpha1 (in etcd): /spec/quota: is "cpu=9999,mem=1Gi", written was "' in loss

    await stage.tamper(bare, drop_carried)
    missed = [loss for loss in await stage.judge() if str(bare.key) in loss]
    assert all(f"{bare.key} at v1 (served)" in loss for loss in missed)
    assert any("/spec/quota/gpus: is nothing, written was 9007199254741" in loss for loss in missed)

    await stage.here.client.delete(stage.here.resource(world.NEW), gone.key.name, gone.key.namespace)
    await namespaces.create(stage.here.client, "nowhere")
    ghost = {"apiVersion": "platform.acme.io/v1", "kind": "Tenant", "metadata": {"name": "ghost"}}
    await stage.here.client.create(stage.here.resource(world.NEW), ghost, "nowhere")
    where = [loss.partition(" at ")[0] for loss in await stage.judge()]
    assert (where.count(str(gone.key)), where.count("nowhere/ghost"), where.count(str(changed.key))) == (1, 1, 1)


async def test_etcd_tells_what_changed(stage: Stage) -> None:
    """The sampler's way to count: what changed since a revision, how many there are, and their keys."""
    etcd, resource = stage.here.etcd, stage.here.resource(world.OLD)
    everything = await etcd.changes(resource, since=0)
    assert (len(everything.entries), everything.total) == (OBJECTS, OBJECTS)
    nothing = await etcd.changes(resource, since=everything.revision)
    assert (nothing.entries, nothing.total) == ((), OBJECTS)
    edited, gone = stage.made[0], stage.made[1]
    await stage.here.client.patch(resource, edited.key.name, {"spec": {"title": "x"}}, edited.key.namespace)
    await stage.here.client.delete(resource, gone.key.name, gone.key.namespace)
    since = await etcd.changes(resource, since=everything.revision)
    assert ([entry.name for entry in since.entries], since.total) == ([edited.key.name], OBJECTS - 1)
    assert sorted(await etcd.keys(resource)) == [
        kube_etcd.key(resource, entry.key.namespace, entry.key.name)
        for entry in sorted(stage.made, key=lambda entry: entry.key)
        if entry is not gone
    ]
    assert (await etcd.version()).startswith("3.")
