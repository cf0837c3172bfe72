"""One way through the objects of a resource with many dialogues at once: rewrite, catch-up, proof, re-check.

::

    listing -> queue -> workers, one dialogue each -> tally
    watch  -----^                        |            (a proof follows what is created or changed while it runs)
                ^---- once more, last ---'            (what others wrote each time: bursts are over by then)

A page is asked for only when the queue is nearly empty, and nothing is kept per object but eight bytes for a revision
that a later look must recognize, so memory is flat however many objects there are.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from instar import errors
from instar.controllers import course as course_module
from instar.controllers import listing, tally, writer
from instar.kube import client as kube_client
from instar.migration import evidence, revisions
from instar.migration import object as object_dialogue
from instar.model import resource as resource_model

__all__ = ["Progress", "Silent", "Sweep"]

FOLLOW_SECONDS = 2.0
"""How long after the last object of the list changes are followed, at most. Nothing rests on it: whatever is newer than
the list and not proved is proved by the re-check. Following only spares that one, on which the trim waits, what changed
while a long proof ran. Without writers the queue is empty at once and no time passes; with writers it is empty within
this time unless they are faster than the proof, and then no time would be enough."""
FOLLOW_EVERY_SECONDS = 0.2
"""Changes are taken up so often, each object once: one that is written all the time must not fill the queue."""
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

    async def run(self, task: course_module.Task) -> evidence.Scan:
        """Once through all objects; raises what concerns all of them (no permission, no connection)."""
        began = time.monotonic()
        source = listing.Listing(self._client, self._resource, traces=task.traces)
        counting = tally.Tally(name_moved=task.name_moved)
        course = course_module.Course(task, source, counting)
        workers = [asyncio.create_task(self._work(course)) for _ in range(self._concurrency)]
        ticker = asyncio.create_task(self._tick(counting, source))
        feeding = asyncio.create_task(self._feed(course))
        try:
            await _first_failure(feeding, workers)
        finally:
            await _end([feeding, ticker, *workers])
        self._on_progress(counting.done, source.total)
        return course.scan(time.monotonic() - began)

    async def _feed(self, course: course_module.Course) -> None:
        following: asyncio.Task[None] | None = None
        try:
            async for batch in course.source.batches():
                course.counting.counts["listed"] += len(batch)
                if course.task.follow and following is None and course.source.mark:
                    following = asyncio.create_task(self._follow(course))
                await course.put(batch)
                if course.counting.breaker:
                    break
            if following is not None:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(course.waiting.join(), FOLLOW_SECONDS)
                await _end([following])
            await course.waiting.join()
            course.take_up_postponed()
            await course.waiting.join()
        finally:
            if following is not None:
                await _end([following])

    async def _follow(self, course: course_module.Course) -> None:
        """Put what is created or changed into the same queue; when the watch ends, the re-check has to find it."""
        changed: dict[tuple[str, str], object_dialogue.Item] = {}
        pouring = asyncio.create_task(_pour(course, changed))
        try:
            with contextlib.suppress(errors.ClusterError):
                events = self._client.watch(
                    self._resource, resource_version=str(course.source.mark), metadata_only=True
                )
                async for event in events:
                    if event.type in ("ADDED", "MODIFIED"):
                        item = _changed(event.object["metadata"])
                        changed[item.namespace, item.name] = item
        finally:
            await _end([pouring])

    async def _work(self, course: course_module.Course) -> None:
        while True:
            item, talk = await course.waiting.get()
            if not course.counting.breaker:
                result = await self._writes.converse(talk(item))
                if not (result.out_of_turns and course.postpone(item, talk)):
                    course.counting.add(result, course.source.mark)
            course.done()

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


async def _pour(course: course_module.Course, changed: dict[tuple[str, str], object_dialogue.Item]) -> None:
    """Now and then put what changed into the queue, but what is known to be current."""
    while True:
        await asyncio.sleep(FOLLOW_EVERY_SECONDS)
        items = [
            item for item in changed.values() if revisions.parse(item.resource_version) not in course.counting.known
        ]
        changed.clear()
        await course.put(items)


def _changed(metadata: dict[str, Any]) -> object_dialogue.Item:
    return object_dialogue.Item(
        namespace=metadata.get("namespace", ""),
        name=metadata["name"],
        uid=metadata["uid"],
        resource_version=metadata["resourceVersion"],
        generation=metadata.get("generation", 0),
    )
