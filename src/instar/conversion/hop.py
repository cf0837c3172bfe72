"""The values of one conversion: two versions, the pair of functions between them, and what came of it."""

from __future__ import annotations

import dataclasses
from typing import Any

from instar.conversion import bare, categories, named
from instar.model import gojson
from instar.schema import settled, structural

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
    """From a version to another by one pair of functions; ``names`` are the labels and annotations that rules name."""

    kind: str
    prefix: str
    source: Side
    target: Side
    forward: bare.Direction
    reverse: bare.Direction
    names: named.Names = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Drop:
    """An entry that did not come back: its path, or its key where it has none, and why."""

    path: str
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The converted object, what it carries for the version it came from, and what became of the entries it brought.

    ``metadata`` is the answer's own; ``body`` is only looked at: ``object`` is a new one each time.
    """

    api_version: str
    kind: str
    metadata: dict[str, Any]
    body: settled.Settled
    carried: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    dropped: tuple[Drop, ...] = ()

    def encoded(self) -> bytes:
        """The body's members as one JSON object."""
        if "metadata" not in self.body.value:
            return self.body.encode()
        return gojson.encode({name: value for name, value in self.body.value.items() if name != "metadata"})

    @property
    def object(self) -> dict[str, Any]:
        """The whole object, which shares nothing with anybody."""
        head = {"apiVersion": self.api_version, "kind": self.kind, "metadata": gojson.copy(self.metadata)}
        return head | {name: value for name, value in self.body.copy().items() if name != "metadata"}
