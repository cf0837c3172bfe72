"""One object that cannot be converted: named with its reason, all others migrated, nothing trimmed."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.cluster import converter as converter_module
from tests.cluster import stage as stage_module

from instar import errors, migration
from instar.controllers import migrate
from instar.kube import client as kube_client
from instar.kube import etcd as kube_etcd
from instar.kube import kubeconfig

pytestmark = pytest.mark.cluster

QUICK = migration.Settings(settle_seconds=1, lease_seconds=1, timeout_seconds=20)
NAMES = [f"t{i:03}" for i in range(60)]


@pytest.fixture
def converter():
    with converter_module.serve() as serving:
        yield serving


@pytest.fixture
async def stage(cluster, etcd: kube_etcd.Etcd, converter) -> AsyncIterator[stage_module.Stage]:
    here = stage_module.Stage(
        client=cluster.client, etcd=etcd, namespace=cluster.namespace, conversion=converter.stanza()
    )
    await here.install()
    yield here
    converter.refuse.clear()
    converter.down = False
    await here.remove()


async def judge(stage: stage_module.Stage, found: migration.Evidence, bad: set[str]) -> None:
    """Held, the bad ones named with the webhook's words, all others at v2, storedVersions as it was."""
    assert found.result is migration.Result.HELD
    assert migration.exit_code(found) == 1
    assert {finding.name for finding in found.rewrite.quarantined} == bad
    for finding in found.rewrite.quarantined:
        assert finding.namespace == stage.namespace
        assert finding.reason == "ConversionFailed"
        assert "spec.size: cannot be said at" in finding.message
    assert await stage.versions() == {"v1": len(bad), "v2": len(NAMES) - len(bad)}
    assert (await stage.crd()).stored_versions == ("v1", "v2")


async def healed(stage: stage_module.Stage, converter: converter_module.Converter) -> None:
    """With the converter mended, the same command ends the work."""
    converter.refuse.clear()
    found = await migrate.run(stage.client, stage.name, QUICK)
    assert found.result is migration.Result.TRIMMED, found.summary
    assert await stage.versions() == {"v2": len(NAMES)}


async def test_webhook_crd_is_migrated(stage: stage_module.Stage, converter: converter_module.Converter) -> None:
    """Strategy Webhook: every object went through the webhook, and none through it once the bytes are current."""
    await stage.create(NAMES)
    await stage.change("v2")
    found = await migrate.run(stage.client, stage.name, QUICK)
    assert found.result is migration.Result.TRIMMED, found.summary
    assert await stage.versions() == {"v2": len(NAMES)}
    assert {name for name, _ in converter.calls} == set(NAMES)


async def test_warm_cache(stage: stage_module.Stage, converter: converter_module.Converter) -> None:
    """A warm watch cache lists the bad object as if all were well: the write names it."""
    await stage.create(NAMES)
    await stage.change("v2")
    await warm(stage)
    converter.refuse = {"t000", "t017", "t059"}
    await judge(stage, await migrate.run(stage.client, stage.name, QUICK), converter.refuse)
    await healed(stage, converter)


async def test_warm_cache_after_an_event_on_the_bad_object(
    stage: stage_module.Stage, converter: converter_module.Converter
) -> None:
    """After a write of the bad object at the old version every list at the new one fails: found all the same."""
    await stage.create(NAMES)
    await stage.change("v2")
    await warm(stage)
    converter.refuse = {"t017"}
    await stage.plant_touched("t017")
    await asyncio.sleep(0.5)
    await judge(stage, await migrate.run(stage.client, stage.name, QUICK), converter.refuse)
    await healed(stage, converter)


async def warm(stage: stage_module.Stage) -> None:
    """List at both versions until the caches answer."""
    for version in ("v1", "v2"):
        for _ in range(50):
            try:
                await stage.client.list_page(stage.at(version), params={"resourceVersion": "0"})
                break
            except errors.ApiError:
                await asyncio.sleep(0.2)


@pytest.mark.parametrize("bad", [{"t000"}, {"t030", "t031", "t059"}], ids=["first", "three"])
async def test_cold_cache(make_control_plane, converter: converter_module.Converter, bad: set[str]) -> None:
    """An API server that starts with the bad object in etcd never fills its cache: lists answer 429 for ever."""
    plane = make_control_plane()
    config = kubeconfig.load(str(plane.kubeconfig))
    async with kube_client.Client(config) as client, kube_etcd.Etcd(plane.etcd) as etcd:
        stage = stage_module.Stage(client=client, etcd=etcd, namespace="default", conversion=converter.stanza())
        await stage.install()
        await stage.create(NAMES)
        await stage.change("v2")
        converter.refuse = set(bad)
        await asyncio.to_thread(plane.kill_apiserver, 0)
        await asyncio.to_thread(plane.start_apiserver, 0)
        await judge(stage, await migrate.run(client, stage.name, QUICK), bad)
        await healed(stage, converter)


async def test_webhook_down(stage: stage_module.Stage, converter: converter_module.Converter) -> None:
    """Nobody answers for any object: all are named, nothing is written or trimmed, and a later run ends the work."""
    await stage.create(NAMES)
    await stage.change("v2")
    await warm(stage)
    converter.down = True
    found = await migrate.run(stage.client, stage.name, QUICK)
    assert found.result is migration.Result.HELD
    assert await stage.versions() == {"v1": len(NAMES)}
    assert (await stage.crd()).stored_versions == ("v1", "v2")
    converter.down = False
    await healed(stage, converter)


async def test_a_webhook_that_stays_down_ends_the_sweep_early(
    stage: stage_module.Stage, converter: converter_module.Converter
) -> None:
    """Hundreds of objects in a row and no webhook: the run says so, instead of blaming each object in turn."""
    await stage.create(f"t{i:03}" for i in range(400))
    await stage.change("v2")
    await warm(stage)
    converter.down = True
    found = await migrate.run(stage.client, stage.name, QUICK)
    assert found.result is migration.Result.HELD
    assert "the conversion webhook cannot be reached" in found.summary
    assert not found.rewrite.complete
    assert found.rewrite.counts.quarantined < 200
    assert (await stage.crd()).stored_versions == ("v1", "v2")
