"""The same bytes in give the same bytes out: in another process, under another hash seed, in any order of keys."""

from __future__ import annotations

import copy
import hashlib
import os
import pathlib
import random
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws import lossy, stories, subject
from tests.laws.test_exactness import SIDES

from instar import errors
from instar.model import gojson

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = """
import sys
from tests.laws import test_purity
print(test_purity.digest(sys.argv[1]))
"""


def digest(name: str) -> str:
    """One number for what an example makes of sixty objects, there and back, keys in the order they come in."""
    judged = subject.of_example(name)
    whole = hashlib.sha256()
    for story in stories.tell(name, judged.crd, 60, seed=7):
        there = judged.bound.convert(copy.deepcopy(story.created), story.there)
        back = judged.bound.convert(copy.deepcopy(there), story.here)
        whole.update(repr((there, back)).encode() + gojson.encode(there))
    return whole.hexdigest()


@pytest.mark.parametrize("name", ["tenant", "widget"])
def test_the_same_bytes_in_every_process(name: str) -> None:
    """Another process with another PYTHONHASHSEED converts to the same bytes, key order included."""
    found = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM, name],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("0", "1", "4711")
    }
    assert len(found) == 1, found


def shuffled(value: Any, chance: random.Random) -> Any:
    """The same JSON with the keys of every map in another order."""
    if isinstance(value, dict):
        names = list(value)
        chance.shuffle(names)
        return {name: shuffled(value[name], chance) for name in names}
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


@SIDES
@subject.many(60)
@given(st.data())
def test_key_order_does_not_matter(side: str, data: st.DataObject) -> None:
    """However the keys of an object are ordered, and again after another object, the answer is the same."""
    judged = subject.of_node(data.draw(lossy.nodes()))
    document = judged.drawn(data, side)
    away = subject.other(judged, side)
    first = gojson.encode(judged.bound.convert(copy.deepcopy(document), away))
    judged.bound.convert({"apiVersion": f"{lossy.GROUP}/{away}", "kind": lossy.KIND, "metadata": {}}, side)
    mixed = shuffled(document, data.draw(st.randoms(use_true_random=False)))
    assert gojson.encode(judged.bound.convert(mixed, away)) == first


@SIDES
@subject.many(60)
@given(st.data())
def test_an_annotation_budget_is_kept_or_said(side: str, data: st.DataObject) -> None:
    """Among 255 KiB of other annotations all of ours fit, or an error says object, limit and path; never too many."""
    judged = subject.of_node(data.draw(lossy.nodes()))
    document = judged.drawn(data, side)
    room = data.draw(st.sampled_from([0, 100, 1000]))
    document["metadata"].setdefault("annotations", {})["note"] = "x" * (262144 - room - 4)
    answer, refusal = answered(judged, document, subject.other(judged, side))
    if refusal:
        assert all(word in refusal for word in ("one", "262144", "/spec"))
    elif judged.carried(answer):
        notes = answer["metadata"]["annotations"]
        assert sum(len(name.encode()) + len(value.encode()) for name, value in notes.items()) <= 262144


def answered(judged: subject.Subject, document: dict[str, Any], to: str) -> tuple[dict[str, Any], str]:
    """The converted object, or why there is none."""
    try:
        return judged.bound.convert(document, to), ""
    except errors.ConversionError as error:
        return {}, error.message
