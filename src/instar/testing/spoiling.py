"""Objects that no client could write today, and that are stored all the same or are shown to a converter in passing.

Written before the schema was tightened, left half by server-side apply, or without what everybody thinks is there: no
spec, no metadata, nulls, empty collections, values of another type, unknown fields, items that are no items.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from instar.model import gojson
from instar.schema import structural, validation
from instar.testing import making, places, spanning

__all__ = ["emptied", "outgrown", "spoilt"]

_VALUES: tuple[Any, ...] = (
    None,
    {},
    [],
    "",
    0,
    -1,
    1.5,
    True,
    "x",
    [None],
    [{}],
    [[]],
    {"": None},
    {"x": {"y": [1]}},
    2**63 - 1,
)
_OUTGROWN: Mapping[str, tuple[Any, ...]] = {
    "string": ("no such value", ""),
    "integer": (-1, 2**53),
    "number": (-1, 1e9),
}
Where = tuple[str | int, ...]


def emptied(head: dict[str, Any], root: structural.Node) -> Iterator[dict[str, Any]]:
    """An object of nothing but its head, and what is next to nothing."""
    yield {**head}
    yield {**head, "metadata": {}}
    yield {**head, "metadata": {"name": "x", "labels": None, "annotations": None}}
    yield {**head, "metadata": {"name": "x"}, "unknown": {"a": [1]}}
    values: tuple[Any, ...] = (None, {}, [], "x", {"unknown": {"a": [1]}})
    for name in sorted(root.properties.keys() - structural.META):
        for value in values:
            yield {**head, "metadata": {"name": "x", "uid": "1"}, name: value}


def outgrown(head: dict[str, Any], root: structural.Node) -> Iterator[dict[str, Any]]:
    """For each leaf an object with a value there that has the right type and is not allowed, if its schema forbids any:
    what was stored before an enum lost a value, or a bound was set."""
    maker = making.Maker(chance=random.Random(0), density=0.0)
    for place in places.places(root):
        for value in _OUTGROWN.get(place.node.raw.get("type", ""), ()):
            if validation.problem(value, place.node) and place.steps[0] != "/metadata":
                body = spanning.only(maker, root, place.steps, value)
                yield {**head, "metadata": {"name": "x", "uid": "1"}, **body}


def spoilt(document: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """The object with one or two of its values replaced by something else, or gone."""
    result: dict[str, Any] = gojson.copy(document)
    for _ in range(chance.randint(1, 2)):
        spots = [where for where in _spots(result, ()) if where[0] not in structural.META]
        if spots:
            _spoil(result, chance.choice(spots), chance)
    return result


def _spots(value: Any, where: Where) -> Iterator[Where]:
    inner = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    for step, item in inner:
        yield (*where, step)
        yield from _spots(item, (*where, step))


def _spoil(document: Any, where: Where, chance: random.Random) -> None:
    holder = document
    for step in where[:-1]:
        holder = holder[step]
    draw = chance.random()
    if draw < 0.2:
        del holder[where[-1]]
    elif draw < 0.3 and type(holder[where[-1]]) is list:
        holder[where[-1]] += holder[where[-1]]
    else:
        holder[where[-1]] = gojson.copy(chance.choice(_VALUES))
