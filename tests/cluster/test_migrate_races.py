"""The races around a flip, on two API servers: one sleeps over it, a create is held across it, writers on both.

What a late server or a late request writes is the old version. After the trim no object may be stored at it, whenever
they wake: before the list, during the proof, or after the proof. Without the gates the same run fails each time.
"""

import asyncio
import contextlib
import dataclasses
import itertools
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
from tests.cluster import holder as holder_module
from tests.cluster import stage as stage_module

from instar import errors, migration
from instar.controllers import migrate
from instar.kube import client as kube_client
from instar.kube import etcd as kube_etcd
from instar.kube import kubeconfig

pytestmark = pytest.mark.cluster

POINTS = ("before the list", "during the proof", "after the proof")
ACTION_AT = {"Rewrite": POINTS[0], "Prove": POINTS[1], "Trim": POINTS[2]}
OBJECTS = 80
QUICK = migration.Settings(settle_seconds=11, lease_seconds=2, timeout_seconds=60)
PATIENCE_SECONDS = 4.0


@dataclasses.dataclass(kw_only=True)
class Race:
    """One flip with everything that can be late; ``point`` is where the paused server wakes."""

    stage: stage_module.Stage
    plane: Any
    holder: holder_module.Holder
    point: str
    run: str
    begun: list[str] = dataclasses.field(default_factory=list)
    paused: bool = False
    rewrote_while_paused: bool = False
    late: list[asyncio.Task[None]] = dataclasses.field(default_factory=list)
    writing: list[asyncio.Task[None]] = dataclasses.field(default_factory=list)

    async def before(self, action: Any) -> None:
        """Reaching a point lets go of what waits for it."""
        name = type(action).__name__
        self.begun.append(name)
        if name == "Rewrite":
            self.rewrote_while_paused = self.paused and self.point != POINTS[0]
        if name in ACTION_AT:
            self.holder.release(self.label(ACTION_AT[name]))
            if ACTION_AT[name] == self.point:
                await self.wake()
            await asyncio.sleep(0.5)

    async def after(self, action: Any, outcome: Any) -> None: ...

    def label(self, point: str) -> str:
        return f"{self.run}-{POINTS.index(point)}"

    async def flip(self, storage: str) -> None:
        """Held creates on their way, one server asleep with requests in its queue; then the flip."""
        old = "v1" if storage == "v2" else "v2"
        self.late += [asyncio.create_task(self.held_create(point, old)) for point in POINTS]
        while not {self.label(point) for point in POINTS} <= self.holder.held:
            await asyncio.sleep(0.02)
        self.writing = [asyncio.create_task(self.write(index)) for index in range(4)]
        await asyncio.sleep(0.3)
        self.plane.pause_apiserver(1)
        self.paused = True
        self.late += [asyncio.create_task(self.queued_create(index, old)) for index in range(8)]
        await asyncio.sleep(0.3)
        await self.stage.change(storage, server=self.first)

    async def wake(self) -> None:
        if self.paused:
            self.paused = False
            self.plane.resume_apiserver(1)

    async def wake_later(self) -> None:
        """A gate that holds never reaches the point: wake the server all the same, as time does."""
        await asyncio.sleep(PATIENCE_SECONDS)
        await self.wake()

    @property
    def first(self) -> str:
        return self.plane.apiservers[0]

    @property
    def second(self) -> str:
        return self.plane.apiservers[1]

    async def held_create(self, point: str, version: str) -> None:
        body = self.stage.body(f"held-{self.label(point)}", version)
        body["metadata"]["labels"] = {"hold": self.label(point)}
        with contextlib.suppress(errors.ClusterError):
            await self.stage.client.create(self.stage.at(version), body, "default", server=self.first)

    async def queued_create(self, index: int, version: str) -> None:
        body = self.stage.body(f"queued-{self.run}-{index}", version)
        with contextlib.suppress(errors.ClusterError):
            await self.stage.client.create(self.stage.at(version), body, "default", server=self.second)

    async def write(self, index: int) -> None:
        """Patch objects at both versions through one server, for ever."""
        server = (self.first, self.second)[index % 2]
        for turn in itertools.count():
            version, name = ("v1", "v2")[turn % 2], f"t{(turn * 7 + index) % OBJECTS:03}"
            patch = {"spec": {f"by{index}": f"{self.run}-{turn}"}}
            with contextlib.suppress(errors.ClusterError):
                await self.stage.client.patch(self.stage.at(version), name, patch, "default", server=server)
            await asyncio.sleep(0.02)

    async def finish(self) -> None:
        """Everything awake, every late request at its end."""
        await self.wake()
        for point in POINTS:
            self.holder.release(self.label(point))
        await asyncio.gather(*self.late)
        for task in self.writing:
            task.cancel()
        await asyncio.gather(*self.writing, return_exceptions=True)
        await asyncio.sleep(0.3)


