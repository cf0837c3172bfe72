"""Prune, nulls, defaults, numbers: what the API server does to a body, case by case."""

from __future__ import annotations

from typing import Any

import pytest

from instar import errors
from instar.model import gojson
from instar.schema import settling, structural

STRING = {"type": "string"}
PRESERVE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def field(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"f": schema}}


CASES: list[tuple[str, dict[str, Any], Any, Any]] = [
    ("unknown fields go", field(STRING), {"f": "x", "g": 1}, {"f": "x"}),
    ("an object without a schema is emptied", field({"type": "object"}), {"f": {"a": {"b": 1}}}, {"f": {}}),
    ("an object where text is wanted is emptied", field(STRING), {"f": {"a": 1}}, {"f": {}}),
    ("lists without a schema lose the fields below", field(STRING), {"f": [{"a": 1}, 2]}, {"f": [{}, 2]}),
    ("a scalar where an object is wanted stays", field({"type": "object"}), {"f": 5}, {"f": 5}),
    ("preserved fields stay", field(PRESERVE), {"f": {"a": {"b": [None]}}}, {"f": {"a": {"b": [None]}}}),
    (
        "known fields below a preserved node are pruned",
        field({**PRESERVE, "properties": {"k": {"type": "object", "properties": {"a": STRING}}}}),
        {"f": {"k": {"a": "x", "b": 1}, "u": {"b": 1}}},
        {"f": {"k": {"a": "x"}, "u": {"b": 1}}},
    ),
    (
        "items of a preserved list are preserved, their known fields pruned",
        field({"x-kubernetes-preserve-unknown-fields": True, "type": "array", "items": field(field(STRING))}),
        {"f": [{"u": 1, "f": {"f": "x", "u": 1}}]},
        {"f": [{"u": 1, "f": {"f": "x"}}]},
    ),
    (
        "values of a map are pruned",
        field({"type": "object", "additionalProperties": field(STRING)}),
        {"f": {"a": {"f": "x", "g": 1}}},
        {"f": {"a": {"f": "x"}}},
    ),
    (
        "additionalProperties: true is a schema of nothing",
        field({"type": "object", "additionalProperties": True}),
        {"f": {"a": 1, "b": {"c": 1}, "d": None}},
        {"f": {"a": 1, "b": {}, "d": None}},
    ),
    (
        "an embedded resource keeps what every object has",
        field({"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": STRING}}),
        {"f": {"apiVersion": "v1", "kind": "K", "metadata": {"name": "x"}, "spec": "s", "u": 1}},
        {"f": {"apiVersion": "v1", "kind": "K", "metadata": {"name": "x"}, "spec": "s"}},
    ),
    ("a null that may not be goes", field(STRING), {"f": None}, {}),
    ("a nullable null stays", field({**STRING, "nullable": True}), {"f": None}, {"f": None}),
    ("a null takes the default", field({**STRING, "default": "d"}), {"f": None}, {"f": "d"}),
    (
        "a nullable null does not take the default",
        field({**STRING, "default": "d", "nullable": True}),
        {"f": None},
        {"f": None},
    ),
    ("a null in a list stays", field({"type": "array", "items": STRING}), {"f": [None, "x"]}, {"f": [None, "x"]}),
    (
        "or takes its default",
        field({"type": "array", "items": {**STRING, "default": "d"}}),
        {"f": [None, "x"]},
        {"f": ["d", "x"]},
    ),
    (
        "a null in a map goes",
        field({"type": "object", "additionalProperties": STRING}),
        {"f": {"a": None, "b": "x"}},
        {"f": {"b": "x"}},
    ),
    ("a default fills in", field({**STRING, "default": "d"}), {}, {"f": "d"}),
    ("default: null is none", field({**STRING, "default": None, "nullable": True}), {}, {}),
    ("a missing parent is not made", field(field({**STRING, "default": "d"})), {}, {}),
    ("a parent with a default is", field({**field({**STRING, "default": "d"}), "default": {}}), {}, {"f": {"f": "d"}}),
    (
        "defaults in items and map values",
        field({"type": "array", "items": field({"type": "integer", "default": 1})}),
        {"f": [{}, {"f": 2}]},
        {"f": [{"f": 1}, {"f": 2}]},
    ),
    ("numbers settle", field({"type": "number"}), {"f": 1.0}, {"f": 1}),
    ("big ones too", field({"type": "number"}), {"f": 2**63}, {"f": float(2**63)}),
    ("and in preserved places", field(PRESERVE), {"f": {"a": [1e16]}}, {"f": {"a": [10**16]}}),
]


@pytest.mark.parametrize(("schema", "body", "wanted"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_settle(schema: dict[str, Any], body: Any, wanted: Any) -> None:
    """The body after a write at this schema, type-strictly; settling it again changes nothing; the argument stays."""
    before = gojson.encode(body)
    node = structural.compile_schema(schema)
    settled = settling.settle(body, node, defaults=True)
    assert gojson.equal(settled, wanted)
    assert gojson.equal(settling.settle(settled, node, defaults=True), wanted)
    assert gojson.encode(body) == before


def test_without_defaults() -> None:
    """What was read is pruned, and not filled in: an absence in it means something."""
    node = structural.compile_schema(field({**STRING, "default": "d"}))
    assert settling.settle({"g": 1}, node, defaults=False) == {}
    assert settling.settle({"f": None}, node, defaults=False) == {"f": None}


def test_nothing_is_shared() -> None:
    """Neither the body's containers nor the schema's defaults get into the result."""
    schema = {**field(PRESERVE), "properties": {"f": PRESERVE, "d": {**PRESERVE, "default": {"x": [1]}}}}
    node = structural.compile_schema(schema)
    body = {"f": {"a": [1]}}
    settled = settling.settle(body, node, defaults=True)
    settled["f"]["a"].append(2)
    settled["d"]["x"].append(2)
    assert body == {"f": {"a": [1]}}
    assert settling.settle({}, node, defaults=True) == {"d": {"x": [1]}}


@pytest.mark.parametrize("body", [{"f": {1: 2}}, {"f": (1,)}, {"f": float("nan")}, {"f": {"a": object()}}])
def test_what_is_no_json_is_refused(body: Any) -> None:
    """A JsonError, wherever it stands."""
    with pytest.raises(errors.JsonError):
        settling.settle(body, structural.compile_schema(field(PRESERVE)), defaults=True)


def test_apiversion_kind_and_metadata_of_the_root_are_no_fields() -> None:
    """They are not part of a body."""
    schema = {"type": "object", "properties": {"metadata": {"type": "object"}, "kind": STRING, "spec": STRING}}
    assert list(structural.compile_schema(schema).properties) == ["spec"]
