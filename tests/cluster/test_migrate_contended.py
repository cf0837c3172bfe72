"""One object that clients write in a tight loop, through both versions, all through a migration: it ends well."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator

import pytest
from tests.cluster import stage as stage_module

from instar import errors, migration
from instar.controllers import migrate, writer
from instar.kube import etcd as kube_etcd
from instar.migration import object as object_dialogue

pytestmark = pytest.mark.cluster

OBJECTS = [f"t{i:02}" for i in range(30)]


@pytest.fixture
async def stage(cluster, etcd: kube_etcd.Etcd) -> AsyncIterator[stage_module.Stage]:
    here = stage_module.Stage(client=cluster.client, etcd=etcd, namespace=cluster.namespace)
    await here.install()
    await here.create([*OBJECTS, "hot"])
    yield here
    await here.remove()


@contextlib.asynccontextmanager
async def hammering(stage: stage_module.Stage, writers: int) -> AsyncIterator[dict[str, int]]:
    """Clients that patch `hot` with no rest, some through v1, some through v2; the last acknowledged value of each."""
    acknowledged: dict[str, int] = {}

    async def write(index: int) -> None:
        resource, field = stage.at(("v1", "v2")[index % 2]), f"by{index}"
        for value in itertools.count(1):
            with contextlib.suppress(errors.ApiError):  # while the CRD changes, the server asks to come again
                await stage.client.patch(resource, "hot", {"spec": {field: value}}, stage.namespace)
                acknowledged[field] = value

    tasks = [asyncio.create_task(write(index)) for index in range(writers)]
    try:
        yield acknowledged
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("writers", [1, 6])
async def test_an_object_written_all_the_time_holds_nothing(stage: stage_module.Stage, writers: int) -> None:
    """Trimmed, etcd clean, no write of a client lost: a tight loop of one, and of more than any retry outlasts."""
    async with hammering(stage, writers) as acknowledged:
        await asyncio.sleep(0.3)
        await stage.change("v2")
        found = await migrate.run(stage.client, stage.name, migration.Settings(settle_seconds=1, lease_seconds=1))
        assert found.result is migration.Result.TRIMMED, found.summary
        assert migration.exit_code(found) == 0
        assert await stage.versions() == {"v2": len(OBJECTS) + 1}
    assert (await stage.crd()).stored_versions == ("v2",)
    spec = (await stage.client.get(stage.at("v2"), "hot", stage.namespace))["spec"]
    assert len(acknowledged) == writers
    for field, value in acknowledged.items():
        assert spec[field] in (value, value + 1)  # the one under way when the loop ended may have landed
    counts = found.proof.counts
    assert counts.unknown == counts.moved == 0
    if writers > 1:
        assert found.rewrite.counts.conflicts + counts.conflicts > 0
    assert {finding.name for finding in found.proof.contended} <= {"hot"}


async def test_the_last_way_rewrites_what_is_old(stage: stage_module.Stage) -> None:
    """In conflict each time: the patch without a resourceVersion still compares bytes and rewrites old ones."""
    await stage.change("v2")
    key = kube_etcd.key(stage.at("v1"), stage.namespace, "hot")
    writes = writer.Writer(stage.client, stage.at("v2"), patience_seconds=10)

    async def insist() -> tuple[object_dialogue.Result, kube_etcd.Stored]:
        stale = object_dialogue.Item(namespace=stage.namespace, name="hot", uid="", resource_version="1")
        result = await writes.converse(object_dialogue.touch(stale, attempts=1, insist=True))
        stored = await stage.etcd.get(key)
        assert stored is not None
        return result, stored

    before = await stage.etcd.get(key)
    result, stored = await insist()
    assert before.api_version == f"{stage.group}/v1"
    assert stored.api_version == f"{stage.group}/v2"
    assert (result.kind, result.revision) == (object_dialogue.Kind.CONTENDED, str(stored.mod_revision))
    again, unmoved = await insist()
    assert unmoved.mod_revision == stored.mod_revision
    assert again.revision == result.revision
