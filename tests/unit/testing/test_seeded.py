"""Edits from a seed: the same in every process, of every kind, and such that the API server would take them."""

from __future__ import annotations

import collections
import random
import subprocess
import sys
from typing import Any

from tests.laws import model
from tests.laws.test_testing import ROOT

from instar.testing import acts, edits, sources

KINDS = {
    *("add", "set", "delete", "replace", "clear", "append", "insert", "remove", "reorder", "set item"),
    *("rename item", "duplicate", "add key", "rename key"),
}


def test_edits_from_a_seed_keep_to_the_schema() -> None:
    """A long life under edits, each valid; every kind occurs, and values like 2^53+1 and / in keys."""
    source = sources.Seeded(random.Random(1))
    document: dict[str, Any] = {"spec": source.value(ROOT["properties"]["spec"])}
    seen: collections.Counter[str] = collections.Counter()
    for _ in range(1500):
        edit = edits.choose(source, document, ROOT)
        if edit is not None:
            seen[edit.kind] += 1
            document = edits.apply(document, edit)
            assert list(model.problems(ROOT, document)) == []
    assert seen.keys() == KINDS


def test_within_a_path() -> None:
    """``within`` keeps edits at or under a place."""
    source = sources.Seeded(random.Random(2))
    document: dict[str, Any] = {"spec": {"count": 1, "tags": ["a", "b"], "free": {"x": 1}}}
    for _ in range(50):
        edit = edits.choose(source, document, ROOT, within=("spec", "tags"))
        assert edit is None or edit.path[:2] == ("spec", "tags")


PROGRAM = """
import random
from instar.testing import sources
source = sources.Seeded(random.Random(3))
text = {"type": "string", "pattern": "^[a-f]{1,4}$"}
schema = {"type": "object", "properties": {"s": text, "i": {"type": "integer"}}}
print(repr([source.value(schema) for _ in range(20)]), source.key())
"""


def test_a_seed_means_the_same_in_every_process() -> None:
    """Whatever the hash seed, and whatever modules are loaded: their constants are no values of ours."""
    loaded = "import tests.laws.lossy, tests.laws.test_testing\n"
    runs = [
        subprocess.run(
            [sys.executable, "-c", before + PROGRAM], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for before, seed in (("", "1"), ("", "2"), (loaded, "3"))
    ]
    assert runs[0] == runs[1] == runs[2]


def test_a_story_is_reduced_act_by_act_and_edit_by_edit() -> None:
    """The candidates: half of the acts, one act, one edit of several, one field of what is created."""
    one, two = (edits.Edit(kind="set", path=("spec", name), value=1) for name in ("a", "b"))
    create = acts.Create(version="v1", body={"spec": {"a": 1}})
    write = acts.Write(version="v1", verb="put", edits=(one, two))
    touch = acts.Touch(version="v1", verb="put")
    found = acts.smaller([create, write, touch])
    assert (create, touch) in found
    assert (create, acts.Write(version="v1", verb="put", edits=(two,)), touch) in found
    assert (acts.Create(version="v1", body={"spec": {}}), write, touch) in found
    assert all(len(story) <= 3 for story in found)
