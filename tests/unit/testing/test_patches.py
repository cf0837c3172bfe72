"""Patches between two documents: what they say, and that they lead where they should."""

from __future__ import annotations

from typing import Any

import pytest

from instar.testing import patches

BEFORE = {"a": 1, "m": {"x/y": "1", "~": True, "gone": []}, "l": [1, 2]}
AFTER = {"a": 1.5, "m": {"x/y": "2", "~": 1, "new": {}}, "l": [2]}


def test_merge_patch() -> None:
    """Removal is null, maps are merged, lists go whole; 1 and true differ."""
    patch = patches.merge_patch(BEFORE, AFTER)
    assert patch == {"a": 1.5, "m": {"x/y": "2", "~": 1, "new": {}, "gone": None}, "l": [2]}
    assert patches.merge_patch(BEFORE, BEFORE) == {}


def test_json_patch() -> None:
    """One operation for each member that differs, in the order of names; pointers are escaped."""
    assert patches.json_patch(BEFORE, AFTER) == [
        {"op": "replace", "path": "/a", "value": 1.5},
        {"op": "replace", "path": "/l", "value": [2]},
        {"op": "remove", "path": "/m/gone"},
        {"op": "add", "path": "/m/new", "value": {}},
        {"op": "replace", "path": "/m/x~1y", "value": "2"},
        {"op": "replace", "path": "/m/~0", "value": 1},
    ]


@pytest.mark.parametrize(
    ("value", "can"), [({"a": {"b": 1}}, True), ({"a": {"b": None}}, False), ({"a": [None, {"b": None}]}, True)]
)
def test_mergeable(value: Any, can: bool) -> None:
    """Null in a map means removal; lists are not looked into, they go whole."""
    assert patches.mergeable(value) == can
