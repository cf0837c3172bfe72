"""One timer for the deadlines of all requests under way.

A timer per request, set and taken away again, costs a tenth of what a request costs altogether, and almost none of them
ever fires. So the requests stand in one table, and whatever is past its deadline is ended when the table is looked
through: up to a fiftieth of the time late, which nobody who waits for a minute can tell.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import TypeVar

__all__ = ["Deadlines"]

LOOKS = 50
LONGEST_SECONDS = 1.0

T = TypeVar("T")


class Deadlines:
    """``seconds`` is the longest that a deadline will be away; it says how often the table is looked through."""

    def __init__(self, seconds: float) -> None:
        self._every_seconds = min(seconds / LOOKS, LONGEST_SECONDS)
        self._under_way: dict[asyncio.Task[object], float] = {}
        self._ended: set[asyncio.Task[object]] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def hold(self, work: Awaitable[T], deadline: float) -> T:
        """What the work gives; TimeoutError once ``deadline`` (of time.monotonic) is past. One a task at a time."""
        task = asyncio.current_task()
        assert task is not None
        cancelling = task.cancelling()
        self._under_way[task] = deadline
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._every_seconds, self._look)
        try:
            return await work
        except asyncio.CancelledError:
            # as in asyncio.timeout: somebody else may have cancelled the task too, and that goes first
            if task in self._ended and task.uncancel() <= cancelling:
                raise TimeoutError from None
            raise
        finally:
            del self._under_way[task]
            self._ended.discard(task)

    def close(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        now = time.monotonic()
        for task, deadline in self._under_way.items():
            if deadline <= now and task not in self._ended:
                self._ended.add(task)
                task.cancel()
        self._timer = None
        if self._under_way:
            self._timer = asyncio.get_running_loop().call_later(self._every_seconds, self._look)
