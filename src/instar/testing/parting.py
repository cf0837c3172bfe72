"""Parts of an object, as server-side apply converts them: some fields, items with their keys, no uid.

Which parts are kept is decided by each path and a salt, so that the part of a smaller object is that object's share of
the same part. A keyless list is one leaf and stays whole. (Measured: metadata with a name, and some fields.)
"""

from __future__ import annotations

import zlib
from typing import Any

from instar.model import gojson
from instar.schema import structural
from instar.testing import making

__all__ = ["part"]


def part(document: dict[str, Any], root: structural.Node, salt: int) -> dict[str, Any]:
    """Part of an object; about half of its leaves."""
    head: dict[str, Any] = {name: document[name] for name in ("apiVersion", "kind") if name in document}
    name = (document.get("metadata") or {}).get("name", "part")
    body = {key: value for key, value in document.items() if key not in structural.META}
    return {**head, "metadata": {"name": name}, **_object(body, root, f"{salt}")}


def _object(value: dict[str, Any], node: structural.Node, where: str) -> dict[str, Any]:
    kept = {}
    for name, item in value.items():
        place = f"{where}/{name}"
        if zlib.crc32(place.encode()) % 3:
            inner = structural.child(node, name)
            kept[name] = _value(item, inner[0] if inner else structural.ANY, place)
    return kept


def _value(value: Any, node: structural.Node, where: str) -> Any:
    if type(value) is dict and not node.atomic:
        return _object(value, node, where)
    if type(value) is list and node.list_type != "atomic" and node.items is not None:
        return [item for item in (_item(item, node, where) for item in value) if item is not None]
    return gojson.copy(value)


def _item(item: Any, node: structural.Node, where: str) -> Any:
    place = f"{where}[{making.identity(node, item)!r}]"
    if not zlib.crc32(place.encode()) % 3:
        return None
    if type(item) is not dict or node.items is None:
        return item
    keys = {key: item[key] for key in node.map_keys if key in item}
    return {**_object(item, node.items, place), **keys}
