"""A migration killed (SIGKILL) anywhere is resumed to its end: nothing lost, storedVersions never short of etcd."""

import asyncio
import random
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.cluster import killed, witness
from tests.cluster import stage as stage_module

from instar import migration
from instar.controllers import migrate
from instar.kube import etcd as kube_etcd

pytestmark = pytest.mark.cluster

DRIVER = Path(killed.__file__)
OBJECTS = 60
RESUMED = migration.Settings(settle_seconds=0, lease_seconds=1)


@pytest.fixture
async def stage(cluster, etcd: kube_etcd.Etcd) -> AsyncIterator[stage_module.Stage]:
    here = stage_module.Stage(client=cluster.client, etcd=etcd, namespace=cluster.namespace)
    await here.install()
    await here.create(f"t{i:03}" for i in range(OBJECTS))
    yield here
    await here.remove()


async def kill(cluster, stage: stage_module.Stage, place: str, number: float) -> tuple[int, list[str]]:
    """Run the program that kills itself: its exit code, and the actions that it began."""
    kubeconfig = str(cluster.control_plane.kubeconfig)
    command = [sys.executable, str(DRIVER), kubeconfig, stage.name, place, str(number)]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    return process.returncode or 0, output.decode().split()


async def flip(stage: stage_module.Stage) -> tuple[str, str]:
    """To the other storage version; the old and the new one."""
    old = "v1" if (await stage.versions()) == {"v1": OBJECTS} else "v2"
    new = "v2" if old == "v1" else "v1"
    await stage.change(new)
    return old, new


async def resume(stage: stage_module.Stage, new: str, before: dict[str, bytes], old: str) -> None:
    """The same migration again, to its end: all objects at the new version, otherwise as they were."""
    found = await migrate.run(stage.client, stage.name, RESUMED)
    assert found.result in (migration.Result.TRIMMED, migration.Result.NOTHING_TO_DO), found.summary
    assert (await stage.crd()).stored_versions == (new,)
    one, other = f'"{stage.group}/{old}","kind"'.encode(), f'"{stage.group}/{new}","kind"'.encode()
    assert await stage.values() == {name: value.replace(one, other) for name, value in before.items()}


async def test_killed_at_every_action_boundary(cluster, stage: stage_module.Stage) -> None:
    """SIGKILL at each boundary of the pass in turn, and each time a second run ends what the first began."""
    async with witness.watch(stage) as watched:
        boundaries, ever = 0, set[str]()
        while True:
            before = await stage.values()
            old, new = await flip(stage)
            code, begun = await kill(cluster, stage, "boundary", boundaries)
            ever |= set(begun)
            await resume(stage, new, before, old)
            if code == 0:
                break
            assert code == -9
            assert len(begun) == boundaries + 1
            boundaries += 1
        # on a busy machine the settle time is over before a wait, so runs differ in length by their waits
        assert {"Lock", "Rewrite", "Wait", "CatchUp", "Prove", "Recheck", "Trim"} <= ever
        assert len(begun) - begun.count("Wait") <= boundaries <= len(begun) + 5
    assert len(watched.seen) >= 2 * boundaries


async def test_killed_at_random_within_rewrite_settle_proof_and_trim(cluster, stage: stage_module.Stage) -> None:
    """Ten kills at random moments inside the long actions, and in the middle of the trim's request."""
    dice = random.Random(20261201)
    places = ["Rewrite", "Wait", "Prove", "Trim", "Rewrite", "Prove", "Wait", "Trim", "Rewrite", "Prove"]
    longest = {"Rewrite": 0.3, "Wait": 0.5, "Prove": 0.3, "Trim": 0.01}
    async with witness.watch(stage):
        for place in places:
            before = await stage.values()
            old, new = await flip(stage)
            code, begun = await kill(cluster, stage, place, dice.uniform(0, longest[place]))
            assert code in (0, -9)
            assert place in begun
            await resume(stage, new, before, old)
