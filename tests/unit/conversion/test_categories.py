"""Declared leaves: normalised, sensitive, droppable, and groups; and the room for annotations."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.conversion import subject

import instar.conversion as conversion

TEXT = {"type": "string"}
SCHEMA = {
    "type": "object",
    "properties": {
        **dict.fromkeys("abcq", TEXT),
        "items": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": {"type": "object", "properties": dict.fromkeys(("name", "t", "u", "secret"), TEXT)},
        },
    },
}


def spelled(**declared: Any) -> Any:
    """Going to ``new`` upper-cases q; there is no way back to the old spelling."""
    upper = lambda obj: {**obj, "spec": {k: v.upper() if k == "q" else v for k, v in obj["spec"].items()}}  # noqa: E731
    return subject.bound({"old": SCHEMA, "new": SCHEMA}, upper, lambda obj: obj, **declared)


def test_a_normalised_leaf_is_not_carried_for_its_spelling() -> None:
    """Another spelling of the same value is no loss; another value is."""
    normalised = (conversion.Normalised(version="old", path="/spec/q", by=str.lower),)
    obj = subject.thing("old", {"q": "mixedCase"})
    assert len(subject.entries(spelled().convert(obj, "new"))) == 1
    assert subject.notes(spelled(normalised=normalised).convert(obj, "new")) == {}
    broken = (conversion.Normalised(version="old", path="/spec/q", by=lambda text: text[99]),)
    assert len(subject.entries(spelled(normalised=broken).convert(obj, "new"))) == 1


def test_a_sensitive_leaf_is_never_in_an_annotation() -> None:
    """Not surviving is an error that names the path and not the value; nor may it hide in a list or a base."""
    sensitive = (
        conversion.Sensitive(version="new", path="/spec/a"),
        conversion.Sensitive(version="new", path="/spec/items[]/secret"),
    )
    bound = subject.losing(SCHEMA, "a", "items", sensitive=sensitive)
    for spec, where in (
        ({"a": "hunter2"}, "/spec/a"),
        ({"items": [{"name": "x", "secret": "hunter2"}]}, r"/spec/items\[name=x\]/secret"),
        ({"items": [{"secret": "hunter2"}]}, "/spec/items"),
    ):
        with pytest.raises(conversion.ConversionError, match=f"{where} is sensitive, does not survive") as caught:
            bound.convert(subject.thing("new", spec), "old")
        assert "hunter2" not in caught.value.message
    assert subject.entries(bound.convert(subject.thing("new", {"items": [{"name": "x", "t": "1"}]}), "old")) == [
        '["Thing","/spec/items[name=x]/t",["1"]]'
    ]


def test_a_key_cannot_be_sensitive() -> None:
    """Every path of its item says it."""
    with pytest.raises(conversion.DefinitionError, match="a key of a list cannot be sensitive"):
        subject.losing(SCHEMA, sensitive=(conversion.Sensitive(version="new", path="/spec/items[]/name"),))


def test_a_sensitive_leaf_may_be_lost_by_declaration() -> None:
    """With a reason it is lost, and all else is carried."""
    sensitive = (conversion.Sensitive(version="new", path="/spec/a", loss="rotated at every write"),)
    bound = subject.losing(SCHEMA, "a", "b", sensitive=sensitive)
    there = bound.convert(subject.thing("new", {"a": "hunter2", "b": "1"}), "old")
    assert subject.entries(there) == ['["Thing","/spec/b",["1"]]']
    assert bound.convert(there, "new")["spec"] == {"b": "1"}
    assert subject.notes(bound.convert(subject.thing("new", {"a": "hunter2"}), "old")) == {}


def test_groups_in_a_list_have_one_instance_for_each_item() -> None:
    """An edit of one item's type gives up that item's union, and no other's."""
    groups = (conversion.Group(version="new", paths=("/spec/items[]/t", "/spec/items[]/u")),)
    bound = subject.losing(SCHEMA, "u", groups=groups)
    spec = {"items": [{"name": "x", "t": "U", "u": "1"}, {"name": "y", "t": "U", "u": "2"}]}
    there = bound.convert(subject.thing("new", spec), "old")
    assert bound.convert(subject.edited(there, a="edit"), "new")["spec"]["items"] == spec["items"]
    there["spec"]["items"][0]["t"] = "V"
    assert bound.convert(there, "new")["spec"]["items"] == [{"name": "x", "t": "V"}, spec["items"][1]]


