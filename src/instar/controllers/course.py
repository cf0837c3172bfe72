"""What one sweep has to do and where it stands: the queue, what was put off, what is counted.

The queue is filled a page at a time and never by the object: waiting for room once per object would wake the feeder
once per object. What others wrote each time is put off to the end, where a burst is over and the object can still be
asked whether it was old; only there is the last way taken, which cannot tell.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Sequence

from instar.controllers import listing, tally
from instar.migration import evidence, revisions
from instar.migration import object as object_dialogue

__all__ = ["Course", "Talk", "Task"]

LOW_WATER = 500
"""So many objects wait when the next page is asked for: about a second's work, longer than a page takes to come."""
POSTPONED = 1000

Talk = Callable[[object_dialogue.Item], object_dialogue.Dialogue]
Waiting = asyncio.Queue[tuple[object_dialogue.Item, Talk]]


class Task:
    """What a sweep does: with which objects (``mark`` and ``known`` leave out what was seen before), and how.

    ``at_last`` is how, at the end, with those that others wrote each time; None takes the first answer as it is.
    """

    def __init__(
        self,
        *,
        talk: Talk,
        at_last: Talk | None = None,
        mark: int = -1,
        known: Container[int] = (),
        traces: bool = False,
        name_moved: bool = True,
        follow: bool = False,
    ) -> None:
        self.talk = talk
        self.at_last = at_last
        self.mark = mark
        self.known = known
        self.traces = traces
        self.name_moved = name_moved
        self.follow = follow

    def wants(self, item: object_dialogue.Item) -> bool:
        """Whether the object is newer than the mark, and not known."""
        if self.mark < 0:
            return True
        revision = revisions.parse(item.resource_version)
        return revision > self.mark and revision not in self.known


class Course:
    """One sweep under way: what waits, what is put off, what is counted."""

    def __init__(self, task: Task, source: listing.Listing, counting: tally.Tally) -> None:
        self.task = task
        self.source = source
        self.counting = counting
        self.waiting: Waiting = asyncio.Queue()
        self._low = asyncio.Event()
        self._postponed: list[object_dialogue.Item] = []

    async def put(self, items: Sequence[object_dialogue.Item]) -> None:
        """Queue those that the task wants; returns when there is room for more."""
        for item in items:
            if self.task.wants(item):
                self.waiting.put_nowait((item, self.task.talk))
        if self.waiting.qsize() > LOW_WATER:
            self._low.clear()
            await self._low.wait()

    def done(self) -> None:
        """One that was taken from the queue is at its end."""
        self.waiting.task_done()
        if self.waiting.qsize() <= LOW_WATER:
            self._low.set()

    def postpone(self, item: object_dialogue.Item, talk: Talk) -> bool:
        """Put an object off to the end, unless it is the end, or too many are put off."""
        if self.task.at_last is None or talk is self.task.at_last:
            return False
        if len(self._postponed) < POSTPONED:
            self._postponed.append(item)
        else:
            self.waiting.put_nowait((item, self.task.at_last))
        return True

    def take_up_postponed(self) -> None:
        """Queue what was put off, for its last dialogue."""
        if self.task.at_last is not None:
            for item in self._postponed:
                self.waiting.put_nowait((item, self.task.at_last))

    def scan(self, seconds: float) -> evidence.Scan:
        """What came of it."""
        counting, source = self.counting, self.source
        source.error = source.error or counting.breaker
        if source.error:
            counting.unknown.append(evidence.Finding(namespace="", name="*", reason="ListFailed", message=source.error))
            counting.counts["unknown"] += 1
        return evidence.Scan(
            mark=source.mark,
            counts=evidence.Counts(**counting.counts),
            moved=tuple(counting.moved),
            contended=tuple(counting.contended),
            quarantined=tuple(counting.quarantined),
            unknown=tuple(counting.unknown),
            known=counting.known,
            complete=not source.error,
            seconds=seconds,
        )
