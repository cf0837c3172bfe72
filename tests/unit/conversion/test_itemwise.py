"""An edited list without identity is merged item by item, by position; every expected value is written by hand."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from tests.unit.conversion import subject

import instar.conversion as conversion

STEP = {"type": "object", "properties": {"image": {"type": "string"}, "cache": {"type": "string"}}}
SPEC = {
    "type": "object",
    "properties": {"steps": {"type": "array", "items": STEP}, "on": {"type": "boolean"}},
}
BOUND = subject.losing(SPEC, "cache")
FAR = "registry.example.com/a/team/with/a/long/name/"


def steps(text: str, prefix: str = "") -> list[dict[str, str]]:
    """``a1 b`` is image a with cache 1, and image b without one."""
    found = []
    for word in text.split():
        step = {"image": prefix + word[0]}
        if word[1:]:
            step["cache"] = word[1:]
        found.append(step)
    return found


@pytest.mark.parametrize("prefix", ["", FAR], ids=["base written out", "base as digests"])
@pytest.mark.parametrize(
    ("new", "edited", "wanted"),
    [
        ("a1 b2 c3", "a b c", "a1 b2 c3"),
        ("a1 b2 c3", "a x c", "a1 x c3"),
        ("a1 b2 c3", "x b c", "x b2 c3"),
        ("a1 b2 c3", "x y z", "x y z"),
        ("a1 b2 c3", "b a c", "b a c3"),
        ("a1 a2 b3", "a a x", "a1 a2 x"),
        ("a1 b2 c3", "a b c d", "a1 b2 c3 d"),
        ("a1 b2 c3", "a b", "a1 b2"),
        ("a1 b2 c3", "b c", "b c"),
        ("a1 b2 c3", "d a b c", "d a b c"),
        ("a1 b2 b3", "b b", "b b"),
        ("a1 a2 b3", "a b", "a b"),
        ("a1 b2", "", ""),
    ],
)
def test_an_edit_of_an_item_spares_the_others(prefix: str, new: str, edited: str, wanted: str) -> None:
    """What an item carried comes back at its position, and never at another item; edits stay."""
    there = BOUND.convert(subject.thing("new", {"steps": steps(new, prefix)}), "old")
    assert len(subject.entries(there)) == 1
    there["spec"]["steps"] = steps(edited, prefix)
    there["spec"]["on"] = True
    assert BOUND.convert(there, "new")["spec"] == {"steps": steps(wanted, prefix), "on": True}


def test_which_items_an_edit_took_is_said() -> None:
    """The list is restored and dropped in part: both are reported."""
    there = BOUND.convert(subject.thing("new", {"steps": steps("a1 b2 c3")}), "old")
    there["spec"]["steps"][1]["image"] = "x"
    outcome = BOUND.outcome(there, "new")
    assert outcome.restored == ("/spec/steps",)
    assert outcome.dropped == (conversion.Drop("/spec/steps", "an edit changed its items 1"),)


def test_lists_that_changed_their_length_on_the_way_are_one_leaf() -> None:
    """Where value and base differ in length no item's position is known: an edit anywhere drops what was carried."""

    def halved(obj: dict[str, Any]) -> dict[str, Any]:
        obj["spec"]["steps"] = obj["spec"]["steps"][::2]
        return obj

    bound = subject.bound({"old": SPEC, "new": SPEC}, lambda obj: obj, halved)
    there = bound.convert(subject.thing("new", {"steps": steps("a b c d")}), "old")
    assert bound.convert(there, "new")["spec"]["steps"] == steps("a b c d")
    there["spec"]["steps"] = steps("a x")
    assert bound.convert(there, "new")["spec"]["steps"] == steps("a x")


def test_a_merged_list_is_carried_anew() -> None:
    """Read, edit one item, read at the other version, and back: the second round is exact."""
    there = BOUND.convert(subject.thing("new", {"steps": steps("a1 b2 c3")}), "old")
    there["spec"]["steps"][0]["image"] = "x"
    merged = BOUND.convert(there, "new")
    assert BOUND.convert(BOUND.convert(copy.deepcopy(merged), "old"), "new") == merged


def test_an_edited_list_of_a_group_falls_with_it() -> None:
    """A declared group stands or falls as one: one edited item of a member voids the members."""
    group = conversion.Group(version="new", paths=("/spec/steps", "/spec/on"))
    bound = subject.losing(SPEC, "cache", groups=(group,))
    there = bound.convert(subject.thing("new", {"steps": steps("a1 b2"), "on": True}), "old")
    there["spec"]["steps"][0]["image"] = "x"
    assert bound.convert(there, "new")["spec"] == {"steps": steps("x b"), "on": True}
