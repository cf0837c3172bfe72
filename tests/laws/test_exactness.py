"""There and back is the same object; nothing is carried that need not be, and nothing is missing from what is."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws import lossy, model, subject

from instar.testing import objects

SIDES = pytest.mark.parametrize("side", ["one", "two"])


def random_subject(data: st.DataObject) -> subject.Subject:
    return subject.of_node(data.draw(lossy.nodes()))


@SIDES
@subject.many(150)
@given(st.data())
def test_there_and_back_is_the_same_object(side: str, data: st.DataObject) -> None:
    """Exactness: whatever a converter loses, an object comes back type-strictly equal, up to our own keys."""
    judged = random_subject(data)
    written_object = judged.drawn(data, side)
    there = judged.move(written_object, subject.other(judged, side))
    judged.assert_same(judged.move(there, side), written_object)


@SIDES
@subject.many(100)
@given(st.data())
def test_without_the_view_an_unedited_object_is_the_same_too(side: str, data: st.DataObject) -> None:
    """The digest of the view saves work; the entries alone bring back what was never edited."""
    judged = random_subject(data)
    written_object = judged.drawn(data, side)
    there = judged.move(written_object, subject.other(judged, side))
    for name in judged.carried(there).keys() - judged.entries(there).keys():
        del there["metadata"]["annotations"][name]
    judged.assert_same(judged.move(there, side), written_object)


@SIDES
@subject.many(150)
@given(st.data())
def test_nothing_is_carried_when_nothing_is_lost(side: str, data: st.DataObject) -> None:
    """Where the author's two functions alone give the object back, not one annotation is written."""
    judged = random_subject(data)
    written_object = judged.drawn(data, side)
    away = subject.other(judged, side)
    there = judged.move(written_object, away)
    alone = judged.bare(judged.bare(written_object, away), side)
    assert bool(judged.entries(there)) == (not model.same(alone, written_object))
    assert bool(judged.carried(there)) == bool(judged.entries(there))


@SIDES
@subject.many(150)
@given(st.data())
def test_the_client_sees_what_the_author_wrote(side: str, data: st.DataObject) -> None:
    """A first read at the other version is the author's function, settled at that version, and nothing else."""
    judged = random_subject(data)
    written_object = judged.drawn(data, side)
    there = judged.move(written_object, subject.other(judged, side))
    judged.assert_same(there, judged.bare(written_object, subject.other(judged, side)))


@SIDES
@subject.many(100)
@given(st.data())
def test_every_entry_is_needed(side: str, data: st.DataObject) -> None:
    """Take any one entry away and the object no longer comes back as it was, or only by a default of this release."""
    judged = random_subject(data)
    written_object = judged.drawn(data, side)
    there = judged.move(written_object, subject.other(judged, side))
    for name, entry in judged.entries(there).items():
        less = copy.deepcopy(there)
        del less["metadata"]["annotations"][name]
        back = judged.stripped(judged.move(less, side))
        needless = model.same(back, judged.stripped(written_object))
        assert not needless or judged.brought_by_default(written_object, entry), name


@SIDES
@subject.many(100)
@given(st.data())
def test_a_write_of_what_was_read_changes_nothing(side: str, data: st.DataObject) -> None:
    """Stored, read at the other version and written back unchanged: the same bytes in etcd, our keys included."""
    judged = random_subject(data)
    stored = judged.drawn(data, side)
    away = subject.other(judged, side)
    for _ in range(2):
        settled = judged.move(judged.write(judged.move(stored, away)), side)
        assert model.same(settled, stored), "\n".join(model.differences(settled, stored))
        stored = settled


@SIDES
@subject.many(100)
@given(st.data())
def test_metadata_is_framed(side: str, data: st.DataObject) -> None:
    """Nothing of the metadata changes but our own annotations, and none of ours names the version that is served."""
    judged = random_subject(data)
    written_object = judged.drawn(data, side)
    away = subject.other(judged, side)
    answer = judged.bound.convert(copy.deepcopy(written_object), away)
    assert model.same(judged.stripped(answer)["metadata"], judged.stripped(written_object)["metadata"])
    assert not [name for name in judged.carried(answer) if name.partition("/")[2].startswith(f"{away}.")]


@SIDES
@subject.many(100)
@given(st.data())
def test_the_argument_is_not_touched(side: str, data: st.DataObject) -> None:
    """convert leaves its argument as it was: the API server's objects are read, never written."""
    judged = random_subject(data)
    given_object = judged.drawn(data, side)
    before = copy.deepcopy(given_object)
    judged.bound.convert(given_object, subject.other(judged, side))
    assert model.same(given_object, before)


@SIDES
@subject.many(150)
@given(st.data())
def test_fragments_come_back_too(side: str, data: st.DataObject) -> None:
    """Server-side apply converts parts of objects: they come back like whole ones, up to defaults."""
    judged = random_subject(data)
    whole = model.wire(data.draw(objects.custom_resources(judged.crd, side)))
    part = data.draw(objects.fragments(whole, judged.schema(side)))
    there = judged.move(part, subject.other(judged, side))
    back = judged.move(there, side)
    judged.assert_same(judged.settled(back), judged.settled(part))


ODD: tuple[dict[str, Any], ...] = (
    {},
    {"metadata": {}},
    {"metadata": {"name": "x"}},
    {"metadata": {"name": "x", "annotations": {}}},
    {"metadata": {"name": "x", "annotations": None, "labels": None}},
    {"metadata": {"name": "x"}, "spec": None},
    {"metadata": {"name": "x"}, "spec": {}},
    {"metadata": {"name": "x"}, "spec": []},
    {"metadata": {"name": "x"}, "spec": "text"},
    {"metadata": {"name": "x"}, "status": {"a": 1}, "unknown": [1]},
)


@SIDES
@subject.many(100)
@given(st.data())
def test_odd_objects_are_converted(side: str, data: st.DataObject) -> None:
    """Without spec, without metadata, with values of other types: no exception where the converter has none."""
    judged = random_subject(data)
    odd = data.draw(st.one_of(st.sampled_from(ODD), misfits(judged, side)))
    document = {"apiVersion": f"{lossy.GROUP}/{side}", "kind": lossy.KIND, **odd}
    answer = judged.bound.convert(copy.deepcopy(document), subject.other(judged, side))
    assert isinstance(answer["metadata"], dict)
    judged.bound.convert(answer, side)


def misfits(judged: subject.Subject, side: str) -> st.SearchStrategy[dict[str, Any]]:
    """A spec whose fields have the right names and any values."""
    names = sorted(judged.schema(side)["properties"]["spec"]["properties"])
    spec = st.dictionaries(st.sampled_from(names), anything(), max_size=4)
    return spec.map(lambda fields: {"metadata": {"name": "x"}, "spec": fields})


def anything() -> st.SearchStrategy[Any]:
    plain = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text("ab", max_size=2), st.just(1.5))
    inner = st.dictionaries(st.sampled_from(["key", "name", "x", "value"]), plain, max_size=2)
    return st.one_of(plain, st.lists(st.one_of(plain, inner), max_size=2), inner)
