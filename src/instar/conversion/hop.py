"""The values of one conversion: two versions, the pair of functions between them, and what came of it."""

from __future__ import annotations

import dataclasses
from typing import Any

from instar.conversion import bare, categories
from instar.schema import structural

__all__ = ["Drop", "Hop", "Outcome", "Side"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One version: its schema and what was declared about its leaves."""

    version: str
    api_version: str
    node: structural.Node
    plan: categories.Plan


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Hop:
    """From a version to another by one pair of functions."""

    kind: str
    prefix: str
    source: Side
    target: Side
    forward: bare.Direction
    reverse: bare.Direction


@dataclasses.dataclass(frozen=True, slots=True)
class Drop:
    """An entry that did not come back: its path, or its key where it has none, and why."""

    path: str
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The converted object, what it carries for the version it came from, and what became of the entries it brought."""

    object: dict[str, Any]
    carried: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    dropped: tuple[Drop, ...] = ()
