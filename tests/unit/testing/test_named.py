"""Labels and annotations that rules name are values of the object: drawn, changed, compared and covered like others."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.unit.conversion import subject

import instar.conversion as conversion
from instar.conversion import rules
from instar.testing import cases, gathering, intent, lawbook, snapshot, twin

LABEL = "/metadata/labels/team"
OLD = {"type": "object", "properties": {"a": {"type": "integer"}}}
TEAM = {"type": "string", "maxLength": 63, "pattern": "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"}
NEW = {"type": "object", "properties": {"a": {"type": "integer"}, "team": TEAM}}


@pytest.fixture
def of() -> twin.Twin:
    spoke = conversion.Spoke(version="old", rules=(rules.Move(spoke=LABEL, hub="/spec/team"),))
    whole = conversion.Conversion(group=subject.GROUP, kind="Thing", hub="new", spokes=(spoke,))
    return twin.Twin(conversion.bind(whole, subject.crd({"old": OLD, "new": NEW})))


def thing(version: str, spec: dict[str, Any], **labels: str) -> dict[str, Any]:
    document = subject.thing(version, spec)
    return {**document, "metadata": {**document["metadata"], "labels": labels}} if labels else document


def test_a_label_is_converted_and_is_no_breach_of_the_frame(of: twin.Twin) -> None:
    """L7 is about all other metadata; a label that nobody named stays."""
    case = cases.Case(kind="whole", origin="", object=thing("old", {"a": 1}, team="blue", app="x"))
    there = of.convert(of.written(case.object), "new")
    assert there["spec"]["team"] == "blue"
    assert there["metadata"]["labels"] == {"app": "x"}
    assert [found for law in lawbook.LAWS if "whole" in law.kinds for found in law.check(of, case)] == []


def test_labels_are_drawn_spanned_and_changed(of: twin.Twin) -> None:
    found = list(gathering.gather(of, gathering.Sources(examples=60)))
    named = [case for case in found if "team" in ((case.object.get("metadata") or {}).get("labels") or {})]
    assert {case.kind for case in named} >= {"whole", "partial"}
    assert any(case.change is not None and case.change.path[0] == "metadata" for case in found)
    assert all(case.change is None or case.change.path[0] != "metadata" or len(case.change.path) == 3 for case in found)


def test_an_edit_of_a_label_is_made_where_there_was_none(of: twin.Twin) -> None:
    change = cases.Change(version="old", path=("metadata", "labels", "team"), value="red")
    case = cases.Case(kind="edited", origin="", object=thing("new", {"team": "blue"}), change=change)
    assert [found for law in lawbook.LAWS if "edited" in law.kinds for found in law.check(of, case)] == []
    bare = cases.changed(subject.thing("old", {}), change)
    assert bare is not None
    assert bare["metadata"]["labels"] == {"team": "red"}


def test_intent_is_asked_for_the_label_at_its_own_version_only(of: twin.Twin) -> None:
    pair = intent.Golden(
        origin="g", source=thing("old", {"a": 1}, team="blue"), target=thing("new", {"a": 1, "team": "blue"})
    )
    assert list(intent.judge(of, pair)) == []
    assert list(intent.missing(of, [pair])) == []
    less = dataclasses.replace(pair, source=thing("old", {"a": 1}))
    assert [found.path for found in intent.missing(of, [less])] == [LABEL]


def test_a_label_of_the_other_version_is_carried(of: twin.Twin) -> None:
    """At new it is somebody's own label, for which old has another meaning."""
    assert ("new", "old", "values", LABEL) in set(snapshot.carried(of, thing("new", {"a": 1}, team="mine")))
