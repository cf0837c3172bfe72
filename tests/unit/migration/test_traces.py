"""What objects keep of versions that go, taken away in one patch."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.migration import test_standing

from instar.migration import evidence, standing, traces
from instar.migration import object as dialogue
from instar.model import carried
from instar.model import crd as crd_model

LEAF, VIEW, OTHER = (f"carried.x.io/{tail}" for tail in ("v1.0123456789abcdef", "v1.view", "v2.0123456789abcdef"))
GOING = traces.Going(named=frozenset({"v1"}), stripped=frozenset({"v1"}))


def entry(version: str) -> dict[str, Any]:
    return {"manager": "a", "operation": "Update", "apiVersion": f"x.io/{version}", "fieldsV1": {"f:x": {}}}


def item(version: str, **annotations: str) -> dialogue.Item:
    return dialogue.Item(
        namespace="n", name="a", uid="u", resource_version="5", managed_fields=[entry(version)], carried=annotations
    )


def patch(found: bytes | None) -> list[dict[str, Any]]:
    assert found is not None
    lock, *rest = json.loads(found)
    assert lock == {"op": "replace", "path": "/metadata/resourceVersion", "value": "5"}, "409 when it is stale"
    return list(rest)


def test_both_leave_in_one_patch() -> None:
    """What is carried for the version goes, what is carried for others stays."""
    found = patch(
        traces.body("x.io", GOING, "x.io/v2")(item("v1", **{LEAF: '["A","/spec/x",[1]]', VIEW: "0", OTHER: "1"}))
    )
    assert [one for one in found if one["op"] == "remove"] == [
        {"op": "remove", "path": "/metadata/annotations/carried.x.io~1v1.0123456789abcdef"},
        {"op": "remove", "path": "/metadata/annotations/carried.x.io~1v1.view"},
    ]
    assert [one["value"][0]["apiVersion"] for one in found if one["op"] == "replace"] == ["x.io/v2"]


def test_what_is_carried_stays_while_it_may_be_seen_again() -> None:
    """managedFields alone are rewritten for a version that nobody retired."""
    going = traces.Going(named=frozenset({"v1"}))
    found = patch(traces.body("x.io", going, "x.io/v2")(item("v1", **{LEAF: "1"})))
    assert [one["path"] for one in found] == ["/metadata/managedFields"]


def test_nothing_to_take_away_is_no_write() -> None:
    """Such an object gets no request at all; in a rewrite it is written back unchanged."""
    clean = item("v2", **{OTHER: "1"})
    assert traces.body("x.io", GOING, "x.io/v2")(clean) is None
    assert patch(traces.body_of_rewrite("x.io", GOING, "x.io/v2")(clean)) == []


def test_only_what_nobody_sees_any_more_is_taken_away() -> None:
    """A version that is named and still served keeps what it carries; one that is gone from the CRD does not."""
    storage = crd_model.storage_version(test_standing.CRD)
    old = next(entry.name for entry in test_standing.CRD.versions if entry.name != storage)
    assert standing.stripped(test_standing.CRD, (old,)) == set()
    unserved = test_standing.with_served(test_standing.CRD, old, False)
    assert standing.stripped(unserved, (old,)) == {old}
    assert standing.stripped(unserved, ()) == set()
    assert standing.stripped(unserved, ("v0",)) == {"v0"}


def test_values_are_counted_by_path() -> None:
    """A view is no value; an entry of a later format says its path too."""
    counting = evidence.CarriedCount(frozenset({"v1"}))
    counting.add("n/a", {LEAF: '["A","/spec/x",[1]]', VIEW: "0", OTHER: '["A","/spec/y",[1]]'})
    counting.add("n/b", {LEAF: '[2,"A","/spec/x",[[]],"0"]'})
    counting.add("n/c", {OTHER: "1"})
    found = counting.total("")
    assert (found.objects, found.values, found.by_path, found.first) == (2, 2, {"/spec/x": 2}, "n/a")


@pytest.mark.parametrize(
    ("name", "version"),
    [
        (LEAF, "v1"),
        (VIEW, "v1"),
        ("carried.x.io/v1.0123456789abcde", None),
        ("carried.x.io/view", None),
        ("carried/v1.view", None),
        ("note", None),
    ],
)
def test_names_of_what_is_carried(name: str, version: str | None) -> None:
    """Whatever the domain is; nothing else is ever taken for one."""
    assert carried.version_of(name) == version


@pytest.mark.parametrize("text", ["", "0", "[]", '["A"]', "[1,2,3]", "null", '{"a":1}', "[2]"])
def test_garbage_has_no_path(text: str) -> None:
    """Anyone can write an annotation."""
    assert carried.path_of(text) == ""
