"""Three versions: spoke to spoke through the hub, and what is carried for a version passes through the others."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws import lossy, model, subject

from instar.testing import edits

VERSIONS = ("zero", "one", "two")
START = pytest.mark.parametrize("start", VERSIONS)


def three(data: st.DataObject) -> subject.Subject:
    return subject.with_third(data.draw(lossy.nodes(depth=1)), poor=data.draw(st.booleans()))


@START
@subject.many(100)
@given(st.data())
def test_every_way_leads_back(start: str, data: st.DataObject) -> None:
    """Whichever versions an object is read and written at, unedited, it comes back the same."""
    judged = three(data)
    before = judged.drawn(data, start)
    document = before
    for stop in [*data.draw(st.lists(st.sampled_from(VERSIONS), min_size=1, max_size=5)), start]:
        if stop != subject.version_of(document):
            document = judged.move(judged.write(document), stop)
    judged.assert_same(document, before)


@pytest.mark.parametrize(("start", "stored", "read"), list(itertools.permutations(VERSIONS)))
@subject.many(60)
@given(st.data())
def test_where_it_is_stored_does_not_show(start: str, stored: str, read: str, data: st.DataObject) -> None:
    """A new object reads the same at every version, whichever version stores it."""
    judged = three(data)
    before = judged.drawn(data, start)
    judged.assert_same(judged.move(judged.move(before, stored), read), judged.move(before, read))


@pytest.mark.parametrize(("start", "there"), list(itertools.permutations(VERSIONS, 2)))
@subject.many(60)
@given(st.data())
def test_an_edit_wins_at_every_version(start: str, there: str, data: st.DataObject) -> None:
    """What was written at one version is read there again, after a detour through all the others."""
    judged = three(data)
    seen = judged.move(judged.drawn(data, start), there)
    changed = judged.write(edits.apply_all(seen, data.draw(edits.several(seen, judged.schema(there)))))
    document: dict[str, Any] = changed
    for stop in (*(version for version in VERSIONS if version != there), there):
        document = judged.move(document, stop)
    judged.assert_same(document, changed)


@START
@subject.many(60)
@given(st.data())
def test_third_versions_entries_pass(start: str, data: st.DataObject) -> None:
    """What is carried for a version that a conversion does not touch stays letter by letter, unknown ones too."""
    judged = three(data)
    before = judged.drawn(data, start)
    key = f"carried.{lossy.DOMAIN}/v9.0123456789abcdef"
    before["metadata"].setdefault("annotations", {})[key] = '[1,"whatever"]'
    for stop in VERSIONS:
        if stop != start:
            moved = judged.move(before, stop)
            assert moved["metadata"]["annotations"][key] == '[1,"whatever"]'
            assert model.same(judged.stripped(judged.move(moved, start)), judged.stripped(before))