def test_a_member_that_is_refused_takes_its_group_with_it() -> None:
    """b and c are both carried; an edit that puts something at b gives up c too, though nothing touched it."""
    groups = (conversion.Group(version="new", paths=("/spec/b", "/spec/c")),)
    bound = subject.losing(SCHEMA, "b", "c", groups=groups)
    there = bound.convert(subject.thing("new", {"a": "0", "b": "1", "c": "2"}), "old")
    outcome = bound.outcome(subject.edited(there, b="9"), "new")
    assert outcome.object["spec"] == {"a": "0", "b": "9"}
    assert {drop.path for drop in outcome.dropped} == {"/spec/b", "/spec/c"}


def test_a_group_is_kept_or_given_up_as_one_where_it_disturbs() -> None:
    """b disturbs what the client sees; c is of its group and goes with it."""

    def show(obj: dict[str, Any]) -> dict[str, Any]:
        return {**obj, "spec": {"a": max(value for name, value in obj["spec"].items() if name in "ab")}}

    groups = (conversion.Group(version="new", paths=("/spec/b", "/spec/c")),)
    for declared, left in (((), {"a": "0", "c": "2"}), (groups, {"a": "0"})):
        bound = subject.bound({"old": SCHEMA, "new": SCHEMA}, lambda obj: obj, show, groups=declared)
        there = bound.convert(subject.thing("new", {"a": "5", "b": "1", "c": "2"}), "old")
        assert bound.convert(there, "new")["spec"] == {"a": "5", "b": "1", "c": "2"}
        assert bound.convert(subject.edited(there, a="0"), "new")["spec"] == left


ROOM = 262144


def size(obj: dict[str, Any]) -> int:
    return sum(len(key.encode()) + len(text.encode()) for key, text in subject.notes(obj).items())


def test_the_budget_is_shared_and_exact() -> None:
    """All annotations count, everybody's; the last byte fits, one more does not."""
    bound = subject.losing(SCHEMA, "a", "b")
    note = {"note": "n" * 100_000}
    probe = size(bound.convert(subject.thing("new", {"a": "", "b": "é" * 10}, note), "old"))
    fits = {"a": "x" * (ROOM - probe), "b": "é" * 10}
    assert size(bound.convert(subject.thing("new", fits, note), "old")) == ROOM
    fits["a"] += "x"
    words = (
        rf"Thing default/x new -> old: its annotations would take {ROOM + 1} bytes .*most costs /spec/a \(\d+ bytes\), "
    )
    with pytest.raises(conversion.ConversionError, match=words) as caught:
        bound.convert(subject.thing("new", fits, note), "old")
    assert caught.value.path == "/spec/a"


def test_droppable_leaves_go_first_and_in_order() -> None:
    """Only as many as it takes, the first declared first."""
    droppable = tuple(
        conversion.Droppable(version="new", path=f"/spec/{name}", reason="a cache", expires="2027-01-01")
        for name in ("b", "a")
    )
    bound = subject.losing(SCHEMA, "a", "b", "c", droppable=droppable)
    spec = {"a": "x" * 100_000, "b": "y" * 100_000, "c": "z" * 100_000}
    kept = bound.outcome(subject.thing("new", spec), "old").carried
    assert kept == ("/spec/a", "/spec/c")
    spec["c"] *= 2
    assert bound.outcome(subject.thing("new", spec), "old").carried == ("/spec/c",)
    spec["c"] *= 2
    with pytest.raises(conversion.ConversionError, match="most costs /spec/c"):
        bound.convert(subject.thing("new", spec), "old")
