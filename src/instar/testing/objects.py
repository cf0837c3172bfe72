"""Objects that a structural schema allows, as Hypothesis strategies.

What is drawn keeps types, bounds, enums, patterns, formats, required fields, nullable, list-type set and map, and
free maps. Fields that may be absent are sometimes absent, and fields with a default too. ``allOf``, ``anyOf``,
``oneOf``, ``not`` and CEL rules are not looked at (but for int-or-string): pass ``valid`` where a schema has them.
Source: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from instar.model import crd as crd_model
from instar.testing import scalars

__all__ = ["custom_resources", "fragments", "identity", "item_key", "values"]

Schema = Mapping[str, Any]
ROOT = ("apiVersion", "kind", "metadata")


def values(schema: Schema, *, nulls: bool = False) -> st.SearchStrategy[Any]:
    """Values of ``schema``; with ``nulls`` also where the schema does not allow null and the API server drops it."""
    return _values(json.dumps(schema, sort_keys=True), nulls)


def custom_resources(
    crd: crd_model.Crd,
    version: str,
    *,
    names: st.SearchStrategy[str] | None = None,
    nulls: bool = False,
    valid: Callable[[dict[str, Any]], bool] | None = None,
) -> st.SearchStrategy[dict[str, Any]]:
    """Whole objects of ``crd`` at ``version`` as a client would send them: no uid, no managedFields, no defaults."""
    resource = crd_model.resource(crd, version)
    schema = crd_model.version(crd, version).schema
    properties = {name: below for name, below in schema.get("properties", {}).items() if name not in ROOT}
    body = _object({**schema, "properties": properties, "required": _required(schema)}, nulls)
    metadata = _metadata(names or st.just("one"))
    head = {"apiVersion": resource.api_version, "kind": crd.kind}
    drawn = _quiet(st.builds(lambda meta, fields: {**head, "metadata": meta, **fields}, metadata, body))
    return drawn.filter(valid) if valid else drawn


def _required(schema: Schema) -> list[str]:
    return [name for name in schema.get("required", ()) if name not in ROOT]


def _metadata(names: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    words = st.dictionaries(
        st.sampled_from(("app", "example.com/team", "a.b-c_d")), st.sampled_from(("", "x", "1", "true")), max_size=2
    )
    notes = st.dictionaries(
        st.sampled_from(("note", "example.com/note", "kubectl.kubernetes.io/last-applied-configuration")),
        scalars.strings({}),
        max_size=2,
    )
    return st.fixed_dictionaries({"name": names}, optional={"labels": words, "annotations": notes})


@functools.cache
def _values(text: str, nulls: bool) -> st.SearchStrategy[Any]:
    schema = json.loads(text)
    drawn = _quiet(_present(schema, nulls)) if schema.get("type") == "object" else _present(schema, nulls)
    if schema.get("nullable") or nulls:
        return st.one_of(drawn, st.none())
    return drawn


def _quiet(drawn: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The same strategy with a short repr: Hypothesis prints what is drawn from, and warns where that is long."""

    @st.composite
    def fields(draw: st.DrawFn) -> Any:
        return draw(drawn)

    return fields()


def _present(schema: Schema, nulls: bool) -> st.SearchStrategy[Any]:
    if schema.get("enum"):
        return st.sampled_from([value for value in schema["enum"] if value is not None])
    if schema.get("x-kubernetes-int-or-string"):
        return st.one_of(scalars.integers(schema), scalars.strings(schema))
    maker = _MAKERS.get(schema.get("type", ""))
    if maker is not None:
        return maker(schema, nulls)
    return scalars.anything().filter(lambda value: value is not None)


