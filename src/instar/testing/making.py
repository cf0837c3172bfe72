"""Bodies that a schema allows, drawn from one ``random.Random``: the same ones for the same seed, and fast.

Bounds, enums, patterns, formats, required fields, nullable, keys of lists and free maps are kept; junctors and rules in
CEL are not looked at here: the caller asks ``validation.problem`` and draws again. Values that real objects have at a
place are drawn again at that place. No Hypothesis: a thousand objects are to take a second.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from instar.model import gojson, path
from instar.schema import structural
from instar.testing import oddities, places, texts

__all__ = ["UNMADE", "Maker", "identity", "integers"]

UNMADE: Any = object()
"""No value could be drawn."""
_MOST = 3
_LETTERS = "abcdefxyz0189-_.é "


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Maker:
    """Draws values; ``density`` is how likely a field is there, ``seen`` what real objects have at a place."""

    chance: random.Random
    density: float = 0.7
    seen: Mapping[str, Sequence[Any]] = dataclasses.field(default_factory=dict)

    def value(self, node: structural.Node, where: str) -> Any:
        """Any value that may stand at a place; UNMADE where none was found."""
        raw = node.raw
        if node.nullable and raw and self.chance.random() < 0.1:
            return None
        known = self.seen.get(where)
        if known and self.chance.random() < 0.3:
            return gojson.copy(self.chance.choice(known))
        allowed = [value for value in raw.get("enum") or () if value is not None]
        if allowed:
            return gojson.normal(self.chance.choice(allowed))
        make = _int_or_string if raw.get("x-kubernetes-int-or-string") else _MADE.get(raw.get("type", ""), _anything)
        return make(self, node, where)

    def body(self, root: structural.Node) -> dict[str, Any]:
        """A whole body."""
        return _object(self, root, "")

    def key(self) -> str:
        """A key of a free map."""
        return self.chance.choice(oddities.KEYS)

    def item(self, node: structural.Node, where: str, others: Sequence[Any]) -> Any:
        """An item that a list may have beside the others; UNMADE where none was found."""
        if node.items is None:
            return UNMADE
        taken = {identity(node, other) for other in others} if node.list_type != "atomic" else set()
        for _ in range(6):
            item = self.value(node.items, where + places.ANY_ITEM)
            if item is not UNMADE and (not taken or identity(node, item) not in taken):
                return item
        return UNMADE


def identity(node: structural.Node, item: Any) -> bytes:
    """What tells an item of a keyed list or a set from the others."""
    if node.list_type == "map" and type(item) is dict and node.items is not None:
        defaults = node.items.defaulted
        return gojson.encode([item.get(key, defaults.get(key)) for key in node.map_keys])
    return gojson.encode(item)


def _object(maker: Maker, node: structural.Node, where: str) -> dict[str, Any]:
    raw, made = node.raw, {}
    required = raw.get("required") or ()
    for name, inner in node.properties.items():
        if name in required or maker.chance.random() < maker.density:
            value = maker.value(inner, where + path.field(name))
            if value is not UNMADE:
                made[name] = value
    if node.additional is not None or node.preserve:
        made.update(_free(maker, node, where, len(made)))
    if node.embedded:
        made = {"apiVersion": "v1", "kind": "Embedded", "metadata": {"name": "embedded"}, **made}
    return made


def _free(maker: Maker, node: structural.Node, where: str, size: int) -> dict[str, Any]:
    low, high = node.raw.get("minProperties", 0), node.raw.get("maxProperties", _MOST + size)
    wanted = max(low, min(high, size + maker.chance.randint(0, _MOST))) - size
    made: dict[str, Any] = {}
    for _ in range(4 * max(wanted, 0)):
        name = maker.key()
        value = maker.value(node.additional or structural.ANY, where + places.ANY_KEY)
        if len(made) < wanted and value is not UNMADE and name not in node.properties:
            made[name] = value
    return made


def _array(maker: Maker, node: structural.Node, where: str) -> list[Any]:
    low, high = node.raw.get("minItems", 0), node.raw.get("maxItems", _MOST)
    made: list[Any] = []
    for _ in range(maker.chance.randint(low, max(low, min(high, low + _MOST)))):
        item = maker.item(node, where, made)
        if item is not UNMADE:
            made.append(item)
    return made


def _string(maker: Maker, node: structural.Node, where: str) -> Any:
    raw = node.raw
    low, high = raw.get("minLength", 0), raw.get("maxLength", math.inf)
    for _ in range(6):
        text = _text(maker.chance, raw, low)
        if text is not None and low <= len(text) <= high:
            return text
    return UNMADE


def _text(chance: random.Random, raw: Mapping[str, Any], low: int) -> str | None:
    if raw.get("pattern"):
        return texts.matching(raw["pattern"], chance)
    if raw.get("format") in oddities.FORMATS:
        return chance.choice(oddities.FORMATS[raw["format"]])
    if chance.random() < 0.6:
        return chance.choice(oddities.TEXTS)
    return "".join(chance.choice(_LETTERS) for _ in range(low + chance.randint(0, 8)))


def integers(raw: Mapping[str, Any]) -> tuple[int, int, list[int]]:
    """The bounds of an integer, and the values at which conversions break within them, the plain ones first."""
    low, high = oddities.INT32 if raw.get("format") == "int32" else oddities.INT64
    low, high = max(low, math.ceil(raw.get("minimum", low))), min(high, math.floor(raw.get("maximum", high)))
    low += bool(raw.get("exclusiveMinimum")) and low == raw.get("minimum")
    high -= bool(raw.get("exclusiveMaximum")) and high == raw.get("maximum")
    step = raw.get("multipleOf")
    if step:
        return low, high, [number for count in range(4) if low <= (number := round(count * step)) <= high]
    found = {value for value in (low, high, low + 1, high - 1, *oddities.INTEGERS) if low <= value <= high}
    return low, high, sorted(found, key=lambda value: (abs(value), value))


def _integer(maker: Maker, node: structural.Node, where: str) -> Any:
    low, high, odd = integers(node.raw)
    if low > high or not odd:
        return UNMADE
    near = maker.chance.randint(max(low, -9), min(high, 9)) if low <= 9 and high >= -9 else odd[0]
    return maker.chance.choice((near, maker.chance.choice(odd)))


def _number(maker: Maker, node: structural.Node, where: str) -> Any:
    raw = node.raw
    widest = oddities.FLOAT32_MAX if raw.get("format") == "float" else math.inf
    low, high = raw.get("minimum", -widest), raw.get("maximum", widest)
    if raw.get("multipleOf"):
        drawn: list[Any] = [raw["multipleOf"] * count for count in range(4)]
    else:
        drawn = [*oddities.NUMBERS, low, high]
    fitting = [gojson.normal(value) for value in drawn if math.isfinite(value) and _within(value, low, high, raw)]
    return maker.chance.choice(fitting) if fitting else UNMADE


def _within(value: float, low: float, high: float, raw: Mapping[str, Any]) -> bool:
    above = value > low if raw.get("exclusiveMinimum") else value >= low
    return above and (value < high if raw.get("exclusiveMaximum") else value <= high)


def _anything(maker: Maker, node: structural.Node, where: str, depth: int = 1) -> Any:
    plain = (None, True, False, *oddities.TEXTS[:12], *oddities.NUMBERS)
    draw = maker.chance.random()
    if depth == 0 or draw < 0.5:
        return gojson.normal(maker.chance.choice(plain))
    inner = [_anything(maker, node, where, depth - 1) for _ in range(maker.chance.randint(0, 2))]
    return inner if draw < 0.7 else {maker.key(): value for value in inner}


def _boolean(maker: Maker, node: structural.Node, where: str) -> bool:
    return maker.chance.random() < 0.5


def _int_or_string(maker: Maker, node: structural.Node, where: str) -> Any:
    return (_integer if maker.chance.random() < 0.5 else _string)(maker, node, where)


_MADE: Mapping[str, Callable[[Maker, structural.Node, str], Any]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
}
