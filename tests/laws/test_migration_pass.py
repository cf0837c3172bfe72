"""The dialogue of a pass against a model of a cluster: whatever happens when, a trim never leaves anything old behind.

The model knows when each API server catches up with the flip, and the requests that were under way: they land at the
old version up to the request timeout after their server caught up, never later. Objects may also be planted at the old
version straight in etcd (and then refuse to be written: ``sticky``), or refuse from the start; the CRD may be flipped
back; the run may be killed.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import hypothesis
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar import migration
from instar.migration import actions, evidence, one_pass, revisions
from instar.model import crd as crd_model

REQUEST_TIMEOUT = 10.0
CHOSEN = migration.Settings(settle_seconds=REQUEST_TIMEOUT, timeout_seconds=30, restarts=3)
UNTOUCHED = [f"t{i}" for i in range(5)]


@dataclasses.dataclass
class World:
    """etcd, the CRD and the API servers; ``late`` are (time, object) writes that will land at the old version."""

    catches_up: list[float]
    late: list[tuple[float, str]]
    plants: dict[int, str]
    refuses: set[str]
    sticky: bool
    flips: frozenset[int]
    cost: float
    now: float = 100.0
    revision: int = 50
    taken: int = 0
    storage: str = "v2"
    generation: int = 2
    stored_versions: tuple[str, ...] = ("v1", "v2")
    objects: dict[str, tuple[str, int]] = dataclasses.field(default_factory=lambda: dict.fromkeys(UNTOUCHED, ("v1", 1)))
    steady: dict[int, float] = dataclasses.field(default_factory=dict)
    trims: list[tuple[set[str], set[str]]] = dataclasses.field(default_factory=list)

    def crd(self) -> crd_model.Crd:
        versions = [{"name": name, "served": True, "storage": name == self.storage} for name in ("v1", "v2")]
        return crd_model.parse(
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": "things.x.io", "uid": "u", "generation": self.generation},
                "spec": {
                    "group": "x.io",
                    "scope": "Namespaced",
                    "names": {"plural": "things", "kind": "Thing"},
                    "versions": versions,
                },
                "status": {
                    "storedVersions": list(self.stored_versions),
                    "conditions": [{"type": "Established", "status": "True"}],
                },
            }
        )

    @property
    def old(self) -> str:
        return "v1" if self.storage == "v2" else "v2"

    def write(self, name: str, version: str) -> None:
        self.revision += 1
        self.objects[name] = (version, self.revision)

    def pass_time(self, seconds: float) -> None:
        """Let time go by; late requests land."""
        self.now += seconds
        for entry in [entry for entry in self.late if entry[0] <= self.now]:
            self.late.remove(entry)
            self.write(entry[1], self.old)

    def act(self, action: actions.Action[Any]) -> Any:
        self.taken += 1
        if self.taken in self.flips:
            self.flip_back()
        if (name := self.plants.get(self.taken)) and not isinstance(action, actions.LockCheck | actions.Trim):
            self.write(name, self.old)
            self.refuses |= {name} if self.sticky else set()
        self.pass_time(self.cost)
        match action:
            case actions.ReadCrd():
                return self.crd()
            case actions.Lock():
                return ""
            case actions.LockCheck():
                return True
            case actions.AskServers(fresh=fresh):
                return self.ask(fresh)
            case actions.Wait(seconds=seconds):
                return self.pass_time(seconds)
            case actions.Trim(patch=patch):
                return self.trim(patch)
            case actions.CatchUp(mark=mark, known=known) | actions.Recheck(mark=mark, known=known):
                return self.scan(mark, known)
        return self.scan(-1, ())

    def flip_back(self) -> None:
        """The other version is the storage version now; whatever was late is a matter of the past."""
        self.storage, self.generation = self.old, self.generation + 1
        if self.storage not in self.stored_versions:
            self.stored_versions = (*self.stored_versions, self.storage)
        self.late.clear()

    def ask(self, fresh: bool) -> evidence.ServersSeen:
        if fresh:
            self.steady.clear()
        seen = []
        for index, time in enumerate(self.catches_up):
            known = time <= self.now
            if known:
                self.steady.setdefault(index, self.now)
            shown = crd_model.storage_version_hash(self.crd()) if known else None
            seen.append(evidence.ServerSeen(url=f"https://{index}", hash=shown, steady_since=self.steady.get(index)))
        return evidence.ServersSeen(servers=tuple(seen), source="named")

    def scan(self, mark: int, known: Any) -> evidence.Scan:
        """Objects one by one, with time between them: late requests land in the middle."""
        began, seen = self.revision, revisions.Revisions()
        moved: list[evidence.Finding] = []
        refused: list[evidence.Finding] = []
        names = [name for name, (_, revision) in self.objects.items() if revision > mark and revision not in known]
        for name in names:
            self.pass_time(self.cost)
            finding = evidence.Finding(namespace="", name=name, reason="r", message="m")
            if name in self.refuses:
                refused.append(finding)
                continue
            if self.objects[name][0] != self.storage:
                self.write(name, self.storage)
                moved.append(finding)
            if self.objects[name][1] > began:
                seen.add(self.objects[name][1])
        counts = evidence.Counts(listed=len(self.objects), moved=len(moved), quarantined=len(refused))
        return evidence.Scan(mark=began, counts=counts, moved=tuple(moved), quarantined=tuple(refused), known=seen)

    def trim(self, patch: Sequence[dict[str, Any]]) -> actions.Trimmed:
        tests = {entry["path"]: entry["value"] for entry in patch if entry["op"] == "test"}
        present = {"/metadata/uid": "u", "/metadata/generation": self.generation}
        if tests != present | {"/status/storedVersions": list(self.stored_versions)}:
            return actions.Trimmed(refused="a test failed")
        self.stored_versions = tuple(patch[-1]["value"])
        held = {version for version, _ in self.objects.values()} | {self.old for _ in self.late}
        self.trims.append((held, set(self.stored_versions)))
        return actions.Trimmed(stored_versions=self.stored_versions)


def run(world: World, gates: Sequence[migration.Gate] = migration.GATES, kill_after: int | None = None) -> Any:
    talk = one_pass.over("things.x.io", CHOSEN, gates)
    try:
        action = next(talk)
        for _ in range(10_000 if kill_after is None else kill_after):
            outcome = world.act(action)
            action = talk.send(actions.Told(value=outcome, now=world.now, at="then"))
    except StopIteration as end:
        return end.value
    assert kill_after is not None, "a pass without an end"
    return None


@st.composite
def worlds(draw: st.DrawFn) -> World:
    catches_up = draw(st.lists(st.floats(100, 125), min_size=1, max_size=3))
    latest = max(catches_up) + REQUEST_TIMEOUT
    late = draw(st.lists(st.tuples(st.floats(100, latest), st.sampled_from([*UNTOUCHED, "new"])), max_size=6))
    return World(
        catches_up=catches_up,
        late=late,
        plants=draw(st.dictionaries(st.integers(1, 60), st.sampled_from(UNTOUCHED), max_size=2)),
        refuses=set(draw(st.sampled_from(["", "", "", "t3"])).split()),
        sticky=draw(st.booleans()),
        flips=draw(st.frozensets(st.integers(1, 40), max_size=1)),
        cost=draw(st.sampled_from([0.0, 0.05, 0.7])),
    )


def harmless(world: World) -> bool:
    """No trim took away what etcd, or a late request, held at that moment."""
    return all(held <= left for held, left in world.trims)


@settings(max_examples=600, deadline=None)
@given(world=worlds())
def test_a_trim_leaves_nothing_old(world: World) -> None:
    """If the pass trims, etcd holds the storage version alone at that moment, and nothing old can land any more."""
    found = run(world)
    assert harmless(world), world.trims
    if found.result is migration.Result.TRIMMED:
        assert world.stored_versions == (world.storage,)
        assert not world.refuses
    else:
        assert "v1" in world.stored_versions


@settings(max_examples=300, deadline=None)
@given(world=worlds(), kills=st.lists(st.integers(1, 30), min_size=1, max_size=4))
def test_killed_anywhere_and_run_again(world: World, kills: list[int]) -> None:
    """However often a run dies at whatever action, no run trims too early, and one that is left alone ends."""
    for kill in kills:
        run(world, kill_after=kill)
    run(world)
    assert harmless(world)


@settings(deadline=None)
@given(world=worlds())
def test_a_quiet_world_is_always_trimmed(world: World) -> None:
    """Late servers and late requests alone never hold a pass for good: it waits for them, and then trims."""
    world.plants, world.refuses, world.flips = {}, set(), frozenset()
    found = run(world)
    assert found.result is migration.Result.TRIMMED, found.summary


@pytest.mark.parametrize("missing", ["servers_caught_up settled", "settled", "proof_complete"])
def test_every_gate_keeps_something_from_happening(missing: str) -> None:
    """Take gates out, and there is a world in which the trim is wrong: the laws above can fail."""
    gates = [gate for gate in migration.GATES if gate.judge.__name__ not in missing.split()]

    def wrong(world: World) -> bool:
        run(world, gates)
        return not harmless(world)

    hypothesis.find(
        worlds(),
        wrong,
        settings=settings(
            max_examples=5000, deadline=None, derandomize=True, database=None, phases=[hypothesis.Phase.generate]
        ),
    )
