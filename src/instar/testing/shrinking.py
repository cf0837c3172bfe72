"""The smallest JSON value that still fails: greedy, structural, deterministic.

Whole subtrees go first, the largest before the small, then scalars become plain ones; again until nothing helps or the
budget of questions is spent. It knows no schema: what may not be taken away is the question's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from instar.model import gojson

__all__ = ["smallest"]

Fails = Callable[[Any], bool]
Where = tuple[str | int, ...]


def smallest(value: Any, fails: Fails, *, questions: int = 1500) -> Any:
    """The smallest value found; ``fails(value)`` must hold of the first one."""
    left = [questions]

    def ask(candidate: Any) -> bool:
        left[0] -= 1
        return left[0] >= 0 and fails(candidate)

    while left[0] > 0:
        smaller = _pass(value, ask)
        if smaller is None:
            return value
        value = smaller
    return value


def _pass(value: Any, ask: Fails) -> Any:
    """One round of removals, then of simpler scalars; None if nothing helped."""
    helped = False
    for change in (_removed, _simpler):
        done: set[Where] = set()
        while (found := _first(value, change, ask, done)) is not None:
            value, helped = found, True
    return value if helped else None


def _first(value: Any, change: Callable[[Any], Iterator[Any]], ask: Fails, done: set[Where]) -> Any:
    for where, inner in sorted(_spots(value, ()), key=lambda spot: (len(spot[0]), str(spot[0]))):
        if where in done:
            continue
        for candidate in change(inner):
            changed = _with(value, where, candidate)
            if ask(changed):
                return changed
        done.add(where)
    return None


def _spots(value: Any, where: Where) -> Iterator[tuple[Where, Any]]:
    yield where, value
    inner = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    for step, item in inner:
        yield from _spots(item, (*where, step))


def _with(value: Any, where: Where, new: Any) -> Any:
    result = gojson.copy(value) if where else new
    holder = result
    for step in where[:-1]:
        holder = holder[step]
    if where:
        holder[where[-1]] = new
    return result


def _removed(value: Any) -> Iterator[Any]:
    """The collection with less in it: nothing, half, one less."""
    if type(value) is dict and value:
        yield {}
        for name in sorted(value, key=lambda key: -len(gojson.encode(value[key]))):
            yield {key: item for key, item in value.items() if key != name}
    if type(value) is list and value:
        yield []
        if len(value) > 3:
            yield value[: len(value) // 2]
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]


def _simpler(value: Any) -> Iterator[Any]:
    if type(value) is str and value:
        yield from (text for text in ("", "a", "0", "1") if len(text) < len(value) or text < value)
        for size in (len(value) // 2, len(value) - 1):
            if 0 < size < len(value):
                yield value[:size]
        if len(value) > 1:
            yield from (value[:index] + value[index + 1 :] for index in range(min(len(value), 24)))
    elif type(value) in (int, float):
        yield from (number for number in (0, 1, 2, int(value) // 2) if abs(number) < abs(value))
