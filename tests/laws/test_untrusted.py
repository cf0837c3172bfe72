"""Entries are what any client can write: garbage is dropped, never an error, and never breaks a field's schema."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from tests.laws import lossy, model, subject
from tests.laws.test_exactness import SIDES

from instar.testing import scalars

HEX = st.text("0123456789abcdef", min_size=16, max_size=16)


def forged_names(versions: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Keys that look like ours, nearly like ours, or are for a version that is not there."""
    version = st.sampled_from((*versions, "three", "", "v" * 60))
    tail = st.one_of(HEX, st.sampled_from(("view", "", "order", "0" * 16, "z" * 16, "view.view")))
    return st.builds(lambda one, end: f"carried.{lossy.DOMAIN}/{one}.{end}", version, tail)


def garbage() -> st.SearchStrategy[str]:
    lists = st.lists(
        st.one_of(scalars.anything(1), st.sampled_from(("/spec", "/spec/f0", "/metadata/name"))), max_size=7
    )
    odd = st.sampled_from(("", "[", "null", "NaN", "[1e999]", "[" * 3000, '"', "[1,", "{}", "[[]]", "1e400"))
    return st.one_of(lists.map(json.dumps), odd, st.text(max_size=20))


@SIDES
@subject.many(200)
@given(st.data())
def test_garbage_never_raises_and_changes_nothing(side: str, data: st.DataObject) -> None:
    """One client's garbage must not fail everybody's LIST; the object is converted as if it were not there."""
    judged = subject.of_node(data.draw(lossy.nodes(depth=1)))
    document = judged.drawn(data, side)
    notes = data.draw(st.dictionaries(forged_names(judged.versions), garbage(), min_size=1, max_size=4))
    spoiled = copy.deepcopy(document)
    spoiled["metadata"].setdefault("annotations", {}).update(notes)
    away = subject.other(judged, side)
    assert model.same(judged.stripped(judged.move(spoiled, away)), judged.stripped(judged.move(document, away)))


def tampered(draw: st.DrawFn, note: str) -> str:
    """One element of a genuine entry replaced; whatever the elements mean."""
    parts = json.loads(note)
    assume(isinstance(parts, list) and parts)
    at = draw(st.integers(0, len(parts) - 1))
    parts[at] = draw(st.one_of(scalars.anything(1), st.sampled_from(("/metadata/name", "/spec", "/metadata/labels/a"))))
    return json.dumps(parts)


@st.composite
def forgeries(draw: st.DrawFn, document: dict[str, Any]) -> dict[str, Any]:
    """An object of which some genuine entries were changed, lost or moved to another key."""
    forged = copy.deepcopy(document)
    notes = forged["metadata"]["annotations"]
    for name in [name for name in notes if name.startswith("carried.")]:
        fate = draw(st.sampled_from(("keep", "value", "value", "delete", "move")))
        if fate == "value":
            notes[name] = tampered(draw, notes[name]) if notes[name].startswith("[") else draw(garbage())
        elif fate != "keep":
            moved = notes.pop(name)
            notes |= {} if fate == "delete" else {f"{name[:-1]}{'0' if name[-1] != '0' else '1'}": moved}
    return forged


@SIDES
@subject.many(250)
@given(st.data())
def test_a_forged_entry_never_breaks_a_field(side: str, data: st.DataObject) -> None:
    """Whatever genuine entries are turned into: no exception, and no field breaks its schema but by the author."""
    judged = subject.of_node(data.draw(lossy.nodes(depth=1)))
    there = judged.move(judged.drawn(data, side), subject.other(judged, side))
    assume(judged.entries(there))
    back = judged.move(data.draw(forgeries(there)), side)
    assert set(misfits(judged, back)) <= set(misfits(judged, judged.bare(there, side)))
    assert model.same(judged.stripped(back)["metadata"], judged.stripped(there)["metadata"])


def misfits(judged: subject.Subject, document: dict[str, Any]) -> list[str]:
    """Where a value breaks its schema, but for fields that are required: a forger can always delete."""
    found = model.problems(judged.schema(subject.version_of(document)), document)
    return [line for line in found if not line.endswith(": required")]


@SIDES
@subject.many(100)
@given(st.data())
def test_entries_of_another_kind_are_dropped(side: str, data: st.DataObject) -> None:
    """Annotations copied from an object of another kind restore nothing."""
    node = data.draw(lossy.nodes(depth=1))
    judged = subject.of_node(node)
    away = subject.other(judged, side)
    there = judged.move(judged.drawn(data, side), away)
    foreign = {**there, "kind": "Gadget"}
    stranger = subject.of_node(node, kind="Gadget")
    clean = judged.stripped(foreign)
    assert model.same(stranger.stripped(stranger.move(foreign, side)), stranger.stripped(stranger.move(clean, side)))
