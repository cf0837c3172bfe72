"""Where the choices of an edit come from: Hypothesis, which shrinks them, or a seed, which is a hundred times faster.

One generator serves both: laws draw from Hypothesis, long sequences against a real API server from a seed. Values from
a seed come from pools, a few dozen for each schema, which Hypothesis fills once; so both know the same edge cases.
"""

from __future__ import annotations

import copy
import functools
import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

import hypothesis
from hypothesis import strategies as st

from instar.testing import objects, scalars

__all__ = ["Drawn", "Seeded", "Source"]

POOL_SIZE, BYTES = 48, 4096
T = TypeVar("T")


class Source(Protocol):
    """Chooses among what is possible."""

    def pick(self, choices: Sequence[T]) -> T:
        """One of them; there is at least one."""

    def order(self, items: Sequence[T]) -> list[T]:
        """All of them, in any order."""

    def value(self, schema: Mapping[str, Any]) -> Any:
        """A value that the schema allows."""

    def key(self) -> str:
        """A key of a free map."""


class Drawn:
    """Choices of a Hypothesis test, shrunk by it."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def pick(self, choices: Sequence[T]) -> T:
        return self._draw(st.sampled_from(list(choices)))

    def order(self, items: Sequence[T]) -> list[T]:
        return list(self._draw(st.permutations(list(items))))

    def value(self, schema: Mapping[str, Any]) -> Any:
        return self._draw(objects.values(schema))

    def key(self) -> str:
        return self._draw(scalars.keys())


class Seeded:
    """Choices that follow from a seed: the same ones each time."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def pick(self, choices: Sequence[T]) -> T:
        return self.chance.choice(choices)

    def order(self, items: Sequence[T]) -> list[T]:
        return self.chance.sample(list(items), len(items))

    def value(self, schema: Mapping[str, Any]) -> Any:
        return copy.deepcopy(self.chance.choice(_pool(json.dumps(schema, sort_keys=True))))

    def key(self) -> str:
        return self.chance.choice(_keys())


@functools.cache
def _pool(schema: str) -> tuple[Any, ...]:
    return _filled(objects.values(json.loads(schema)))


@functools.cache
def _keys() -> tuple[str, ...]:
    return _filled(scalars.keys())


def _filled(strategy: st.SearchStrategy[Any]) -> tuple[Any, ...]:
    """Different values of a strategy, the same in every process.

    Made from fixed bytes: left to itself, Hypothesis also tries the constants of whatever modules are loaded.
    """
    found: dict[str, Any] = {}

    @hypothesis.settings(deadline=None, database=None, suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(strategy)
    def fill(value: Any) -> None:
        found.setdefault(objects.identity(value), copy.deepcopy(value))

    make = fill.hypothesis.fuzz_one_input  # type: ignore[attr-defined]
    for number in range(POOL_SIZE * 4):
        if len(found) < POOL_SIZE:
            make(random.Random(number).randbytes(BYTES))
    return tuple(found.values())
