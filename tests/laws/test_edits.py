"""An edit wins, and what it did not touch comes back.

What an edit touched is known apart from the framework: the fields of each piece of a random conversion depend on the
fields of that piece alone, so a piece that reads the same after the edit as before it was not touched.
"""

from __future__ import annotations

from typing import Any

from hypothesis import assume, event, given
from hypothesis import strategies as st
from tests.laws import lossy, model, subject
from tests.laws.test_exactness import SIDES

from instar.testing import edits


def edited(data: st.DataObject, judged: subject.Subject, document: dict[str, Any]) -> dict[str, Any]:
    """What a client's write of an edited object leaves, before it is converted."""
    schema = judged.schema(subject.version_of(document))
    made = data.draw(edits.several(document, schema))
    event(made[0].kind if made else "no edit")
    written = judged.write(edits.apply_all(document, made))
    assume(list(model.problems(schema, written)) == [])  # the API server takes no other, as a set with an item twice
    return written


TEXT = {"type": "string"}


def head(version: str) -> dict[str, Any]:
    return {"apiVersion": f"{lossy.GROUP}/{version}", "kind": lossy.KIND, "metadata": {"name": "one"}}


@SIDES
@subject.many(200)
@given(st.data())
def test_an_edit_wins(side: str, data: st.DataObject) -> None:
    """What a client writes at one version is what it reads there again, wherever the object is stored."""
    judged = subject.of_node(data.draw(lossy.nodes()))
    there = judged.move(judged.drawn(data, side), subject.other(judged, side))
    changed = edited(data, judged, there)
    again = judged.move(judged.move(changed, side), subject.version_of(changed))
    judged.assert_same(again, changed)


@SIDES
@subject.many(250)
@given(st.data())
def test_what_an_edit_did_not_touch_comes_back(side: str, data: st.DataObject) -> None:
    """Every field that depends on nothing that was edited is what it was, lossy or not, in lists and maps too."""
    node = data.draw(lossy.nodes())
    judged = subject.of_node(node)
    before = judged.drawn(data, side)
    there = judged.move(before, subject.other(judged, side))
    changed = edited(data, judged, there)
    after = judged.move(changed, side)
    assert untouched_but_lost(node, side, before, there, changed, after) == []


def untouched_but_lost(
    node: lossy.Node, side: str, before: Any, there: Any, changed: Any, after: Any
) -> list[tuple[Any, ...]]:
    """The pieces that read the same before and after the edit, and whose own fields did not come back.

    Fields that are what their defaults say go with their parent, which brought them: nobody said them.
    """
    away = "two" if side == "one" else "one"
    own = {(place, piece.kind, *piece.one): fields for place, piece, fields in parts(node, side, before)}
    left = {(place, piece.kind, *piece.one): fields for place, piece, fields in parts(node, side, after)}
    seen = {(place, piece.kind, *piece.one): fields for place, piece, fields in parts(node, away, there)}
    now = {(place, piece.kind, *piece.one): fields for place, piece, fields in parts(node, away, changed)}
    brought = {(place, piece.kind, *piece.one): defaults(piece, side) for place, piece, _ in parts(node, side, before)}
    return [
        (name, own[name], left.get(name, {}))
        for name in own.keys() & seen.keys() & now.keys()
        if model.same(seen[name], now[name])
        and not model.same(own[name], left.get(name, {}))
        and not (name not in left and model.same(own[name], brought[name]))
    ]


def defaults(piece: lossy.Piece, side: str) -> dict[str, Any]:
    """What the schema puts into the fields of a piece where its parent is."""
    fields = piece.one if side == "one" else piece.two
    return {name: schema["default"] for name, schema in fields.items() if "default" in schema}


def taken_away_in_part(lost: tuple[Any, ...]) -> bool:
    """A list of which the other version has only the first item, which was deleted there: the rest of it stands here.

    The two say different things from then on. After an edit here, whatever it is of, what is shown here holds there.
    """
    name, own, left = lost
    return name[1].startswith("first of") and not own and bool(left)


def parts(node: lossy.Node, side: str, document: Any) -> list[tuple[lossy.Place, lossy.Piece, dict[str, Any]]]:
    return list(lossy.instances(node, side, document.get("spec")))


@SIDES
@subject.many(100)
@given(st.data())
def test_edits_in_turn_at_both_versions(side: str, data: st.DataObject) -> None:
    """A long life: edited here, edited there, again and again; each edit wins and leaves the rest alone."""
    node = data.draw(lossy.nodes())
    judged = subject.of_node(node)
    here = judged.drawn(data, side)
    for _ in range(4):
        there = judged.move(here, subject.other(judged, subject.version_of(here)))
        changed = edited(data, judged, there)
        after = judged.move(changed, subject.version_of(here))
        judged.assert_same(judged.move(after, subject.version_of(changed)), changed)
        lost = untouched_but_lost(node, subject.version_of(here), here, there, changed, after)
        assert [one for one in lost if not taken_away_in_part(one)] == []
        here = changed


@SIDES
@subject.many(100)
@given(st.data())
def test_a_second_write_of_the_same_settles(side: str, data: st.DataObject) -> None:
    """After an edit the first no-op write may refresh our keys; from then on the bytes stand still."""
    judged = subject.of_node(data.draw(lossy.nodes()))
    away = subject.other(judged, side)
    there = judged.move(judged.drawn(data, side), away)
    stored = judged.move(edited(data, judged, there), side)
    first = judged.move(judged.write(judged.move(stored, away)), side)
    second = judged.move(judged.write(judged.move(first, away)), side)
    judged.assert_same(first, stored)
    assert model.same(second, first), "\n".join(model.differences(second, first))


