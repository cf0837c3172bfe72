"""Labels and annotations that rules name are values of the object; all other metadata is outside of conversion."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

import pytest
from tests.unit.conversion import subject

import instar.conversion as conversion
from instar.conversion import named, rules

NOTE = "example.com/cpu"
MOVE = rules.Move(spoke="/metadata/annotations/example.com~1cpu", hub="/spec/cpu")
TEXT = {"type": "string"}
OLD = {"type": "object", "properties": {"a": TEXT}}
NEW = {"type": "object", "properties": {"a": TEXT, "cpu": {"type": "string", "pattern": "^[0-9]+$"}}}


def moving(*more: Any) -> conversion.Bound:
    """``old`` says in an annotation what ``new`` says in a field."""
    spoke = conversion.Spoke(version="old", rules=(MOVE, *more))
    whole = conversion.Conversion(group=subject.GROUP, kind="Thing", hub="new", spokes=(spoke,))
    return conversion.bind(whole, subject.crd({"old": OLD, "new": NEW}))


BOUND = moving()


def test_a_named_annotation_is_a_value_at_its_place() -> None:
    """It moves both ways, nothing is carried, and everybody else's annotations stay."""
    new = subject.thing("new", {"a": "x", "cpu": "4"}, {"other": "o"})
    old = subject.thing("old", {"a": "x"}, {"other": "o", NOTE: "4"})
    assert BOUND.convert(new, "old") == old
    assert BOUND.convert(old, "new") == new


def test_an_edit_of_a_named_annotation_is_an_edit() -> None:
    """A client of old changes the annotation, or takes it away: new reads what it did."""
    old = BOUND.convert(subject.thing("new", {"cpu": "4"}), "old")
    old["metadata"]["annotations"][NOTE] = "8"
    assert BOUND.convert(old, "new")["spec"] == {"cpu": "8"}
    del old["metadata"]["annotations"][NOTE]
    assert BOUND.convert(old, "new")["spec"] == {}


def test_an_annotation_of_the_same_name_is_not_lost_at_the_version_without_it() -> None:
    """At new the key is somebody's own: it is carried, and comes back."""
    new = subject.thing("new", {"a": "x"}, {NOTE: "7"})
    old = BOUND.convert(new, "old")
    assert BOUND.convert(old, "new") == new


TEAM = rules.Only(hub="/metadata/labels/team")


def labelled(obj: dict[str, Any], **labels: str) -> dict[str, Any]:
    return {**obj, "metadata": {**obj["metadata"], "labels": labels}}


def test_a_lost_label_is_carried_and_restored() -> None:
    """As any leaf: its path is in metadata, its key is the path's hash, and an edit of a sibling leaves it."""
    bound = moving(TEAM)
    new = labelled(subject.thing("new", {"a": "x"}, {"other": "o"}), team="north", app="b")
    old = bound.convert(new, "old")
    path = "/metadata/labels/team"
    key = f"carried.acme.io/new.{hashlib.sha256(path.encode()).hexdigest()[:16]}"
    assert json.loads(old["metadata"]["annotations"][key]) == ["Thing", path, ["north"]]
    assert old["metadata"]["labels"] == {"app": "b"}
    assert bound.convert(old, "new") == new
    assert bound.convert(subject.edited(old, a="y"), "new") == {**new, "spec": {"a": "y"}}


@pytest.mark.parametrize("value", ["a b", "x" * 64, 7, {"a": 1}])
def test_a_forged_label_is_dropped(value: Any) -> None:
    """Nothing comes into metadata that a write through the API would not bring there."""
    path = "/metadata/labels/team"
    key = f"carried.acme.io/new.{hashlib.sha256(path.encode()).hexdigest()[:16]}"
    forged = subject.thing("old", {"a": "x"}, {key: json.dumps(["Thing", path, [value]])})
    outcome = moving(TEAM).outcome(forged, "new")
    assert outcome.object == subject.thing("new", {"a": "x"})
    assert [drop.path for drop in outcome.dropped] == [key]


def test_the_view_covers_what_rules_name() -> None:
    """A client that changed nothing but a named label made an edit: the view says so, and its label stays."""
    bound = moving(TEAM)
    old = bound.convert(labelled(subject.thing("new", {"a": "x"}), team="north"), "old")
    old["metadata"]["labels"] = {"team": "south"}
    assert bound.convert(old, "new")["metadata"]["labels"] == {"team": "south"}
    with_other = bound.convert(labelled(subject.thing("new", {"a": "x"}), team="north"), "old")
    with_other["metadata"]["labels"] = {"other": "o"}
    assert bound.outcome(with_other, "new").restored == ("/metadata/labels/team",)


def test_metadata_that_no_rule_names_is_refused() -> None:
    """A forged entry for another annotation, for a whole member or for the name is no place for entries."""
    for path in ("/metadata/annotations/other", "/metadata/annotations", "/metadata", "/metadata/name"):
        key = f"carried.acme.io/new.{hashlib.sha256(path.encode()).hexdigest()[:16]}"
        forged = subject.thing("old", {"a": "x"}, {key: json.dumps(["Thing", path, ["f"]])})
        outcome = BOUND.outcome(forged, "new")
        assert outcome.object == subject.thing("new", {"a": "x"})
        assert outcome.dropped == (conversion.Drop(key, "not a place for entries"),)


def test_only_strings_are_taken() -> None:
    """What is no string is no label and no annotation."""
    names = (("annotations", NOTE), ("labels", "team"))
    assert named.take(names, {"labels": {"team": 7}, "annotations": {NOTE: "a", "b": "c"}}) == {
        "annotations": {NOTE: "a"},
        "labels": {},
    }


def test_names_are_put_among_the_others() -> None:
    """Members that become empty go; one that was empty stays; what is not named is not touched."""
    names = (("annotations", NOTE),)
    joined = named.join(names, {"annotations": {NOTE: "a", "b": "c"}, "name": "x"}, {"annotations": {}, "labels": {}})
    assert joined == {"annotations": {"b": "c"}, "name": "x"}
    assert named.join(names, {"annotations": {NOTE: "a"}}, {"annotations": {}}) == {}
    assert named.join(names, {"annotations": {}}, None) == {"annotations": {}}
    assert named.join(names, {}, {"annotations": {NOTE: "a"}}) == {"annotations": {NOTE: "a"}}
    assert named.join((), {"labels": None}, None) == {"labels": None}


def test_the_argument_is_not_touched() -> None:
    """Names are lifted out of copies."""
    old = subject.thing("old", {"a": "x"}, {NOTE: "4"})
    before = copy.deepcopy(old)
    BOUND.convert(old, "new")
    assert old == before
