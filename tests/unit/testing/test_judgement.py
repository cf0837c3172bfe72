"""The laws of a whole run: golden pairs, the snapshot of carried paths, and what is declared."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.unit.conversion import subject

import instar.conversion as conversion
from instar import errors
from instar.testing import allowing, cases, files, gathering, intent, snapshot, twin

INTEGER = {"type": "integer"}
OLD = {"type": "object", "properties": {"a": INTEGER, "o": INTEGER}}
NEW = {"type": "object", "properties": {"b": INTEGER, "n": INTEGER}}
TODAY = datetime.date(2026, 6, 30)


def renamed(old: str, new: str) -> Any:
    def convert(obj: Any) -> Any:
        spec = obj.get("spec")
        if spec and old in spec:
            if spec[old] == 13:
                raise conversion.Unconvertible(f"spec.{old}", 13, "is unlucky")
            spec[new] = spec.pop(old)
        return obj

    return convert


RENAMING = subject.bound({"old": OLD, "new": NEW}, renamed("a", "b"), renamed("b", "a"))
EMPTY = subject.bound({"old": OLD, "new": NEW}, lambda obj: obj, lambda obj: obj)


def golden(old: Any, new: Any, back: Any = None, origin: str = "g.yaml") -> intent.Golden:
    third = None if back is None else subject.thing("old", back)
    return intent.Golden(origin=origin, source=subject.thing("old", old), target=subject.thing("new", new), back=third)


def places(bound: Any, pair: intent.Golden) -> list[tuple[str, str, str]]:
    return [(found.source, found.target, found.path) for found in intent.judge(twin.Twin(bound), pair)]


def test_a_converter_that_only_changes_the_version_fails_intent() -> None:
    """It obeys every other law, for all is carried."""
    pair = golden({"a": 1}, {"b": 1})
    assert places(RENAMING, pair) == []
    assert places(EMPTY, pair) == [("old", "new", "/spec/b"), ("new", "old", "/spec/a")]


def test_a_third_document_says_what_comes_back() -> None:
    assert places(RENAMING, golden({"a": 1, "o": 2}, {"b": 1})) == [("new", "old", "/spec/o")]
    assert places(RENAMING, golden({"a": 1, "o": 2}, {"b": 1}, {"a": 1})) == []


def edit(new: Any, merge: Any, after: Any) -> intent.Golden:
    before, then = subject.thing("new", new), subject.thing("new", after)
    return intent.Golden(origin="g.yaml", source=before, back=then, edited_at="old", edit={"spec": merge})


def test_an_edit_says_what_the_object_is_after_it() -> None:
    """Changed, added and removed at the other version; what that version cannot say stays, unless it is grouped."""
    before = {"b": 1, "n": 2}
    assert places(RENAMING, edit(before, {"a": 7}, {"b": 7, "n": 2})) == []
    assert places(RENAMING, edit(before, {"a": None}, {"n": 2})) == []
    assert places(RENAMING, edit({"n": 2}, {"a": 7, "o": 1}, {"b": 7, "n": 2})) == []
    assert places(RENAMING, edit(before, {"a": 7}, {"b": 7})) == [("old", "new", "/spec/n")]
    group = conversion.Group(version="new", paths=("/spec/b", "/spec/n"))
    to_new, to_old = renamed("a", "b"), renamed("b", "a")
    grouped = subject.bound({"old": OLD, "new": NEW}, to_new, to_old, groups=(group,))
    assert places(grouped, edit(before, {"a": 7}, {"b": 7})) == []


def test_an_edit_that_fails_shows_what_was_there_before() -> None:
    (found,) = intent.judge(twin.Twin(RENAMING), edit({"b": 1}, {"a": 13}, {"b": 13}))
    assert (found.path, [title for title, _ in found.shown]) == ("/spec/a", ["at new", "edited at old"])
    (unread,) = intent.judge(twin.Twin(RENAMING), edit({"b": 13}, {"a": 1}, {"b": 1}))
    assert (unread.source, unread.target, [title for title, _ in unread.shown]) == ("new", "old", ["at new"])


def test_a_pair_that_is_not_valid_is_a_finding() -> None:
    """A mistake in the pair is not to pass for one in the converter."""
    (found,) = intent.judge(twin.Twin(RENAMING), golden({"a": "text"}, {"b": 1}))
    assert found.problem.startswith("is not valid at old: .spec.a")


@pytest.mark.parametrize(
    ("value", "words", "problem"),
    [
        (13, "spec.a: 13: is unlucky", None),
        (13, "is lucky", "is refused in other words"),
        (12, "", "is to be refused, and converts"),
    ],
)
def test_what_is_to_be_refused(value: int, words: str, problem: str | None) -> None:
    pair = intent.Golden(origin="g", source=subject.thing("old", {"a": value}), refused_at="new", refused_with=words)
    found = [finding.problem for finding in intent.judge(twin.Twin(RENAMING), pair)]
    assert [text.split(":")[0] for text in found] == ([problem] if problem else [])


def test_every_leaf_is_in_some_pair() -> None:
    found = list(intent.missing(twin.Twin(RENAMING), [golden({"a": 1}, {"b": 1, "n": 1})]))
    assert [(finding.source, finding.path) for finding in found] == [("old", "/spec/o")]
    assert [finding.problem[:25] for finding in intent.missing(twin.Twin(RENAMING), [])] == [
        "there are no golden pairs"
    ]


# --- the snapshot -----------------------------------------------------------------------------------------------------

CARRIED = {("old", "new", "values", "/spec/o"), ("new", "old", "values", "/spec/n")}


def test_the_survey_finds_what_is_carried() -> None:
    assert set(snapshot.survey(twin.Twin(RENAMING), ())) == CARRIED


def test_a_field_that_is_no_longer_converted_is_new_in_the_snapshot() -> None:
    """The fault that no other law sees: the old version's clients do not see the field any more."""
    fixed = snapshot.survey(twin.Twin(EMPTY), ())
    found = [finding.path for finding in snapshot.judge(frozenset(CARRIED), fixed, {})]
    assert found == ["/spec/b", "/spec/a"]


