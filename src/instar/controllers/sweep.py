"""One way through the objects of a resource with many dialogues at once: rewrite, catch-up, proof, re-check.

::

    listing -> bounded queue -> workers, one dialogue each -> tally
    watch  ---------^           (a proof follows what is created or changed while it runs)

Pages are asked for only as the queue empties, and nothing is kept per object but eight bytes for a revision that a
later look must recognize, so memory is flat however many objects there are.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Container, Sequence
from typing import Protocol

from instar import errors
from instar.controllers import listing, tally, writer
from instar.kube import client as kube_client
from instar.migration import evidence, revisions
from instar.migration import object as object_dialogue
from instar.model import resource as resource_model

__all__ = ["Progress", "Silent", "Sweep", "Task"]

QUEUE = 1000
FOLLOW_SECONDS = 2.0
"""How long after the last object of the list changes are followed: with busy writers there is always one more, and the
re-check that comes after finds them."""
TICK_SECONDS = 0.2


class Progress(Protocol):
    """Who wants to know how far a pass is."""

    def begin(self, crd: str, phase: str, total: int | None) -> None:
        """A phase began; ``total`` objects are expected, None if nobody knows."""

    def advance(self, crd: str, done: int, total: int | None) -> None:
        """So many objects are done in this phase."""

    def note(self, crd: str, text: str) -> None:
        """Something to say on a line of its own."""


class Silent:
    """A progress that nobody looks at."""

    def begin(self, crd: str, phase: str, total: int | None) -> None: ...

    def advance(self, crd: str, done: int, total: int | None) -> None: ...

    def note(self, crd: str, text: str) -> None: ...


Talk = Callable[[object_dialogue.Item], object_dialogue.Dialogue]


class Task:
    """What a sweep does: with which objects (``mark`` and ``known`` leave out what was seen before), and how."""

    def __init__(
        self,
        *,
        talk: Talk,
        mark: int = -1,
        known: Container[int] = (),
        managed_fields: bool = False,
        name_moved: bool = True,
        follow: bool = False,
    ) -> None:
        self.talk = talk
        self.mark = mark
        self.known = known
        self.managed_fields = managed_fields
        self.name_moved = name_moved
        self.follow = follow

    def wants(self, item: object_dialogue.Item) -> bool:
        """Whether the object is newer than the mark, and not known."""
        if self.mark < 0:
            return True
        revision = revisions.parse(item.resource_version)
        return revision > self.mark and revision not in self.known


class Sweep:
    """Runs tasks over one resource."""

    def __init__(
        self,
        client: kube_client.Client,
        resource: resource_model.Resource,
        writes: writer.Writer,
        *,
        concurrency: int,
        on_progress: Callable[[int, int | None], None],
    ) -> None:
        self._client = client
        self._resource = resource
        self._writes = writes
        self._concurrency = concurrency
        self._on_progress = on_progress

    async def run(self, task: Task) -> evidence.Scan:
        """Once through all objects; raises what concerns all of them (no permission, no connection)."""
        began = time.monotonic()
        source = listing.Listing(self._client, self._resource, managed_fields=task.managed_fields)
        counting = tally.Tally(name_moved=task.name_moved)
        queue: asyncio.Queue[object_dialogue.Item] = asyncio.Queue(QUEUE)
        workers = [asyncio.create_task(self._work(task, queue, counting, source)) for _ in range(self._concurrency)]
        ticker = asyncio.create_task(self._tick(counting, source))
        feeding = asyncio.create_task(self._feed(task, source, queue, counting))
        try:
            await _first_failure(feeding, workers)
        finally:
            await _end([feeding, ticker, *workers])
        self._on_progress(counting.done, source.total)
        source.error = source.error or counting.breaker
        if source.error:
            counting.unknown.append(evidence.Finding(namespace="", name="*", reason="ListFailed", message=source.error))
            counting.counts["unknown"] += 1
        return evidence.Scan(
            mark=source.mark,
            counts=evidence.Counts(**counting.counts),
            moved=tuple(counting.moved),
            quarantined=tuple(counting.quarantined),
            unknown=tuple(counting.unknown),
            known=counting.known,
            complete=not source.error,
            seconds=time.monotonic() - began,
        )

    async def _feed(
        self, task: Task, source: listing.Listing, queue: asyncio.Queue[object_dialogue.Item], counting: tally.Tally
    ) -> None:
        following: asyncio.Task[None] | None = None
        try:
            async for batch in source.batches():
                counting.counts["listed"] += len(batch)
                if task.follow and following is None and source.mark:
                    following = asyncio.create_task(self._follow(source.mark, queue, counting))
                for item in batch:
                    if task.wants(item):
                        await queue.put(item)
                if counting.breaker:
                    break
            if following is not None:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(queue.join(), FOLLOW_SECONDS)
                await _end([following])
            await queue.join()
        finally:
            if following is not None:
                await _end([following])

    async def _follow(self, mark: int, queue: asyncio.Queue[object_dialogue.Item], counting: tally.Tally) -> None:
        """Put what is created or changed into the same queue; when the watch ends, the re-check has to find it."""
        with contextlib.suppress(errors.ClusterError):
            async for event in self._client.watch(self._resource, resource_version=str(mark), metadata_only=True):
                if event.type not in ("ADDED", "MODIFIED"):
                    continue
                metadata = event.object["metadata"]
                if revisions.parse(metadata["resourceVersion"]) not in counting.known:
                    await queue.put(
                        object_dialogue.Item(
                            namespace=metadata.get("namespace", ""),
                            name=metadata["name"],
                            uid=metadata["uid"],
                            resource_version=metadata["resourceVersion"],
                            generation=metadata.get("generation", 0),
                        )
                    )

    async def _work(
        self, task: Task, queue: asyncio.Queue[object_dialogue.Item], counting: tally.Tally, source: listing.Listing
    ) -> None:
        while True:
            item = await queue.get()
            if not counting.breaker:
                counting.add(await self._writes.converse(task.talk(item)), source.mark)
            queue.task_done()

    async def _tick(self, counting: tally.Tally, source: listing.Listing) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self._on_progress(counting.done, source.total)


async def _first_failure(feeding: asyncio.Task[None], workers: Sequence[asyncio.Task[None]]) -> None:
    """Until the feed is at its end, or something failed: workers end by failing only."""
    done, _ = await asyncio.wait([feeding, *workers], return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
