"""Bodies that span a schema one place at a time, whatever the seed: chance finds combinations, this finds each place.

Nothing; each top-level field empty; everything; for each place a body with nothing but it, once for each of its enum
values or odd values; everything but that place.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from instar.model import gojson, path
from instar.schema import structural
from instar.testing import making, places

__all__ = ["bodies", "only"]

_SEED = 20
_SAMPLES = 3
KEY = "key"


def bodies(root: structural.Node, seen: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """The bodies; not all need be valid where a schema has junctors."""
    chance = random.Random(_SEED)
    yield {}
    for name, inner in root.properties.items():
        if inner.properties or inner.additional is not None:
            yield {name: {}}
    full = making.Maker(chance=chance, density=1.0, seen=seen)
    whole = [full.body(root) for _ in range(_SAMPLES)]
    yield from whole
    least = making.Maker(chance=chance, density=0.0, seen=seen)
    for place in places.places(root):
        for value in _values(least, place, seen.get(place.pattern, ())):
            yield only(least, root, place.steps, value)
    for place in places.places(root):
        yield _without(gojson.copy(whole[0]), place.steps)


def _values(maker: making.Maker, place: places.Place, known: Sequence[Any]) -> Iterator[Any]:
    node, raw = place.node, place.node.raw
    if node.nullable and raw:
        yield None
    yield from known[:_SAMPLES]
    if raw.get("enum"):
        yield from (gojson.normal(value) for value in raw["enum"] if value is not None)
    elif raw.get("type") == "boolean":
        yield from (False, True)
    elif raw.get("type") == "integer":
        yield from making.integers(raw)[2][:8]
    else:
        yield from _drawn(maker, node, place.pattern)


def _drawn(maker: making.Maker, node: structural.Node, where: str) -> Iterator[Any]:
    yield from {"object": ({},), "array": ([],)}.get(node.raw.get("type", ""), ())
    for _ in range(_SAMPLES):
        value = maker.value(node, where)
        if value is not making.UNMADE:
            yield value


def only(maker: making.Maker, node: structural.Node, steps: tuple[str, ...], value: Any, where: str = "") -> Any:
    """A body with this value at a place, and else only what is required."""
    if not steps:
        return gojson.copy(value)
    step, rest = steps[0], steps[1:]
    if step == places.ANY_ITEM and node.items is not None:
        return [only(maker, node.items, rest, value, where + step)]
    inner = node.additional if step == places.ANY_KEY else _child(node, step)
    name = KEY if step == places.ANY_KEY else _name(step)
    made = maker.value(node, where)
    made = made if type(made) is dict else {}
    return {**made, name: only(maker, inner or structural.ANY, rest, value, where + step)}


def _without(value: Any, steps: tuple[str, ...]) -> Any:
    step, rest = steps[0], steps[1:]
    if type(value) is list:
        kept = value if rest else value[1:]
        return [_without(item, rest) for item in kept] if rest else kept
    if type(value) is not dict:
        return value
    names = list(value) if step == places.ANY_KEY else [_name(step)]
    for name in names:
        if name in value and rest:
            value[name] = _without(value[name], rest)
        elif not rest:
            value.pop(name, None)
    return value


def _child(node: structural.Node, step: str) -> structural.Node | None:
    found = structural.child(node, _name(step))
    return found[0] if found else None


def _name(step: str) -> str:
    (parsed,) = path.parse(step)
    assert isinstance(parsed, path.Field)
    return parsed.name