def test_a_place_that_is_carried_no_more_is_a_finding() -> None:
    more = frozenset({*CARRIED, ("old", "new", "orders", "/spec/list")})
    (found,) = snapshot.judge(more, snapshot.survey(twin.Twin(RENAMING), ()), {})
    assert "the order of /spec/list is in the snapshot, and no object carries it any more" in found.problem


def test_a_place_that_only_a_drawn_object_shows_asks_for_that_object() -> None:
    met = {("old", "new", "absences", "/spec/rare"): "drawn 7 at old, seed 3"}
    (found,) = snapshot.judge(frozenset(), {}, met)
    assert "drawn 7 at old, seed 3" in found.problem
    assert "put this object into the corpus first" in found.problem


def test_a_snapshot_is_read_as_it_was_written(tmp_path: Path) -> None:
    files.write(tmp_path / "carried.yaml", snapshot.document("g", "Thing", CARRIED))
    assert files.read_snapshot(tmp_path / "carried.yaml") == CARRIED
    assert files.read_snapshot(tmp_path / "none.yaml") is None
    (tmp_path / "carried.yaml").write_text("kind: Other\n")
    with pytest.raises(errors.UsageError, match=r"carried\.yaml: kind is 'Other', not CarriedPaths; write it anew"):
        files.read_snapshot(tmp_path / "carried.yaml")


# --- declarations -----------------------------------------------------------------------------------------------------


def allowance(**known: Any) -> allowing.Allowance:
    return allowing.Allowance(**{"path": "/spec/a", "reason": "known", "expires": "2027-01-01", **known})


def finding(law: str = "L1", place: str = "/spec/a", source: str = "old", target: str = "new") -> cases.Finding:
    return cases.Finding(law=law, path=place, place=place, problem="", source=source, target=target)


@pytest.mark.parametrize(
    ("known", "found", "covered"),
    [
        ({}, finding(), True),
        ({}, finding(place="/spec/a/b"), True),
        ({}, finding(place="/spec/a[]/b"), True),
        ({}, finding(place="/spec/ab"), False),
        ({}, finding(law="L8"), False),
        ({"laws": ("L8",)}, finding(law="L8"), True),
        ({"source": "new"}, finding(), False),
        ({"source": "old", "target": "new"}, finding(), True),
    ],
)
def test_what_a_declaration_covers(known: Any, found: cases.Finding, covered: bool) -> None:
    assert allowing.covers(allowance(**known), found) is covered


