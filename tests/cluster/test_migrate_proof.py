"""The proof is really proof: an old encoding written straight into etcd behind it is found before the trim."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.cluster import converter as converter_module
from tests.cluster import stage as stage_module

from instar import migration
from instar.controllers import migrate
from instar.kube import etcd as kube_etcd

pytestmark = pytest.mark.cluster

QUICK = migration.Settings(settle_seconds=0, lease_seconds=1)
NAMES = [f"t{i:02}" for i in range(40)]


class Plant:
    """Writes an object's old encoding into etcd, once, when an action begins or has ended; remembers every trim."""

    def __init__(self, stage: stage_module.Stage, name: str, *, before: str = "", after: str = "") -> None:
        self._stage, self._name, self._before, self._after = stage, name, before, after
        self.actions: list[str] = []
        self.planted_at = 0

    async def before(self, action: Any) -> None:
        self.actions.append(type(action).__name__)
        if type(action).__name__ == self._before:
            await self._plant()

    async def after(self, action: Any, outcome: Any) -> None:
        if type(action).__name__ == self._after:
            await self._plant()

    async def _plant(self) -> None:
        if not self.planted_at:
            self.planted_at = len(self.actions)
            await self._stage.plant(self._name)
            assert (await self._stage.versions()).get("v1") == 1


@pytest.fixture(params=["None", "Webhook"])
async def stage(
    request: pytest.FixtureRequest, cluster: Any, etcd: kube_etcd.Etcd
) -> AsyncIterator[stage_module.Stage]:
    with converter_module.serve() as converter:
        stanza = converter.stanza() if request.param == "Webhook" else None
        here = stage_module.Stage(client=cluster.client, etcd=etcd, namespace=cluster.namespace, conversion=stanza)
        await here.install()
        await here.create(NAMES)
        await here.change("v2")
        yield here
        await here.remove()


def judge(stage: stage_module.Stage, found: migration.Evidence, plant: Plant, name: str) -> None:
    """Named, not trimmed on that evidence, trimmed after another complete proof."""
    assert found.result is migration.Result.TRIMMED, found.summary
    assert [(finding.namespace, finding.name) for finding in found.findings] == [(stage.namespace, name)]
    assert found.findings[0].reason == "StoredAtOldVersion"
    assert found.proof_rounds >= 2
    since = plant.actions[plant.planted_at :]
    assert since.count("Trim") == 1
    assert "Prove" in since[: since.index("Trim")]
    assert found.proof.counts.unchanged == len(NAMES)
    assert found.proof.counts.moved == 0


@pytest.mark.parametrize("moment", [{"after": "Prove"}, {"before": "Recheck"}], ids=["after-proof", "before-recheck"])
async def test_planted_between_proof_and_trim_with_the_follower_withheld(
    stage: stage_module.Stage, moment: dict[str, str]
) -> None:
    """Nothing follows changes, and still the trim's preconditions find what the proof could not have seen."""
    plant = Plant(stage, "t07", **moment)
    found = await migrate.run(stage.client, stage.name, QUICK, observer=plant, follow=False)
    judge(stage, found, plant, "t07")
    assert await stage.versions() == {"v2": len(NAMES)}
    assert (await stage.crd()).stored_versions == ("v2",)


async def test_planted_before_the_proof_is_found_by_the_fixed_point(stage: stage_module.Stage) -> None:
    """An old encoding that is there when the proof begins moves under the empty patch: a finding, and a new proof."""
    plant = Plant(stage, "t11", before="Prove")
    found = await migrate.run(stage.client, stage.name, QUICK, observer=plant)
    judge(stage, found, plant, "t11")


async def test_planted_each_time_is_never_trimmed(stage: stage_module.Stage) -> None:
    """What comes back before every trim holds it for good: bounded rounds, then the gate, with the name."""

    class Always(Plant):
        async def before(self, action: Any) -> None:
            await super().before(action)
            if type(action).__name__ == "Recheck" and "v1" not in await stage.versions():
                await stage.plant("t03")

    always = Always(stage, "t03", after="Prove")
    found = await migrate.run(stage.client, stage.name, QUICK, observer=always, follow=False)
    assert found.result is migration.Result.HELD
    assert "t03" in found.summary
    assert "Trim" not in always.actions
    assert (await stage.crd()).stored_versions == ("v1", "v2")


async def test_bytes_name_what_they_find(stage: stage_module.Stage, etcd: kube_etcd.Etcd) -> None:
    """With --etcd an object planted after the fixed point is named by what etcd holds, and proved again."""
    plant = Plant(stage, "t05", before="ReadBytes")
    chosen = migration.Settings(settle_seconds=0, lease_seconds=1, etcd=etcd.url)
    found = await migrate.run(stage.client, stage.name, chosen, observer=plant, follow=False)
    assert found.result is migration.Result.TRIMMED
    assert {finding.name for finding in found.findings} == {"t05"}
    assert any(f"{stage.group}/v1" in finding.message for finding in found.findings)
    assert found.stored.by_version == {f"{stage.group}/v2": len(NAMES)}
    assert found.proof_rounds >= 2
