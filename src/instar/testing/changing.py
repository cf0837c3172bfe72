"""Changes as people and controllers make them to an object, drawn from one ``random.Random``.

Set, add, remove; items appended, removed, put in another order, taken again under another key; keys of maps added and
renamed; a collection or a whole struct replaced. The caller asks whether the result is valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from instar.model import path
from instar.schema import structural
from instar.testing import cases, making, places

__all__ = ["draw"]

Where = tuple[str | int, ...]
_Spot = tuple[Where, structural.Node, Any, str]


def draw(body: dict[str, Any], root: structural.Node, version: str, maker: making.Maker) -> cases.Change | None:
    """One change of a body at its version; None where its schema leaves nothing to change."""
    spots = list(_spots(body, root, (), ""))
    for _ in range(6 if spots else 0):
        where, node, value, pattern = maker.chance.choice(spots)
        new = _new(maker, node, value, pattern)
        if new is not making.UNMADE:
            return cases.Change(version=version, path=where, value=new)
    return None


def _spots(value: Any, node: structural.Node, where: Where, pattern: str) -> Iterator[_Spot]:
    """Every place that is there, and every field that could be."""
    if where and (where[0] != "metadata" or len(where) > 2):  # of metadata only what rules name
        yield where, node, value, pattern
    if type(value) is dict:
        for name, inner in node.properties.items():
            yield from _spots(value.get(name, cases.GONE), inner, (*where, name), pattern + path.field(name))
        for name, item in value.items():
            if name not in node.properties and node.additional is not None:
                yield from _spots(item, node.additional, (*where, name), pattern + places.ANY_KEY)
    elif type(value) is list and node.items is not None:
        for index, item in enumerate(value):
            yield from _spots(item, node.items, (*where, index), pattern + places.ANY_ITEM)


def _new(maker: making.Maker, node: structural.Node, value: Any, pattern: str) -> Any:
    if value is cases.GONE:
        return maker.value(node, pattern)
    draw = maker.chance.random()
    if type(value) is list and draw < 0.75:
        return _list(maker, node, value, pattern)
    if type(value) is dict and node.additional is not None and draw < 0.75:
        return _map(maker, node, value, pattern)
    return cases.GONE if draw < 0.3 else maker.value(node, pattern)


def _list(maker: making.Maker, node: structural.Node, items: list[Any], pattern: str) -> Any:
    move = maker.chance.choice(("append", "remove", "reorder", "again") if items else ("append",))
    at = maker.chance.randrange(len(items)) if items else 0
    if move == "remove":
        return items[:at] + items[at + 1 :]
    if move == "reorder":
        return maker.chance.sample(items, len(items))
    new = maker.item(node, pattern, items)
    if move == "again" and type(items[at]) is dict and type(new) is dict:
        new = {**items[at], **{key: new[key] for key in node.map_keys if key in new}}
    return making.UNMADE if new is making.UNMADE else [*items, new]


def _map(maker: making.Maker, node: structural.Node, fields: dict[str, Any], pattern: str) -> Any:
    name = maker.key()
    if name in fields:
        return {key: value for key, value in fields.items() if key != name}
    if fields and maker.chance.random() < 0.5:
        old = maker.chance.choice(list(fields))
        return {name if key == old else key: value for key, value in fields.items()}
    assert node.additional is not None
    value = maker.value(node.additional, pattern + places.ANY_KEY)
    return making.UNMADE if value is making.UNMADE else {**fields, name: value}
