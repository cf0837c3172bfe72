"""Restoring leaves is the inverse of seeing differences, and looking up is by path."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.conversion.test_leaves import CASES, ROOT

from instar.conversion import leaves, restoring
from instar.conversion.leaves import ABSENT
from instar.model import gojson, path


@pytest.mark.parametrize(("own", "seen", "wanted"), CASES)
def test_what_differs_put_back_is_the_object(own: dict[str, Any], seen: dict[str, Any], wanted: list[Any]) -> None:
    """Exactness of one side: seen plus its differences is own, type-strictly; what was seen stays as it was."""
    before = gojson.encode(seen)
    found = leaves.differences(own, seen, ROOT)
    assert gojson.equal(restoring.restore(seen, ROOT, [(leaf.path, leaf.value) for leaf in found]), own)
    assert gojson.encode(seen) == before


def test_removing_never_removes_a_parent_and_setting_creates_parents() -> None:
    """The parent of the last thing removed is an empty collection; a scalar in the way of a parent is replaced."""
    body = {"o": {"a": 1}, "set": ["x"], "keyed": [{"k": "a"}], "any": {"p": 1}}
    gone = [("/o/a", ABSENT), ("/set[=x]", ABSENT), ("/keyed[k=a]", ABSENT), ("/m/x/a", ABSENT)]
    assert restoring.restore(body, ROOT, [*gone, ("/any/p/q/r", 1)]) == {
        "o": {},
        "set": [],
        "keyed": [],
        "any": {"p": {"q": {"r": 1}}},
    }


def test_absences_go_first_then_values_each_in_path_order() -> None:
    """The order in which they are given does not matter."""
    given = [("/keyed[k=c]/v", 3), ("/keyed[k=b]", {"k": "b"}), ("/keyed[k=a]", ABSENT), ("/keyed[k=c]/w", 4)]
    wanted = {"keyed": [{"k": "b"}, {"k": "c", "v": 3, "w": 4}]}
    for order in (given, given[::-1]):
        assert restoring.restore({"keyed": [{"k": "a"}]}, ROOT, order) == wanted


def test_lookup_counts_what_is_there() -> None:
    """The value, and how many items and map keys on the way; -1 where a list is not regular."""
    body = restoring.Body({"m": {"x": {"a": 1}}, "keyed": [{"k": "a"}], "set": ["a", "a"]}, ROOT)
    assert body.get(path.parse("/m/x/a")) == (1, 1)
    assert body.get(path.parse("/m/x/b")) == (ABSENT, 1)
    assert body.get(path.parse("/m/y/b")) == (ABSENT, 0)
    assert body.get(path.parse("/keyed[k=a]/v")) == (ABSENT, 1)
    assert body.get(path.parse("/keyed[k=b]/v")) == (ABSENT, 0)
    assert body.get(path.parse("/set[=a]")) == (ABSENT, -1)
    assert body.get(path.parse("/o/a")) == (ABSENT, 0)
