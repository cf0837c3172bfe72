"""Does one thing for each of many, several at a time, and says how far it is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

__all__ = ["each"]

Item = TypeVar("Item")
Result = TypeVar("Result")
IN_FLIGHT = 32


async def each(
    items: Sequence[Item],
    work: Callable[[Item], Awaitable[Result]],
    progress: Callable[[int], None] = lambda done: None,
    *,
    in_flight: int = IN_FLIGHT,
) -> list[Result]:
    """The results in the order of the items; the first failure ends the others and is raised."""
    results: dict[int, Result] = {}
    queue = iter(enumerate(items))

    async def worker() -> None:
        for index, item in queue:
            results[index] = await work(item)
            progress(len(results))

    tasks = [asyncio.create_task(worker()) for _ in range(min(in_flight, len(items)))]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return [results[index] for index in range(len(items))]