def _object(schema: Schema, nulls: bool) -> st.SearchStrategy[dict[str, Any]]:
    properties: Schema = schema.get("properties", {})
    required = set(schema.get("required", ()))
    fields = {name: values(below, nulls=nulls) for name, below in properties.items()}
    always = {name: below for name, below in fields.items() if name in required}
    sparse = st.fixed_dictionaries(always, optional={name: fields[name] for name in fields if name not in required})
    known = st.one_of(sparse, st.fixed_dictionaries(fields))  # alone, the first would seldom draw a full object
    free = _free(schema, nulls)
    drawn = known if free is None else st.builds(lambda extra, fields: {**extra, **fields}, free, known)
    low, high = schema.get("minProperties", 0), schema.get("maxProperties")
    if low == 0 and high is None:
        return drawn
    return drawn.filter(lambda fields: low <= len(fields) and (high is None or len(fields) <= high))


def _free(schema: Schema, nulls: bool) -> st.SearchStrategy[dict[str, Any]] | None:
    below = schema.get("additionalProperties")
    if isinstance(below, Mapping) and below:
        return st.dictionaries(
            scalars.keys(), values(below, nulls=nulls), min_size=min(schema.get("minProperties", 0), 4), max_size=4
        )
    if below is True or isinstance(below, Mapping) or schema.get("x-kubernetes-preserve-unknown-fields"):
        names = scalars.keys().filter(lambda name: name not in schema.get("properties", {}))
        return st.dictionaries(names, scalars.anything(1), max_size=3)
    return None


def _array(schema: Schema, nulls: bool) -> st.SearchStrategy[list[Any]]:
    item = schema.get("items", {})
    low = schema.get("minItems", 0)
    high = min(schema.get("maxItems", low + 4), low + 4)
    unique = item_key(schema)
    below = values(item, nulls=nulls and unique is None)
    return st.lists(below, min_size=low, max_size=high, unique_by=unique)


def identity(value: Any) -> str:
    """One text for each JSON value, so that 1, 1.0, true and "1" differ."""
    return json.dumps(value, sort_keys=True)


def item_key(schema: Schema) -> Callable[[Any], str] | None:
    """What must be unique among the items of a list of ``schema``; None for a plain or atomic list."""
    kind = schema.get("x-kubernetes-list-type")
    if kind == "set":
        return identity
    if kind != "map":
        return None
    names = schema.get("x-kubernetes-list-map-keys", ())
    properties = schema.get("items", {}).get("properties", {})
    return lambda item: identity([item.get(name, properties.get(name, {}).get("default")) for name in names])


_MAKERS: Mapping[str, Callable[[Schema, bool], st.SearchStrategy[Any]]] = {
    "object": _object,
    "array": _array,
    "string": lambda schema, nulls: scalars.strings(schema),
    "integer": lambda schema, nulls: scalars.integers(schema),
    "number": lambda schema, nulls: scalars.numbers(schema),
    "boolean": lambda schema, nulls: st.booleans(),
}


@st.composite
def fragments(draw: st.DrawFn, value: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """Part of an object as server-side apply converts it: some fields, keyed items sometimes with their keys only."""
    kept: dict[str, Any] = {name: value[name] for name in ("apiVersion", "kind") if name in value}
    if "name" in value.get("metadata", {}):
        kept["metadata"] = {"name": value["metadata"]["name"]}
    body = {name: below for name, below in value.items() if name not in ROOT}
    return {**kept, **_part(draw, body, schema)}


def _part(draw: st.DrawFn, value: Any, schema: Schema) -> Any:
    if isinstance(value, dict):
        properties, free = schema.get("properties", {}), schema.get("additionalProperties") or {}
        kept = [name for name in value if draw(st.booleans())]
        free = free if isinstance(free, Mapping) else {}
        return {name: _part(draw, value[name], properties.get(name, free)) for name in kept}
    if isinstance(value, list) and schema.get("x-kubernetes-list-type") == "map":
        names = schema.get("x-kubernetes-list-map-keys", ())
        items = [item for item in value if draw(st.booleans())]
        parts = [(item, _part(draw, item, schema.get("items", {}))) for item in items]
        return [{**{name: item[name] for name in names if name in item}, **part} for item, part in parts]
    return value