@dataclasses.dataclass(kw_only=True)
class Scene:
    """Two API servers, one CRD whose creates can be held, and objects."""

    plane: Any
    stage: stage_module.Stage
    holder: holder_module.Holder
    storage: str = "v1"
    count: int = 0

    async def race(
        self, point: str, *, chosen: migration.Settings = QUICK, gates: Sequence[migration.Gate] = migration.GATES
    ) -> tuple[Race, migration.Evidence, dict[str, int]]:
        """One flip and one migration; what etcd holds once everything late has ended."""
        self.storage = "v2" if self.storage == "v1" else "v1"
        self.count += 1
        race = Race(stage=self.stage, plane=self.plane, holder=self.holder, point=point, run=f"r{self.count}")
        waking: asyncio.Task[None] | None = None
        try:
            await race.flip(self.storage)
            waking = asyncio.create_task(race.wake_later()) if gates else None
            found = await migrate.run(self.stage.client, self.stage.name, chosen, gates=gates, observer=race)
        finally:
            if waking is not None:
                waking.cancel()
            await race.finish()
        return race, found, await self.stage.versions()

    async def clean(self) -> None:
        """After a run without gates: everything at the storage version, so that the next run begins clean."""
        for name in await self.stage.values():
            await self.stage.client.patch(self.stage.at(self.storage), name, {}, "default")
        patch = [{"op": "replace", "path": "/status/storedVersions", "value": [self.storage]}]
        await self.stage.client.patch(
            migrate.crd_model.RESOURCE, self.stage.name, patch, patch_type="json", subresource="status"
        )


@contextlib.asynccontextmanager
async def scene(plane: Any, chosen: migration.Settings = QUICK) -> AsyncIterator[Scene]:
    config = kubeconfig.load(str(plane.kubeconfig))
    async with kube_client.Client(config, servers=plane.apiservers) as client, kube_etcd.Etcd(plane.etcd) as etcd:
        with holder_module.serve() as holder:
            stage = stage_module.Stage(client=client, etcd=etcd, namespace="default")
            await stage.install()
            await client.create(holder_module.CONFIGURATIONS, holder.configuration(stage.group))
            await stage.create(f"t{index:03}" for index in range(OBJECTS))
            here = Scene(plane=plane, stage=stage, holder=holder)
            await works(here)
            yield here


async def works(here: Scene) -> None:
    """Wait until the holder is asked by the API server: a create with its label is seen there."""
    here.holder.release("probe")
    for turn in itertools.count():
        body = here.stage.body(f"probe-{turn}")
        body["metadata"]["labels"] = {"hold": "probe"}
        await here.stage.client.create(here.stage.at("v1"), body, "default", server=here.plane.apiservers[0])
        await here.stage.client.delete(here.stage.at("v1"), f"probe-{turn}", "default")
        if "probe" in here.holder.held:
            return
        await asyncio.sleep(0.1)


@pytest.fixture
def two_servers(make_control_plane) -> Any:
    return make_control_plane(apiservers=2, apiserver_flags=("--request-timeout=10s",))


async def gated(here: Scene, point: str, chosen: migration.Settings = QUICK) -> None:
    race, found, held = await here.race(point, chosen=chosen)
    assert found.result is migration.Result.TRIMMED, found.summary
    assert list(held) == [here.storage], f"{point}: {held}"
    assert (await here.stage.crd()).stored_versions == (here.storage,)
    assert not race.rewrote_while_paused, "the gate let the rewrite begin while a server slept"


async def test_nothing_old_is_left_after_the_trim(two_servers: Any) -> None:
    """With the gates: whatever wakes late, raw etcd holds no object at the old version once the list is trimmed."""
    async with scene(two_servers) as here:
        for point in POINTS:
            await gated(here, point)


async def test_without_the_gates_each_run_leaves_something_old(make_control_plane: Any) -> None:
    """The same races with no gate in the list: trimmed, and objects stored at the old version, in each run."""
    async with scene(make_control_plane(apiservers=2)) as here:
        for point in POINTS:
            _, found, held = await here.race(point, gates=())
            assert found.result is migration.Result.TRIMMED
            old = "v1" if here.storage == "v2" else "v2"
            assert held.get(old, 0) > 0, f"{point}: {held}"
            await here.clean()


async def test_a_server_that_sleeps_on_holds_the_gate_until_the_timeout(two_servers: Any) -> None:
    """A known API server that does not answer: nothing is rewritten, and the reason names it."""
    async with scene(two_servers) as here:
        two_servers.pause_apiserver(1)
        try:
            await here.stage.change("v2", server=two_servers.apiservers[0])
            chosen = dataclasses.replace(QUICK, timeout_seconds=2)
            found = await migrate.run(here.stage.client, here.stage.name, chosen)
        finally:
            two_servers.resume_apiserver(1)
        assert found.result is migration.Result.HELD
        assert f"{two_servers.apiservers[1]} does not answer" in found.summary
        assert await here.stage.versions() == {"v1": OBJECTS}


@pytest.mark.soak
async def test_twenty_races_of_twenty(two_servers: Any) -> None:
    """Twenty flips in a row, the points in turn: never anything old after the trim."""
    async with scene(two_servers) as here:
        for _, point in zip(range(20), itertools.cycle(POINTS), strict=False):
            await gated(here, point)


@pytest.mark.soak
async def test_a_race_at_the_defaults(make_control_plane: Any) -> None:
    """API servers and migration with their default times: 60 s and 60 s."""
    plane = make_control_plane(apiservers=2)
    async with scene(plane) as here:
        for point in POINTS:
            await gated(here, point, migration.Settings(lease_seconds=2))
