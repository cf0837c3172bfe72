"""What an API server makes of an object, and when two objects are the same: small, slow, written from the facts alone.

This judges the framework, so it shares nothing with it. Objects are plain JSON values.
"""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

ROOT = {"apiVersion", "kind", "metadata"}
BOUNDS = {"int32": 2**31, "int64": 2**63}


def text(value: Any) -> str:
    """One text for each value that Go's JSON tells apart: 1, 1.5, true, "1", null and absence all differ."""
    return json.dumps(value, sort_keys=True, allow_nan=False)


def same(one: Any, other: Any) -> bool:
    return text(one) == text(other)


def wire(value: Any) -> Any:
    """The value after one trip through Go's JSON: keys sorted, 1.0 read back as 1, what exceeds int64 as float."""
    if isinstance(value, dict):
        return {name: wire(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [wire(item) for item in value]
    if isinstance(value, float) and value.is_integer() and -(2.0**63) <= value < 2.0**63:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        return float(value)
    return copy.deepcopy(value)


def settle(schema: Mapping[str, Any], document: Mapping[str, Any], *, defaults: bool = True) -> dict[str, Any]:
    """A whole object as the API server has it after decoding at this version: pruned, defaulted, nulls dropped."""
    settled = wire(document)
    kept = {name: settled[name] for name in sorted(ROOT) if name in settled}
    if isinstance(kept.get("metadata"), dict):
        kept["metadata"] = {k: v for k, v in kept["metadata"].items() if v or k not in _WORDS}
    body = {name: below for name, below in settled.items() if name not in ROOT}
    inner = {**schema, "properties": {k: v for k, v in schema.get("properties", {}).items() if k not in ROOT}}
    _prune(inner, body)
    if defaults:
        _default(inner, body)
    _drop_nulls(inner, body)
    return wire({**body, **kept})


def pruned(schema: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """A whole object as the API server serves it after a conversion: pruned, nulls dropped, no defaults."""
    return settle(schema, document, defaults=False)


def _prune(schema: Mapping[str, Any], value: Any) -> None:
    if isinstance(value, list):
        for item in value:
            _prune(schema.get("items", {}), item)
    if not isinstance(value, dict):
        return
    properties, free = schema.get("properties", {}), schema.get("additionalProperties")
    for name in list(value):
        if name in properties:
            _prune(properties[name], value[name])
        elif isinstance(free, Mapping):
            _prune(free, value[name])
        elif not free and not schema.get("x-kubernetes-preserve-unknown-fields"):
            del value[name]


def _refuses_null(schema: Mapping[str, Any], value: Any) -> bool:
    return value is None and not schema.get("nullable")


def _default(schema: Mapping[str, Any], value: Any) -> None:
    if isinstance(value, list):
        item_schema = schema.get("items", {})
        for index, item in enumerate(value):
            if _refuses_null(item_schema, item) and item_schema.get("default") is not None:
                value[index] = copy.deepcopy(item_schema["default"])
            _default(item_schema, value[index])
    if not isinstance(value, dict):
        return
    properties, free = schema.get("properties", {}), schema.get("additionalProperties")
    for name, below in properties.items():
        if below.get("default") is not None and (name not in value or _refuses_null(below, value[name])):
            value[name] = copy.deepcopy(below["default"])
        if name in value:
            _default(below, value[name])
    for name in value:
        if name not in properties and isinstance(free, Mapping):
            _default(free, value[name])


def _drop_nulls(schema: Mapping[str, Any], value: Any) -> None:
    if isinstance(value, list):
        for item in value:
            _drop_nulls(schema.get("items", {}), item)
    if not isinstance(value, dict):
        return
    properties, free = schema.get("properties", {}), schema.get("additionalProperties")
    for name in list(value):
        below = properties.get(name, free)
        if not isinstance(below, Mapping):
            continue
        if _refuses_null(below, value[name]):
            del value[name]
        else:
            _drop_nulls(below, value[name])


def problems(schema: Mapping[str, Any], value: Any, path: str = "") -> Iterator[str]:
    """Where a value breaks its schema: types, enums, bounds, lengths, patterns, required fields, unique items."""
    if value is None:
        if not schema.get("nullable") and schema.get("type"):
            yield f"{path}: null"
        return
    if schema.get("enum") and text(value) not in {text(choice) for choice in schema["enum"]}:
        yield f"{path}: {value!r} is not one of {schema['enum']}"
    if schema.get("x-kubernetes-int-or-string"):
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            yield f"{path}: {value!r} is neither integer nor string"
    elif schema.get("type") and not _is(schema["type"], value):
        yield f"{path}: {value!r} is no {schema['type']}"
        return
    yield from _scalar_problems(schema, value, path)
    if isinstance(value, list):
        yield from _list_problems(schema, value, path)
    if isinstance(value, dict):
        yield from _map_problems(schema, value, path)


def _is(kind: str, value: Any) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}
    return isinstance(value, kinds[kind])


def _scalar_problems(schema: Mapping[str, Any], value: Any, path: str) -> Iterator[str]:
    if isinstance(value, str):
        if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", math.inf):
            yield f"{path}: {value!r} has the wrong length"
        if "pattern" in schema and not re.search(re.sub(r"(?<!\\)\$$", r"\\Z", schema["pattern"]), value, re.ASCII):
            yield f"{path}: {value!r} does not match {schema['pattern']}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
        outside = value < low or value > high
        on_open_edge = (schema.get("exclusiveMinimum") and value == low) or (
            schema.get("exclusiveMaximum") and value == high
        )
        limit = BOUNDS.get(schema.get("format", ""))
        if outside or on_open_edge or (limit and not -limit <= value < limit):
            yield f"{path}: {value!r} is out of bounds"


def _list_problems(schema: Mapping[str, Any], value: list[Any], path: str) -> Iterator[str]:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf):
        yield f"{path}: {len(value)} items"
    if schema.get("x-kubernetes-list-type") in ("set", "map"):
        names = [text(identity(schema, item)) for item in value]
        if len(set(names)) != len(names):
            yield f"{path}: items are not unique"
    for index, item in enumerate(value):
        yield from problems(schema.get("items", {}), item, f"{path}[{index}]")


def _map_problems(schema: Mapping[str, Any], value: dict[str, Any], path: str) -> Iterator[str]:
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", math.inf):
        yield f"{path}: {len(value)} fields"
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{path}/{name}: required"
    for name, below in value.items():
        inner = schema.get("properties", {}).get(name, schema.get("additionalProperties"))
        if isinstance(inner, Mapping):
            yield from problems(inner, below, f"{path}/{name}")


def identity(schema: Mapping[str, Any], item: Any) -> Any:
    """What tells an item of a set or a keyed list from the others."""
    if schema.get("x-kubernetes-list-type") == "map" and isinstance(item, dict):
        properties = schema.get("items", {}).get("properties", {})
        names = schema.get("x-kubernetes-list-map-keys", ())
        return {name: item.get(name, properties.get(name, {}).get("default")) for name in names}
    return item


def carried(document: Mapping[str, Any], domain: str) -> dict[str, str]:
    """The annotations of the framework: its own keys begin with ``carried.`` and the operator's domain."""
    notes = (document.get("metadata") or {}).get("annotations") or {}
    return {name: value for name, value in notes.items() if name.startswith(f"carried.{domain}/")}


def entries(document: Mapping[str, Any], domain: str) -> dict[str, str]:
    """The carried annotations but for the view digests."""
    return {name: value for name, value in carried(document, domain).items() if not name.endswith(".view")}


def stripped(document: Mapping[str, Any], domain: str) -> dict[str, Any]:
    """The object without the framework's own keys, and without an empty map of annotations or labels."""
    bare = copy.deepcopy(dict(document))
    metadata = bare.get("metadata")
    if not isinstance(metadata, dict):
        return bare
    notes = {k: v for k, v in (metadata.get("annotations") or {}).items() if not k.startswith(f"carried.{domain}/")}
    bare["metadata"] = {k: v for k, v in {**metadata, "annotations": notes}.items() if v or k not in _WORDS}
    return bare


_WORDS = ("annotations", "labels")


def differences(one: Any, other: Any, path: str = "") -> list[str]:
    """Readable lines: where two values differ, for the message of a failed law."""
    if isinstance(one, dict) and isinstance(other, dict):
        lines = []
        for name in sorted({*one, *other}):
            if name not in one or name not in other:
                side = f"only right: {other[name]!r}" if name not in one else f"only left: {one[name]!r}"
                lines.append(f"{path}/{name} {side}")
            else:
                lines += differences(one[name], other[name], f"{path}/{name}")
        return lines
    return [] if same(one, other) else [f"{path}: {one!r} | {other!r}"]
