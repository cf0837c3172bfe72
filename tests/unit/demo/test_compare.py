"""Comparing finds every kind of loss, and counts each value once."""

from __future__ import annotations

from typing import Any

import pytest

from instar.demo import compare, ledger
from instar.model import resource

KEY = resource.ObjectKey(namespace="a", name="b")
EXPECTED = (ledger.Expected(key=KEY, uid="u", state={"cpu": "8"}),)


def view(where: str) -> compare.View:
    return compare.View(
        where=where,
        expected=lambda state: {"/spec/cpu": [state["cpu"], f"{state['cpu']}.0"]},
        seen=lambda found: compare.leaves(found["spec"], "/spec"),
        names=lambda path: path.split("/")[2],
    )


def objects(spec: dict[str, Any], uid: str = "u") -> dict[resource.ObjectKey, Any]:
    return {KEY: {"metadata": {"uid": uid}, "spec": spec}}


@pytest.mark.parametrize("cpu", ["8", "8.0"])
def test_any_right_spelling_is_right(cpu: str) -> None:
    """A value with several right spellings is lost in none of them."""
    assert compare.compare(view("v1"), EXPECTED, objects({"cpu": cpu})) == []


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"cpu": "9"}, 'a/b at v1: /spec/cpu: is "9", written was "8" or "8.0"'),
        ({"cpu": 8}, 'a/b at v1: /spec/cpu: is 8, written was "8" or "8.0"'),
        ({"cpu": {}}, 'a/b at v1: /spec/cpu: is {}, written was "8" or "8.0"'),
        ({"cpu": "8", "new": []}, "a/b at v1: /spec/new: is [], written was nothing"),
    ],
)
def test_a_wrong_missing_or_surplus_value_is_named(spec: dict[str, Any], message: str) -> None:
    """The message says which object, where, which path, what is there and what was written; types count."""
    losses = compare.compare(view("v1"), EXPECTED, objects(spec))
    assert [loss.message for loss in losses] == [message]


def test_whole_objects() -> None:
    """Gone, another one of the same name, and one that should not be there: one loss each."""
    gone = compare.compare(view("v1"), EXPECTED, {})
    other = compare.compare(view("v1"), EXPECTED, objects({"cpu": "8"}, uid="v"))
    surplus = compare.compare(view("v1"), (), objects({"cpu": "8"}))
    assert [losses[0].message for losses in (gone, other, surplus)] == [
        "a/b at v1: the object is gone",
        "a/b at v1: is another object: uid v, written was u",
        "a/b at v1: is there, and was deleted or never written",
    ]


def test_one_wrong_value_is_one_loss_at_however_many_versions() -> None:
    """Seen wrong at three places, counted once; two values of one object are two."""
    wrong = objects({"cpu": "9"})
    found = [compare.compare(view(where), EXPECTED, wrong) for where in ("v1", "v1 (etcd)", "v1alpha1")]
    assert len(compare.merge(*found)) == 1
    assert len(compare.merge(*found, compare.compare(view("v1"), EXPECTED, objects({"cpu": "9", "new": 1})))) == 2


def test_leaves_are_everything_but_filled_maps() -> None:
    """Lists and empty maps are values; a key with a slash stays one key."""
    assert compare.leaves({"a": {"b/c": 1, "d": {}}, "e": [1, {"f": 2}]}) == {
        "/a/b~1c": 1, "/a/d": {}, "/e": [1, {"f": 2}]
    }  # fmt: skip
