"""At which leaves two objects differ, by hand: one line for each rule of the table in leaves.py."""

from __future__ import annotations

from typing import Any

import pytest

from instar.conversion import leaves
from instar.conversion.leaves import ABSENT
from instar.schema import structural

TEXT = {"type": "string"}
ITEM = {"type": "object", "properties": {"k": TEXT, "p": {"type": "string", "default": "TCP"}, "v": {}, "w": {}}}
KEYED = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": ITEM}
TWO = {**KEYED, "x-kubernetes-list-map-keys": ["p", "k"]}
SET = {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT}
SCHEMA = {
    "type": "object",
    "properties": {
        "s": {},
        "o": {"type": "object", "properties": {"a": {}, "b": {}}},
        "m": {"type": "object", "additionalProperties": {"type": "object", "properties": {"a": {}, "b": {}}}},
        "atomic": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": {}},
        "keyless": {"type": "array", "items": {}},
        "keyed": KEYED,
        "two": TWO,
        "set": SET,
        "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}
ROOT = structural.compile_schema(SCHEMA)
A, B = {"k": "a"}, {"k": "b"}

CASES: list[tuple[dict[str, Any], dict[str, Any], list[tuple[Any, ...]]]] = [
    ({"s": 1}, {"s": 1}, []),
    ({"s": 1}, {"s": True}, [("/s", 1, True, 0)]),
    ({"s": 1}, {"s": 1.0}, [("/s", 1, 1.0, 0)]),
    ({"s": None}, {}, [("/s", None, ABSENT, 0)]),
    ({}, {"s": None}, [("/s", ABSENT, None, 0)]),
    ({"o": {"a": 1, "b": 2}}, {}, [("/o/a", 1, ABSENT, 0), ("/o/b", 2, ABSENT, 0)]),
    ({}, {"o": {"a": 1, "b": 2}}, [("/o", ABSENT, {"a": 1, "b": 2}, 0)]),
    ({"o": {}}, {}, [("/o", {}, ABSENT, 0)]),
    ({}, {"o": {}}, [("/o", ABSENT, {}, 0)]),
    ({"o": {}}, {"o": {"a": 1, "b": 2}}, [("/o/a", ABSENT, 1, 0), ("/o/b", ABSENT, 2, 0)]),
    ({"o": {"a": 1}}, {"o": {}}, [("/o/a", 1, ABSENT, 0)]),
    ({"o": {"a": 1}}, {"o": 5}, [("/o/a", 1, ABSENT, 0)]),
    ({"o": 5}, {"o": {"a": 1}}, [("/o", 5, {"a": 1}, 0)]),
    ({"m": {"x": {"a": 1}}}, {}, [("/m/x/a", 1, ABSENT, 0)]),
    ({"m": {"x": {"a": 1}}}, {"m": {"x": {}}}, [("/m/x/a", 1, ABSENT, 1)]),
    ({"m": {}}, {"m": {"x": {}}}, [("/m/x", ABSENT, {}, 1)]),
    ({"atomic": {"a": 1}}, {"atomic": {"a": 1, "b": 2}}, [("/atomic", {"a": 1}, {"a": 1, "b": 2}, 0)]),
    ({"keyless": [1, 2]}, {"keyless": [2, 1]}, [("/keyless", [1, 2], [2, 1], 0)]),
    ({"keyed": [A]}, {}, [("/keyed[k=a]", A, ABSENT, 0)]),
    ({"keyed": [{**A, "v": 1}]}, {}, [("/keyed[k=a]/v", 1, ABSENT, 0)]),
    ({"keyed": [{**A, "v": 1}]}, {"keyed": [A]}, [("/keyed[k=a]/v", 1, ABSENT, 1)]),
    ({"keyed": [A]}, {"keyed": [{**A, "v": 1}]}, [("/keyed[k=a]/v", ABSENT, 1, 1)]),
    ({"keyed": [A]}, {"keyed": [A, B]}, [("/keyed[k=b]", ABSENT, B, 1)]),
    ({"keyed": []}, {"keyed": [A]}, [("/keyed[k=a]", ABSENT, A, 1)]),
    ({"keyed": []}, {}, [("/keyed", [], ABSENT, 0)]),
    (  # alone, a would come back behind b
        {"keyed": [A, B]},
        {"keyed": [B]},
        [("/keyed[k=a]", A, ABSENT, 0), ("/keyed[]", ["[k=a]", "[k=b]"], [1], 0)],
    ),
    ({"keyed": [B, A]}, {"keyed": [B]}, [("/keyed[k=a]", A, ABSENT, 0)]),
    ({"keyed": [A, B]}, {"keyed": [B, A]}, [("/keyed[]", ["[k=a]", "[k=b]"], [1, 0], 0)]),
    ({"keyed": [A, A]}, {"keyed": [A]}, [("/keyed", [A, A], [A], 0)]),
    ({"keyed": [A]}, {"keyed": [A, A]}, [("/keyed", [A], [A, A], 0)]),
    ({"keyed": [{"v": 1}]}, {"keyed": []}, [("/keyed", [{"v": 1}], [], 0)]),
    ({"two": [{**A, "p": "x"}]}, {}, [("/two[k=a,p=x]", {**A, "p": "x"}, ABSENT, 0)]),
    ({"two": [{**A, "p": "x", "v": 1}]}, {}, [("/two[k=a,p=x]/v", 1, ABSENT, 0)]),
    ({"two": [A]}, {"two": [{**A, "p": "TCP"}]}, [("/two[k=a,p=TCP]/p", ABSENT, "TCP", 1)]),
    ({"two": [{**A, "v": 1}]}, {}, [("/two[k=a,p=TCP]", {**A, "v": 1}, ABSENT, 0)]),
    ({"set": ["a", "b"]}, {"set": ["a"]}, [("/set[=b]", "b", ABSENT, 0)]),
    ({"set": ["a"]}, {"set": ["a", "b"]}, [("/set[=b]", ABSENT, "b", 1)]),
    (
        {"set": ["b", "a"]},
        {"set": ["a"]},
        [("/set[=b]", "b", ABSENT, 0), ("/set[]", ["[=b]", "[=a]"], [1], 0)],
    ),
    ({"set": ["a", "b"]}, {}, [("/set[=a]", "a", ABSENT, 0), ("/set[=b]", "b", ABSENT, 0)]),
    (
        {"set": ["b", "a"]},
        {},
        [("/set[=b]", "b", ABSENT, 0), ("/set[=a]", "a", ABSENT, 0), ("/set[]", ["[=b]", "[=a]"], [], 0)],
    ),
    ({"set": ["a", "a"]}, {"set": ["a"]}, [("/set", ["a", "a"], ["a"], 0)]),
    ({"any": {"x": {"y": [1]}}}, {"any": {"x": {}}}, [("/any/x/y", [1], ABSENT, 1)]),
    ({"any": {"x": {"y": [1]}}}, {"any": {"x": [2]}}, [("/any/x/y", [1], ABSENT, 1)]),
]


@pytest.mark.parametrize(("own", "seen", "wanted"), CASES)
def test_differences(own: dict[str, Any], seen: dict[str, Any], wanted: list[tuple[Any, ...]]) -> None:
    """Path, own value, what is seen, and how many items and map keys on the path are seen."""
    found = leaves.differences(own, seen, ROOT)
    assert [(leaf.path, leaf.value, leaf.seen, leaf.anchors) for leaf in found] == wanted
    assert [type(leaf.value) for leaf in found] == [type(value) for _, value, _, _ in wanted]


def test_judging_sees_order_and_items_apart() -> None:
    """What a client sees of a list: each item, and their order as a place of its own."""
    found = leaves.differences({"keyed": [A, B]}, {"keyed": [B, A, {"k": "c"}]}, ROOT, judging=True)
    assert [leaf.path for leaf in found] == ["/keyed[k=c]", "/keyed[]"]
    found = leaves.differences({"set": ["b", "a"]}, {"set": ["a"]}, ROOT, judging=True)
    assert [leaf.path for leaf in found] == ["/set[=b]"]


def test_unequal_values_may_be_the_same() -> None:
    """A normaliser is asked for values that differ, and only where both are there."""
    same = lambda where, own, seen: where == "/o/a" and own.lower() == seen.lower()  # noqa: E731
    assert leaves.differences({"o": {"a": "X"}}, {"o": {"a": "x"}}, ROOT, same=same) == []
    assert len(leaves.differences({"o": {"b": "X"}}, {"o": {"b": "x"}}, ROOT, same=same)) == 1
    assert len(leaves.differences({"o": {"a": "X"}}, {"o": {}}, ROOT, same=same)) == 1
