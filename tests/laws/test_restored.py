"""Restoring too little is loss: of what an edit did not touch and a converter loses, not one in 10,000 may be dropped.

What an edit touched is known apart from the framework (lossy.py): the fields of a piece depend on that piece alone, and
where a piece has parts with names (items by key), a part on the part of its name. Counted is what reads the same after
the edit as before it and would not come back by the author's functions. ``INSTAR_SEED`` draws others.
"""

from __future__ import annotations

import collections
import dataclasses
import os
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from tests.laws import lossy, model, subject

from instar.testing import edits

SEED = int(os.environ.get("INSTAR_SEED", "1"))
ENOUGH, KINDS, EDITS = 10_000, 25, 5
Name = tuple[Any, ...]


@dataclasses.dataclass(kw_only=True)
class Count:
    """By kind of piece: how much was carried and not touched, and what of it was dropped."""

    carried: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    dropped: list[str] = dataclasses.field(default_factory=list)

    def add(self, data: st.DataObject) -> None:
        """One object, and edits of it at the other version, each by itself."""
        node, side = data.draw(lossy.nodes()), data.draw(st.sampled_from(["one", "two"]))
        judged = subject.of_node(node)
        away = subject.other(judged, side)
        before = judged.drawn(data, side)
        there = judged.move(before, away)
        for _ in range(EDITS):
            made = data.draw(edits.several(there, judged.schema(away)))
            changed = judged.write(edits.apply_all(there, made))
            if list(model.problems(judged.schema(away), changed)) == []:
                self._judge(judged, node, before, there, changed)

    def _judge(self, judged: subject.Subject, node: lossy.Node, before: Any, there: Any, changed: Any) -> None:
        side, away = subject.version_of(before), subject.version_of(there)
        own, alone, after = (
            dict(parts(node, side, one)) for one in (before, judged.bare(changed, side), judged.move(changed, side))
        )
        seen, now = (dict(parts(node, away, one)) for one in (there, changed))
        for name in own.keys() & seen.keys() & now.keys():
            if not model.same(seen[name], now[name]) or model.same(own[name], alone.get(name, {})):
                continue
            self.carried[name[1]] += 1
            if not model.same(own[name], after.get(name, {})):
                self.dropped.append(f"{name}: {own[name]} -> {after.get(name)}\n{before}\n{there}\n{changed}")


def parts(node: lossy.Node, side: str, document: Any) -> Iterator[tuple[Name, Any]]:
    """Each piece and each part of one with a name, by place and kind."""
    for place, piece, fields in lossy.instances(node, side, document.get("spec")):
        name = (place, piece.kind, *piece.one)
        yield name, fields
        if piece.items is not None:
            items = piece.items[0 if side == "one" else 1](fields)
            yield from (((place, f"{piece.kind}: an item", *piece.one, key), item) for key, item in items.items())


def count(examples: int, seed: int) -> Count:
    counted = Count()

    @hypothesis.seed(seed)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(st.data())
    def add(data: st.DataObject) -> None:
        counted.add(data)

    add()
    return counted


def test_what_no_edit_touched_is_not_dropped() -> None:
    """In some hundreds of random conversions: none."""
    counted = count(150, SEED)
    assert counted.carried.total() > 200
    assert counted.dropped == []


@pytest.mark.soak
def test_at_most_one_in_ten_thousand_is_dropped() -> None:
    """Over 10,000 carried leaves of at least 25 kinds; prints how many of each there were."""
    counted, seed = Count(), SEED
    while counted.carried.total() < ENOUGH or len(counted.carried) < KINDS:
        more = count(500, seed)
        counted.carried.update(more.carried)
        counted.dropped += more.dropped
        seed += 1
    said = f"{len(counted.dropped)} of {counted.carried.total()} dropped, {len(counted.carried)} kinds"
    print(said, dict(counted.carried.most_common()))  # noqa: T201
    assert len(counted.dropped) * 10_000 <= counted.carried.total(), "\n\n".join(counted.dropped)
