"""Long lives of objects on a real API server, each read after each act compared with the model of tests/model.

Writers of both versions hit the same objects with PUT, merge patch, JSON patch and server-side apply with give-up; some
are created under a mutating webhook that sees them at the other version. Stored at the old version, at the new one, and
flipped midway. ``INSTAR_SEQUENCES`` tells more stories, ``INSTAR_SEED`` others.
"""

from __future__ import annotations

import asyncio
import collections
import os

import pytest
from tests.cluster import admission, sequences
from tests.model import examples, telling

from instar.model import crd as crd_model

pytestmark = pytest.mark.cluster

SEED = os.environ.get("INSTAR_SEED", "1")
COUNT = int(os.environ.get("INSTAR_SEQUENCES", "2000"))
SOAK_COUNT = int(os.environ.get("INSTAR_SEQUENCES", "50000"))
STORAGE = {
    "old": ("v1alpha1", ""),
    "new": ("v1", ""),
    "flipped": ("v1alpha1", "v1"),
    "flipped back": ("v1", "v1alpha1"),
}
BATCH, AT_ONCE, LENGTH = 250, 12, 3
"""Stories for each flip, how many of them are in flight, and their acts after the beginning."""
EACH = pytest.mark.parametrize("name", sorted(examples.ALL))


@pytest.fixture
async def mutator(cluster, name):
    group = examples.ALL[name].crd["spec"]["group"]
    with admission.serve() as server:
        body = server.configuration(group, sequences.VERSIONS)
        await cluster.client.create(admission.CONFIGURATIONS, body)
        yield server
        await cluster.client.delete(admission.CONFIGURATIONS, body["metadata"]["name"])


@EACH
@pytest.mark.parametrize("stored", STORAGE)
async def test_nothing_is_lost_and_no_edit_overwritten(
    cluster, etcd, serve_conversion, mutator, name: str, stored: str
) -> None:
    """Both versions read what the model says after each act of 2,000 stories, and etcd has it at the end."""
    share = COUNT // (len(STORAGE) * len(examples.ALL))
    await told(cluster, etcd, serve_conversion, mutator, name, stored, share)


@pytest.mark.soak
@EACH
@pytest.mark.parametrize("stored", STORAGE)
async def test_nothing_is_lost_in_many_stories(
    cluster, etcd, serve_conversion, mutator, name: str, stored: str
) -> None:
    """The same with 50,000 stories."""
    share = SOAK_COUNT // (len(STORAGE) * len(examples.ALL))
    await told(cluster, etcd, serve_conversion, mutator, name, stored, share)


@pytest.mark.parametrize("storage", ["v1alpha1", "v1"])
async def test_a_saved_manifest_applied_again_wins(cluster, serve_conversion, storage: str) -> None:
    """With its entries, over newer ones: its values are seen at both versions, and it owns them."""
    conversion = await serve_conversion("tenant", storage=storage)
    old, new, where = conversion.at("v1alpha1"), conversion.at("v1"), cluster.namespace
    head = {"apiVersion": old.api_version, "kind": "Tenant", "metadata": {"name": "saved"}}
    await cluster.client.create(old, {**head, "spec": {"quota": "cpu=8", "costCentre": "1"}}, where)
    read = await cluster.client.get(new, "saved", where)
    metadata = {"name": "saved", "annotations": read["metadata"]["annotations"]}
    manifest = {"apiVersion": new.api_version, "kind": "Tenant", "metadata": metadata, "spec": read["spec"]}
    await cluster.client.patch(old, "saved", {"spec": {"quota": "cpu = 9"}}, where)
    for _ in range(2):
        await cluster.client.patch(new, "saved", manifest, where, patch_type="apply", field_manager="git", force=True)
        assert (await cluster.client.get(new, "saved", where))["spec"]["quota"] == {"cpu": "8"}
        assert (await cluster.client.get(old, "saved", where))["spec"]["quota"] == "cpu=8"