def test_a_set_with_an_item_twice_is_not_carried_back() -> None:
    """No API server takes it, so no entry may bring it: what the author's functions give is left, and why is said."""
    node = lossy.Node(pieces=(lossy.trimmed("f", "set"),))
    judged = subject.of_node(node)
    head = {"apiVersion": f"{lossy.GROUP}/one", "kind": lossy.KIND, "metadata": {"name": "one"}}
    there = judged.move(judged.write({**head, "spec": {"f": [2, 1, 2]}}), "two")
    outcome = judged.bound.outcome(there, "one")
    assert outcome.object["spec"] == {"f": [1, 2, 2]}
    assert [drop.reason for drop in outcome.dropped] == ["not valid there: value: items of a set must differ"]


def test_a_default_that_comes_with_a_parent_is_no_edit() -> None:
    """Version two alone has a map with a default; at version one an edit brings its parent, and the default with it."""
    kind = {"type": "object", "additionalProperties": {"type": "integer"}, "default": {"a": 1}}
    inner = lossy.Node(
        pieces=(
            lossy.dropped("f", {"type": "string"}, kind),
            lossy.rename("g", {"type": "integer"}, {"type": "integer"}),
        )
    )
    judged = subject.of_node(lossy.Node(pieces=(), below=(("quiet", "in", "in", inner),)))
    head = {"apiVersion": f"{lossy.GROUP}/two", "kind": lossy.KIND, "metadata": {"name": "one"}}
    there = judged.move(judged.write({**head, "spec": {"in": {"fNew": {"a": 0, "b": 1}}}}), "one")
    assert there["spec"] == {}
    there["spec"] = {"in": {"g": 5}}
    assert judged.move(there, "two")["spec"] == {"in": {"fNew": {"a": 0, "b": 1}, "gTwo": 5}}


def test_an_empty_map_in_place_of_a_default_comes_back_with_its_parent() -> None:
    """Version one alone has a map with a default, here empty; its parent goes with the last field of version two."""
    kind = {"type": "object", "additionalProperties": {"type": "integer"}, "default": {"a": 1}}
    inner = lossy.Node(pieces=(lossy.dropped("f", kind, {"type": "string"}), lossy.rename("g", TEXT, TEXT)))
    judged = subject.of_node(lossy.Node(pieces=(), below=(("quiet", "in", "in", inner),)))
    two = judged.move(judged.write({**head("one"), "spec": {"in": {"fOld": {}, "g": "x"}}}), "two")
    assert two["spec"] == {"in": {"gTwo": "x"}}
    del two["spec"]["in"]
    assert judged.move(two, "one")["spec"] == {"in": {"fOld": {}}}


def test_two_fields_that_disturb_each_alone_come_back_together_after_an_edit_of_a_list() -> None:
    """Each says something of the other (nobody declared the group), and an edit in the same object is refused."""
    node = lossy.Node(pieces=(lossy.crossed("f"), lossy.trimmed("l", "atomic")))
    judged = subject.of_node(node)
    two = judged.move(judged.write({**head("one"), "spec": {"l": [3, 2, 1]}}), "two")
    assert two["spec"]["l"] == [1, 2, 3]
    two["spec"]["l"] = [0, 1, 2, 3]
    assert "f" not in judged.move(two, "one")["spec"]
    assert "fWord" not in judged.move(two, "one")["spec"]


def test_a_list_that_one_version_sorts_is_not_merged_item_by_item() -> None:
    """Items moved with the edit: what was said of one position is of another item now, so the whole list is taken."""
    node = lossy.Node(pieces=(lossy.trimmed("f", "atomic"), lossy.rename("g", {"type": "string"}, {"type": "string"})))
    judged = subject.of_node(node)
    head = {"apiVersion": f"{lossy.GROUP}/two", "kind": lossy.KIND, "metadata": {"name": "one"}}
    one = judged.move(judged.write({**head, "spec": {"f": [0, 0, -1]}}), "one")
    assert one["spec"] == {"f": [-1, 0, 0]}
    one["spec"] = {"f": [0, 1, -1, 1]}
    two = judged.move(one, "two")
    assert two["spec"] == {"f": [-1, 0, 1, 1]}
    two["spec"]["gTwo"] = "edited"
    assert judged.move(two, "one")["spec"] == {"f": [0, 1, -1, 1], "g": "edited"}


def test_of_a_list_whose_first_item_was_deleted_the_rest_is_the_truth() -> None:
    """Version two has only the first item. Deleted there, the others stand at version one, and one edit later there."""
    node = lossy.Node(pieces=(lossy.first("f", "set"), lossy.rename("g", {"type": "integer"}, {"type": "integer"})))
    judged = subject.of_node(node)
    head = {"apiVersion": f"{lossy.GROUP}/one", "kind": lossy.KIND, "metadata": {"name": "one"}}
    two = judged.move(judged.write({**head, "spec": {"f": ["a", "b"], "g": 1}}), "two")
    assert two["spec"] == {"f": "a", "gTwo": 1}
    del two["spec"]["f"]
    one = judged.move(two, "one")
    assert one["spec"] == {"f": ["b"], "g": 1}
    assert judged.move(one, "two")["spec"] == {"gTwo": 1}
    one["spec"]["g"] = 2
    assert judged.move(one, "two")["spec"] == {"f": "b", "gTwo": 2}
