"""The places of a schema, and of a body: what coverage counts, and where values come from.

A place is a pattern: ``/spec/containers[]/image``, ``/spec/limits/*``. Inside a keyless list, which is one leaf to
server-side apply, places are told apart all the same: a converter can take a wrong field of its items.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from instar import errors
from instar.model import path
from instar.schema import structural

__all__ = ["ANY_ITEM", "ANY_KEY", "Place", "found", "pattern", "places"]

ANY_ITEM, ANY_KEY = "[]", "/*"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """One place where a schema allows a value that has no places below it."""

    steps: tuple[str, ...]
    node: structural.Node

    @property
    def pattern(self) -> str:
        """Its text."""
        return "".join(self.steps)


def places(root: structural.Node) -> tuple[Place, ...]:
    """Every place of a schema, in its own order."""
    return tuple(_places(root, ()))


def _places(node: structural.Node, steps: tuple[str, ...]) -> Iterator[Place]:
    below = [(path.field(name), inner) for name, inner in node.properties.items()]
    if node.items is not None:
        below.append((ANY_ITEM, node.items))
    if node.additional is not None:
        below.append((ANY_KEY, node.additional))
    for step, inner in below:
        yield from _places(inner, (*steps, step))
    if not below and steps:
        yield Place(steps=steps, node=node)


def found(body: dict[str, Any], root: structural.Node) -> Iterator[tuple[str, Any]]:
    """The pattern and value of everything in a body that has nothing below it (an empty collection too)."""
    yield from _found(body, root, "")


def _found(value: Any, node: structural.Node, where: str) -> Iterator[tuple[str, Any]]:
    if type(value) is dict and value and (node.properties or node.additional is not None):
        for name, inner in value.items():
            below, is_key = structural.child(node, name) or (structural.ANY, True)
            yield from _found(inner, below, where + (ANY_KEY if is_key else path.field(name)))
    elif type(value) is list and value and node.items is not None:
        for item in value:
            yield from _found(item, node.items, where + ANY_ITEM)
    elif where:
        yield where, value


def pattern(where: str, root: structural.Node) -> str:
    """The pattern of the path of a leaf; the path itself where the schema has no such place."""
    try:
        steps = path.parse(where)
    except errors.UsageError:
        return where
    node: structural.Node | None = root
    parts = []
    for step in steps:
        if isinstance(step, path.Field):
            below = structural.child(node, step.name) if node is not None else None
            parts.append(ANY_KEY if below is not None and below[1] else step.text)
            node = below[0] if below is not None else None
        else:
            parts.append(ANY_ITEM)
            node = node.items if node is not None else None
    return "".join(parts)
