"""Whether a value may stand at a place: what the API server would say of it."""

from __future__ import annotations

from typing import Any

import pytest

from instar.model import path
from instar.schema import structural, validation

INTEGER, STRING = {"type": "integer"}, {"type": "string"}
OBJECT = {"type": "object", "properties": {"a": STRING, "b": INTEGER}, "required": ["a"], "maxProperties": 2}
MAP = {"type": "object", "additionalProperties": INTEGER}
SET = {"type": "array", "x-kubernetes-list-type": "set", "items": STRING, "maxItems": 2}
KEYED = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["a"],
    "items": OBJECT,
    "minItems": 1,
}
IOS = {"x-kubernetes-int-or-string": True, "anyOf": [INTEGER, STRING]}


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        (INTEGER, [0, -1, 2**63 - 1], [True, 1.5, "1", None, [], {}]),
        ({"type": "number"}, [0, 1.5], [True, "1", None]),
        (STRING, ["", "x"], [1, None, True]),
        ({"type": "boolean"}, [True], [0, "true", None]),
        ({**STRING, "nullable": True}, [None, "x"], [1]),
        (IOS, [1, "1", ""], [1.5, True, None, {}]),
        ({**STRING, "enum": ["a", "b"]}, ["a"], ["c", "A", ""]),
        ({**INTEGER, "enum": [1]}, [1], [True, 2]),
        ({**STRING, "minLength": 2, "maxLength": 3}, ["ab", "äöü"], ["a", "abcd"]),
        ({**STRING, "pattern": "^[0-9]+m?$"}, ["5m"], ["", "m", "5mm"]),
        ({**STRING, "pattern": "(?<bad"}, ["anything"], [1]),
        ({**INTEGER, "minimum": 1, "maximum": 3}, [1, 3], [0, 4]),
        ({**INTEGER, "minimum": 1, "exclusiveMinimum": True}, [2], [1]),
        ({**INTEGER, "maximum": 3, "exclusiveMaximum": True}, [2], [3]),
        ({**INTEGER, "multipleOf": 3}, [0, 9], [4]),
        ({**INTEGER, "format": "int32"}, [2**31 - 1, -(2**31)], [2**31]),
        ({"type": "number", "format": "float"}, [1.5], [1e39]),
        ({"type": "number", "format": "int64"}, [1], [1e21]),
        (OBJECT, [{"a": "x"}, {"a": "x", "b": 1}], [{}, {"a": 1}, {"a": "x", "c": 1}, {"a": "x", "b": "y"}, []]),
        (MAP, [{}, {"x": 1}], [{"x": "1"}, {"x": None}]),
        ({**MAP, "minProperties": 1}, [{"x": 1}], [{}]),
        (SET, [[], ["a", "b"]], [["a", "a"], ["a", "b", "c"], [1], "a"]),
        (KEYED, [[{"a": "x"}, {"a": "y"}]], [[], [{"a": "x"}, {"a": "x"}], [{}], [1]]),
        ({"type": "array", "uniqueItems": True, "items": INTEGER}, [[1, 2]], [[1, 1]]),
        ({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, [{"x": [None, {"y": 1}]}], [1]),
        (
            {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": STRING}},
            [{"apiVersion": "v1", "kind": "K", "metadata": {}, "spec": "x"}],
            [{"u": 1}],
        ),
        ({**INTEGER, "allOf": [{"minimum": 1}, {"maximum": 3}]}, [2], [0, 4]),
        ({**INTEGER, "anyOf": [{"maximum": 1}, {"minimum": 3}]}, [1, 3], [2]),
        ({**INTEGER, "oneOf": [{"maximum": 3}, {"minimum": 2}]}, [1, 4], [2, 3]),
        ({**INTEGER, "not": {"minimum": 3}}, [2], [3]),
        (
            {**OBJECT, "required": [], "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            [{"a": "x"}, {"b": 1}],
            [{}, {"a": "x", "b": 1}],
        ),
        ({**OBJECT, "anyOf": [{"properties": {"b": {"minimum": 5}}}]}, [{"a": "x", "b": 5}], [{"a": "x", "b": 4}]),
        ({**MAP, "anyOf": [{"additionalProperties": {"minimum": 5}}]}, [{"k": 5}], [{"k": 4}]),
        ({"type": "array", "items": INTEGER, "anyOf": [{"items": {"minimum": 5}}]}, [[5]], [[5, 4]]),
    ],
)
def test_values(schema: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    """Types are strict, bounds are exact, junctors judge values only."""
    node = structural.compile_schema({"type": "object", "properties": {"f": schema}}).properties["f"]
    assert [validation.problem(value, node) for value in good] == [None] * len(good)
    assert [value for value in bad if validation.problem(value, node) is None] == []


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("date", ["2026-01-31"], ["2026-02-30", "20260131", "2026-1-1"]),
        ("date-time", ["2026-01-31T23:59:59Z", "2026-01-31t00:00:00.5+01:00"], ["2026-01-31", "2026-01-31T24:00:00Z"]),
        ("duration", ["90m", "1h30m", "1.5s", "0"], ["", "90", "1d", "m"]),
        ("byte", ["", "aGk="], ["a", "!"]),
        ("ipv4", ["10.0.0.1", "0.0.0.0"], ["10.0.0", "::1"]),
        ("ipv6", ["::1", "::"], ["10.0.0.1", "x"]),
        ("cidr", ["10.0.0.0/8", "::/0", "10.0.0.1/8"], ["10.0.0.1", "10.0.0.0/33"]),
        ("mac", ["00:11:22:33:44:55"], ["00:11"]),
        ("uuid", ["123e4567-e89b-12d3-a456-426614174000"], ["123"]),
        ("uuid4", ["123e4567-e89b-42d3-a456-426614174000"], ["123e4567-e89b-12d3-a456-426614174000"]),
        ("k8s-short-name", ["a-1"], ["A", "a.b", "-a", "a" * 64]),
        ("k8s-long-name", ["a.b-1"], ["A", "a..b", ""]),
        ("anything-else", ["", "x"], []),
    ],
)
def test_formats(name: str, good: list[str], bad: list[str]) -> None:
    """Formats the server enforces are enforced; the others are comments."""
    node = structural.compile_schema({"type": "object", "properties": {"f": {**STRING, "format": name}}}).properties[
        "f"
    ]
    assert [value for value in good if validation.problem(value, node)] == []
    assert [value for value in bad if validation.problem(value, node) is None] == []


def test_the_problem_says_where() -> None:
    """A place below the value, the rule, and what would be right."""
    node = structural.compile_schema({"type": "object", "properties": {"f": KEYED}})
    assert validation.problem({"f": [{"a": "x", "b": "y"}]}, node) == ".f[0].b: must be of type integer"
    assert validation.problem(5, node.properties["f"]) == "value: must be of type array"


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("/f[a=x]/b", "integer"),
        ("/f[a=x]", "object"),
        ("/f", "array"),
        ("/f[b=x]/b", None),
        ("/f[a=x,b=y]", None),
        ("/f[=x]", None),
        ("/f/a", None),
        ("/g", None),
    ],
)
def test_places_of_a_schema(where: str, wanted: str | None) -> None:
    """Paths go where lists have that identity, and nowhere else."""
    root = structural.compile_schema({"type": "object", "properties": {"f": KEYED}})
    node = structural.find(root, path.parse(where))
    assert (node.raw["type"] if node else None) == wanted
