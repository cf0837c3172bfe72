"""The smallest value that still fails, found without knowing what it is about."""

from __future__ import annotations

from typing import Any

import pytest

from instar.testing import shrinking


@pytest.mark.parametrize(
    ("value", "fails", "smallest"),
    [
        ({"a": {"b": [1, 2, {"c": "hello world"}], "z": 9}, "y": 5}, lambda v: "wor" in str(v), "wor"),
        ({"a": 117, "b": "x"}, lambda v: v.get("a", 0) > 3, {"a": 7}),
        ([5, 6, 7, 8], lambda v: 7 in v, [7]),
        ({"a": {"b": True}}, lambda v: True, {}),
    ],
)
def test_smallest(value: Any, fails: Any, smallest: Any) -> None:
    found = shrinking.smallest(value, fails)
    assert fails(found)
    if isinstance(smallest, str):
        assert found == {"a": {"b": [{"c": "wor"}]}}
    else:
        assert found == smallest


def test_no_more_questions_than_allowed() -> None:
    """What is judged may be slow; the answer is then the best one found."""
    asked = 0

    def fails(value: Any) -> bool:
        nonlocal asked
        asked += 1
        return len(value) > 2

    found = shrinking.smallest(list(range(500)), fails, questions=7)
    assert asked <= 7
    assert 2 < len(found) < 500


def test_the_same_each_time() -> None:
    value = {"b": ["xy", "yx"], "a": {"x": "y", "y": "x"}}
    first, *others = [shrinking.smallest(value, lambda found: str(found).count("x") > 1) for _ in range(3)]
    assert all(other == first for other in others)
