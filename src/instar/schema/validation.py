"""Whether one value may stand at one place of a schema: what the API server checks of a value, without CEL.

Used on values that come from outside the object (carried ones): a forged one must not enter where a write through the
API would be refused. Formats are those the API server enforces; a pattern that only Go's RE2 understands is not judged.
Source: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from instar.model import gojson
from instar.schema import formats, structural

__all__ = ["problem"]

Schema = Mapping[str, Any]
_SAYS_NOTHING = frozenset(("type", "description", "title", "default", "example", "nullable"))
_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}


def problem(value: Any, node: structural.Node) -> str | None:
    """The first reason why the value may not stand there, with the place below it; None if it may."""
    if type(value) in _any_of(node):
        return None
    return next(_problems(value, node, ""), None)


@functools.lru_cache(maxsize=4096)
def _any_of(node: structural.Node) -> tuple[type, ...]:
    """The types of which every value may stand there: most leaves say no more than their type."""
    kind = node.raw.get("type") or ""
    if kind in ("object", "array") or not node.raw.keys() <= _SAYS_NOTHING:
        return ()
    return _TYPES.get(kind, ())


def _problems(value: Any, node: structural.Node, where: str) -> Iterator[str]:
    if value is None and node.nullable:
        return
    found = list(_typed(value, node.raw, where)) or list(_checks(value, node.raw, where))
    yield from found
    if type(value) is dict:
        yield from _fields(value, node, where)
    elif type(value) is list:
        yield from _items(value, node, where)


def _typed(value: Any, schema: Schema, where: str) -> Iterator[str]:
    if schema.get("x-kubernetes-int-or-string"):
        if type(value) not in (int, str):
            yield f"{where or 'value'}: must be an integer or a string"
        return
    wanted = schema.get("type")
    if wanted and type(value) not in _TYPES.get(wanted, ()):
        yield f"{where or 'value'}: must be of type {wanted}"


def _fields(value: dict[str, Any], node: structural.Node, where: str) -> Iterator[str]:
    for name, item in value.items():
        if node.embedded and name in structural.META:
            continue
        found = structural.child(node, name)
        if found is None:
            yield f"{where}.{name}: unknown field"
        else:
            yield from _problems(item, found[0], f"{where}.{name}")


def _items(value: list[Any], node: structural.Node, where: str) -> Iterator[str]:
    if node.list_type == "set" and _repeats(value):
        yield f"{where or 'value'}: items of a set must differ"
    if node.list_type == "map" and _repeats([_keys(item, node) for item in value]):
        yield f"{where or 'value'}: two items have the same keys"
    for index, item in enumerate(value):
        yield from _problems(item, node.items or structural.ANY, f"{where}[{index}]")


def _keys(item: Any, node: structural.Node) -> Any:
    return [item.get(key) for key in node.map_keys] if type(item) is dict else item


def _repeats(items: list[Any]) -> bool:
    return len({gojson.encode(item) for item in items}) < len(items)


def _checks(value: Any, schema: Schema, where: str) -> Iterator[str]:
    """Everything but type and children: what may also stand inside allOf, anyOf, oneOf and not."""
    if "enum" in schema and not any(gojson.equal(value, gojson.normal(allowed)) for allowed in schema["enum"]):
        yield f"{where or 'value'}: must be one of {gojson.encode(schema['enum']).decode()[:200]}"
    check = _BY_TYPE.get(type(value))
    if check is not None:
        for text in check(value, schema):
            yield f"{where or 'value'}: {text}"
    yield from _junctors(value, schema, where)


def _string(value: str, schema: Schema) -> Iterator[str]:
    yield from _bounds(len(value), schema, "Length", "characters")
    pattern = schema.get("pattern")
    if pattern and (compiled := _pattern(pattern)) is not None and not compiled.search(value):
        yield f"must match {pattern}"
    name = schema.get("format")
    if name and not formats.valid_string(value, name):
        yield f"must be a {name}"


def _number(value: int | float, schema: Schema) -> Iterator[str]:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and (value < low or (schema.get("exclusiveMinimum") and value == low)):
        yield f"must be at least {low}"
    if high is not None and (value > high or (schema.get("exclusiveMaximum") and value == high)):
        yield f"must be at most {high}"
    step = schema.get("multipleOf")
    if step and not math.isclose(value / step, round(value / step), rel_tol=0, abs_tol=1e-9):
        yield f"must be a multiple of {step}"
    name = schema.get("format")
    if name and not formats.valid_number(value, name):
        yield f"must fit {name}"


def _object(value: dict[str, Any], schema: Schema) -> Iterator[str]:
    yield from _bounds(len(value), schema, "Properties", "fields")
    for name in schema.get("required") or ():
        if name not in value:
            yield f"{name} is required"


def _array(value: list[Any], schema: Schema) -> Iterator[str]:
    yield from _bounds(len(value), schema, "Items", "items")
    if schema.get("uniqueItems") and _repeats(value):
        yield "items must differ"


_BY_TYPE: dict[type, Callable[[Any, Schema], Iterator[str]]] = {
    str: _string,
    int: _number,
    float: _number,
    dict: _object,
    list: _array,
}


def _bounds(size: int, schema: Schema, what: str, unit: str) -> Iterator[str]:
    low, high = schema.get(f"min{what}"), schema.get(f"max{what}")
    if low is not None and size < low:
        yield f"must have at least {low} {unit}"
    if high is not None and size > high:
        yield f"must have at most {high} {unit}"


def _junctors(value: Any, schema: Schema, where: str) -> Iterator[str]:
    for part in schema.get("allOf") or ():
        yield from _nested(value, part, where)
    any_of, one_of, no = schema.get("anyOf"), schema.get("oneOf"), schema.get("not")
    if any_of and not any(_fits(value, part) for part in any_of):
        yield f"{where or 'value'}: fits none of anyOf"
    if one_of and sum(_fits(value, part) for part in one_of) != 1:
        yield f"{where or 'value'}: must fit exactly one of oneOf"
    if no and _fits(value, no):
        yield f"{where or 'value'}: fits what not forbids"


def _fits(value: Any, schema: Schema) -> bool:
    return next(_nested(value, schema, ""), None) is None


def _nested(value: Any, schema: Schema, where: str) -> Iterator[str]:
    """A schema inside a junctor: values only, fields it does not name are of no interest."""
    yield from _typed(value, schema, where)
    yield from _checks(value, schema, where)
    if type(value) is dict:
        for name, inner in (schema.get("properties") or {}).items():
            if name in value:
                yield from _nested(value[name], inner, f"{where}.{name}")
        if isinstance(schema.get("additionalProperties"), Mapping):
            for name, item in value.items():
                yield from _nested(item, schema["additionalProperties"], f"{where}.{name}")
    if type(value) is list and isinstance(schema.get("items"), Mapping):
        for index, item in enumerate(value):
            yield from _nested(item, schema["items"], f"{where}[{index}]")


@functools.lru_cache(maxsize=1024)
def _pattern(text: str) -> re.Pattern[str] | None:
    try:
        return re.compile(text)
    except re.error:
        return None