async def told(cluster, etcd, serve_conversion, mutator, name: str, stored: str, count: int) -> None:
    tally = Tally(name)
    storage, flip = STORAGE[stored]
    conversion = await serve_conversion(name, storage=storage)
    for first in range(0, count, BATCH):
        numbers = range(first, min(first + BATCH, count))
        seeds = {number: f"{SEED} {name} {stored} {number}" for number in numbers}
        stories = [
            telling.tell(examples.ALL[name], seed, storage=storage, length=LENGTH, flip=flip, applies=True)
            for seed in seeds.values()
        ]
        lives = [
            sequences.Life(cluster, conversion, mutator, story, f"s{number}")
            for number, story in zip(seeds, stories, strict=True)
        ]
        await live(cluster, etcd, conversion, lives, flip, tally)
        if flip:
            storage, flip = flip, storage
    tally.judge(mutator)


async def live(cluster, etcd, conversion, lives, flip: str, tally: Tally) -> None:
    await every(lives, lambda life: begin(life, etcd, tally))
    await every(lives, lambda life: life.until_flip())
    if flip:
        await flip_storage(cluster, etcd, conversion, flip)
        for life in lives:
            life.flipped()
        await every(lives, lambda life: life.until_flip())
    await every(lives, lambda life: life.judge_end(etcd))
    tally.add(lives)


async def begin(life: sequences.Life, etcd, tally: Tally) -> None:
    """The beginning of a story, and what is carried then: on what is read at both versions, and in etcd's bytes."""
    await life.begin()
    if not life.failure:
        tally.carried.append((life.entries(), await life.carried_in(etcd)))


async def every(lives, work) -> None:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(life) -> None:
        async with gate:
            await work(life)

    async with asyncio.TaskGroup() as group:
        for life in lives:
            group.create_task(one(life))


async def flip_storage(cluster, etcd, conversion, version: str) -> None:
    """Another version is stored, and the API server acts on it: a new object lies at that version."""
    document = await cluster.client.get(crd_model.RESOURCE, conversion.crd.name)
    versions = [{**one, "storage": one["name"] == version} for one in document["spec"]["versions"]]
    await cluster.client.patch(crd_model.RESOURCE, conversion.crd.name, {"spec": {"versions": versions}})
    await sequences.stored_at(cluster, etcd, conversion, version)


class Tally:
    """What stories were about, and how they ended."""

    def __init__(self, name: str) -> None:
        self._example = examples.ALL[name]
        self.carried: list[tuple[dict[str, int], int]] = []
        self._hits: collections.Counter[str] = collections.Counter()
        self._acts: collections.Counter[str] = collections.Counter()
        self._failures: list[str] = []
        self._admitted: list[str] = []
        self._told = 0

    def add(self, lives) -> None:
        for life in lives:
            self._told += 1
            self._hits.update(step.hit for step in life.story.steps if step.hit)
            self._acts.update(type(step.act).__name__ for step in life.story.steps)
            if life.failure:
                acts = "\n".join(f"  {step.act}" for step in life.story.steps)
                self._failures.append("\n".join([f"{life.story.seed} ({life.name}):", *life.failure, acts]))

    def judge(self, mutator: admission.Mutator) -> None:
        shown = "\n\n".join(self._failures[:5])
        assert not self._failures, f"{len(self._failures)} of {self._told} stories differ:\n{shown}"
        self.judge_what_was_carried()
        if any(self._example.most_carried.values()):
            shares = {hit: self._hits[hit] / self._hits.total() for hit in telling.HITS}
            assert all(share > 0.1 for share in shares.values()), shares
        assert mutator.changes.keys() == mutator.seen.keys()

    def judge_what_was_carried(self) -> None:
        """At least half of the objects carry so many leaves in each direction, also as etcd has them."""
        wanted = self._example.most_carried
        rich = [all(read[at] >= least for at, least in wanted.items()) for read, _ in self.carried]
        assert sum(rich) >= self._told / 2, f"{sum(rich)} of {self._told}"
        raw = [stored >= min(wanted.values()) for _, stored in self.carried]
        assert sum(raw) >= self._told / 2, f"{sum(raw)} of {self._told}"
