"""Lists with identity, as server-side apply sees them: keyed lists (by their keys) and sets (by value).

A list is *regular* when every item can be told from the others; a list with a duplicate, or with an item that lacks a
key which has no default, is not, and is one leaf. Indexed once: the step of each item, in the order of the list.
"""

from __future__ import annotations

from typing import Any

from instar.model import path
from instar.schema import structural

__all__ = ["Index", "index", "keyed"]

Index = dict[str, Any]
"""From the step of an item to the item, in list order."""


def keyed(node: structural.Node) -> bool:
    """Whether items of lists at this node have an identity."""
    return node.items is not None and node.list_type != "atomic"


def index(items: list[Any], node: structural.Node) -> Index | None:
    """The items by their step; None where the list is not regular."""
    result: Index = {}
    if len(node.map_keys) == 1 and node.list_type == "map":
        return _index_by_name(items, node, node.map_keys[0])
    for item in items:
        step = _step(item, node)
        if step is None or step in result:
            return None
        result[step] = item
    return result


def _index_by_name(items: list[Any], node: structural.Node, key: str) -> Index | None:
    """The same, faster, for the lists that most are: one key, and its values are texts."""
    result: Index = {}
    for item in items:
        name = item.get(key) if type(item) is dict else None
        step = path.item_named(key, name) if type(name) is str else _step(item, node)
        if step is None:
            return None
        result[step] = item
    return result if len(result) == len(items) else None


def _step(item: Any, node: structural.Node) -> str | None:
    if node.list_type == "set":
        return path.element(item)
    if type(item) is not dict or node.items is None:
        return None
    keys = {}
    for key in node.map_keys:
        value = item.get(key, node.items.defaulted.get(key, structural.MISSING))
        if value is structural.MISSING or type(value) in (dict, list):
            return None
        keys[key] = value
    return path.item(keys)
