"""Which fields two versions of a schema do not have in common: what a write without conversion drops.

With conversion strategy None the API server changes the apiVersion and nothing else; it then prunes what the schema
does not declare. A field that only one of two schemas declares, or that they declare with different types, does not
survive a trip through the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["between"]

Schema = Mapping[str, Any]
NOT_COMPARED = ("apiVersion", "kind", "metadata")


def between(one: Schema, other: Schema) -> tuple[str, ...]:
    """The paths (``spec.quota.cpu``, ``spec.rules[].name``) that differ, parents only, in order."""
    top = [{**schema, "properties": _without_metadata(schema)} for schema in (one, other)]
    return tuple(sorted(_walk(top[0], top[1], "")))


def _without_metadata(schema: Schema) -> dict[str, Schema]:
    return {name: value for name, value in _properties(schema).items() if name not in NOT_COMPARED}


def _properties(schema: Schema) -> Mapping[str, Schema]:
    return schema.get("properties") or {}


def _walk(one: Schema, other: Schema, path: str) -> Iterator[str]:
    if _shape(one) != _shape(other):
        yield path or "the whole object"
        return
    if _keeps_unknown(one) and _keeps_unknown(other):
        return
    mine, theirs = _properties(one), _properties(other)
    for name in mine.keys() | theirs.keys():
        place = f"{path}.{name}" if path else name
        if name in mine and name in theirs:
            yield from _walk(mine[name], theirs[name], place)
        elif not _keeps_unknown(other if name in mine else one):
            yield place
    for keyword, mark in (("items", "[]"), ("additionalProperties", "{}")):
        below = [schema.get(keyword) for schema in (one, other)]
        if isinstance(below[0], Mapping) and isinstance(below[1], Mapping):
            yield from _walk(below[0], below[1], path + mark)


def _shape(schema: Schema) -> tuple[Any, ...]:
    integer_or_string = bool(schema.get("x-kubernetes-int-or-string"))
    return (schema.get("type"), integer_or_string, bool(schema.get("additionalProperties")))


def _keeps_unknown(schema: Schema) -> bool:
    return bool(schema.get("x-kubernetes-preserve-unknown-fields"))