@pytest.mark.parametrize(
    ("known", "used", "words"),
    [
        ({}, {0}, []),
        ({}, set(), ["is declared and no object shows it"]),
        ({"expires": "2026-06-30"}, {0}, ["expired on 2026-06-30"]),
        ({"expires": "soon"}, {0}, ["expires 'soon', which is no day"]),
        ({"reason": " "}, {0}, ["has no reason"]),
    ],
)
def test_what_is_wrong_with_a_declaration(known: Any, used: set[int], words: list[str]) -> None:
    found = [entry.problem for entry in allowing.judge(twin.Twin(RENAMING), [allowance(**known)], used, TODAY)]
    assert len(found) == len(words)
    assert all(word in text for word, text in zip(words, found, strict=True))


def test_a_droppable_leaf_whose_day_has_come() -> None:
    leaf = conversion.Droppable(version="new", path="/spec/n", reason="small", expires="2026-01-01")
    bound = subject.bound({"old": OLD, "new": NEW}, renamed("a", "b"), renamed("b", "a"), droppable=(leaf,))
    (found,) = allowing.judge(twin.Twin(bound), [], set(), TODAY)
    assert found.problem.startswith("droppable /spec/n of new: expired on 2026-01-01")


# --- files ------------------------------------------------------------------------------------------------------------


def documents(*found: Any) -> str:
    return yaml.safe_dump_all(found)


def test_a_corpus_has_the_objects_of_its_kind(tmp_path: Path) -> None:
    """Lists, several documents, folders; other kinds are passed over."""
    (tmp_path / "below").mkdir()
    one, other = subject.thing("old", {"a": 1}), subject.thing("new", {"b": 2})
    listed = {"apiVersion": "v1", "kind": "List", "items": [one, {"kind": "Secret", "apiVersion": "v1"}]}
    (tmp_path / "a.yaml").write_text(documents(listed, None, {"kind": "Namespace"}))
    (tmp_path / "below" / "b.json").write_text(yaml.safe_dump(other, default_flow_style=True))
    (tmp_path / "notes.txt").write_text("{")
    found = files.corpus([tmp_path], RENAMING.conversion)
    assert [source.object for source in found] == [one, other]
    assert found[0].origin == f"corpus {tmp_path / 'a.yaml'} #1"


def test_a_date_without_quotes_is_text(tmp_path: Path) -> None:
    """As it is to Kubernetes; and 1e3 is a number."""
    assert files.documents("a: 2024-02-29\nb: 2024-02-29T00:00:00Z\nc: 1.0\n", "x") == [
        {"a": "2024-02-29", "b": "2024-02-29T00:00:00Z", "c": 1}
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [\n", "f.yaml:2: no YAML"),
        (documents(subject.thing("old", {})), "a golden pair is two documents, or three"),
        (
            documents(subject.thing("old", {}), {"edited": {"version": "new"}}, subject.thing("old", {})),
            "expected edited: {version: ..., merge: {...}}, of another version than the Things before and after it",
        ),
        (
            documents(subject.thing("old", {}), {"edited": {"version": "new", "merge": {}}}, subject.thing("new", {})),
            "of another version than the Things",
        ),
        (
            documents(subject.thing("old", {}), {"edited": {"version": "old", "merge": {}}}, subject.thing("old", {})),
            "of another version than the Things",
        ),
        (documents(subject.thing("old", {}), subject.thing("old", {})), "expected two versions"),
        (documents(subject.thing("old", {}), {"kind": "Other"}), "f.yaml #2: not a Thing of acme.io"),
        (documents(subject.thing("old", {}), subject.thing("older", {})), "version 'older' is none of the conversion"),
        (documents(subject.thing("old", {}), {"refused": {"version": "v9"}}), "expected refused: {version"),
    ],
)
def test_a_golden_pair_that_is_none(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text(text)
    with pytest.raises(errors.UsageError) as caught:
        files.goldens(tmp_path, RENAMING.conversion)
    assert words in caught.value.message
    assert str(tmp_path / "f.yaml") in caught.value.message


def test_gathering_is_the_same_for_a_seed() -> None:
    """Whatever ran before: each case has a chance of its own."""
    of = twin.Twin(RENAMING)
    first = list(gathering.gather(of, gathering.Sources(examples=20, seed=1)))
    assert first == list(gathering.gather(of, gathering.Sources(examples=20, seed=1)))
    assert first != list(gathering.gather(of, gathering.Sources(examples=20, seed=2)))
    assert {case.kind for case in first} == {"whole", "edited", "partial", "odd", "batch"}
