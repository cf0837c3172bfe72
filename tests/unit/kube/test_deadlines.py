"""Deadlines of many requests by one timer."""

import asyncio
import time

import pytest

from instar.kube import deadlines


async def test_what_is_late_ends_and_what_is_not_goes_on() -> None:
    """Of two requests under way only the one past its deadline is ended, by TimeoutError, soon after it."""
    table = deadlines.Deadlines(1.0)
    began = time.monotonic()
    late = asyncio.create_task(table.hold(asyncio.sleep(30), began + 0.2))
    early = asyncio.create_task(table.hold(asyncio.sleep(0.5, "done"), began + 30))
    with pytest.raises(TimeoutError):
        await late
    assert 0.2 <= time.monotonic() - began < 0.5
    assert await early == "done"
    table.close()


async def test_who_cancels_the_task_is_heard_over_the_deadline() -> None:
    """A task that is cancelled at the moment of its deadline is cancelled: Ctrl-C is never taken for a timeout."""
    table = deadlines.Deadlines(1.0)
    held = asyncio.create_task(table.hold(asyncio.sleep(30), time.monotonic() - 1))
    await asyncio.sleep(0)
    table._look()
    held.cancel()
    with pytest.raises(asyncio.CancelledError):
        await held
    table.close()


async def test_a_task_can_go_on_after_a_deadline() -> None:
    """The next request of a task whose last one was late is not ended by that."""
    table = deadlines.Deadlines(1.0)
    with pytest.raises(TimeoutError):
        await table.hold(asyncio.sleep(30), time.monotonic())
    assert await table.hold(asyncio.sleep(0.1, "done"), time.monotonic() + 30) == "done"
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
    table.close()
