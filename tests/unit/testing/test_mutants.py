"""Mutants are what somebody would get wrong; each is caught or named, within its own time."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from tests.unit.conversion import subject

import instar.conversion as conversion
from instar.conversion import rules
from instar.testing import gathering, intent, killing, mutants, mutating, proving, rule_mutating

SOURCE = '''
"""Docstring."""
from instar.conversion import Conversion, Spoke, Unconvertible

TABLE = {"a": 1, "b": 5}

def to_new(obj: "dict"):
    """Not me."""
    spec = obj.get("spec")
    if spec is not None and "old" in spec:
        if spec["old"] < 0:
            raise Unconvertible("spec.old", spec["old"], "is below nothing")
        spec["new"] = spec.pop("old")
    return obj

conversion = Conversion(group="g", kind="K", hub="new", spokes=(Spoke(version="old"),))
'''


def names(source: str = SOURCE, fields: tuple[str, ...] = ("spec", "old", "new")) -> list[str]:
    return [mutant.name for mutant in mutating.mutants(source, "f.py", fields)]


@pytest.mark.parametrize(
    "name",
    [
        "TABLE: TABLE = {'a': 1, 'b': 5} -> TABLE = {'a': 2, 'b': 5}",
        "TABLE: TABLE = {'a': 1, 'b': 5} -> TABLE = {'b': 5}",
        "TABLE: 'a', 'b' -> 'b', 'a'",
        "to_new: spec = obj.get('spec') -> spec = obj.get('specx')",
        "to_new: spec is not None and 'old' in spec -> spec is None and 'old' in spec",
        "to_new: spec is not None and 'old' in spec -> spec is not None or 'old' in spec",
        "to_new: spec is not None and 'old' in spec -> spec is not None and 'old' not in spec",
        "to_new: spec['old'] < 0 -> spec['old'] <= 0",
        "to_new: spec['old'] < 0 -> spec['old'] < 1",
        "to_new: raise Unconvertible('spec.old', spec['old'], 'is below nothing') -> nothing",
        "to_new: spec['new'] = spec.pop('old') -> nothing",
        "to_new: spec['new'] = spec.pop('old') -> spec['newx'] = spec.pop('old')",
        "to_new: return obj -> nothing",
        "to_new: 'old', 'new' -> 'new', 'old'",
    ],
)
def test_what_is_changed(name: str) -> None:
    assert name in names()


def test_words_of_errors_docstrings_and_the_conversion_are_let_be() -> None:
    """Nothing but a text for people would change; the Conversion is checked when it is bound."""
    text = "\n".join(names())
    assert "below nothingx" not in text
    assert "Not mex" not in text
    assert "Docstring" not in text
    assert "versionx" not in text
    assert "dictx" not in text


def test_names_are_distinct_and_hold_no_lines() -> None:
    """They stand in the project file, and lines move."""
    assert len(names()) == len(set(names()))
    assert [mutant.name for mutant in mutating.mutants("\n\n" + SOURCE, "f.py", ("old", "new", "spec"))] == names()


def test_each_mutant_differs_and_the_source_is_left_as_it_was() -> None:
    found = list(mutating.mutants(SOURCE, "f.py", ("old", "new", "spec")))
    original = compile(SOURCE, "f.py", "exec")
    assert all(mutant.code != original for mutant in found)
    assert len({mutant.code for mutant in found}) == len(found)


INTEGER = {"type": "integer"}
SIZE = {"type": "string", "enum": ["s", "m"]}
OLD = {"type": "object", "properties": {"a": INTEGER, "b": INTEGER, "size": SIZE}}
NEW = {"type": "object", "properties": {"c": INTEGER, "b": INTEGER, "size": {"type": "string", "enum": ["S", "M"]}}}
RULES = (
    rules.Move(spoke="/spec/a", hub="/spec/c"),
    rules.Map(spoke="/spec/size", hub="/spec/size", values={"s": "S", "m": "M"}),
)


def by_rules(*given: Any) -> conversion.Bound:
    spoke = conversion.Spoke(version="old", rules=given)
    whole = conversion.Conversion(group=subject.GROUP, kind="Thing", hub="new", spokes=(spoke,))
    return conversion.bind(whole, subject.crd({"old": OLD, "new": NEW}))


def settings(*pairs: tuple[Any, Any]) -> proving.Settings:
    goldens = tuple(
        intent.Golden(origin=f"g{number}", source=subject.thing("old", old), target=subject.thing("new", new))
        for number, (old, new) in enumerate(pairs)
    )
    return proving.Settings(sources=gathering.Sources(examples=20), golden=goldens)


def test_each_declaration_is_left_out_and_each_member_of_a_group() -> None:
    """A group that nothing asks for is one that nobody would miss; of two members, one alone is no group."""
    two, three = ("/spec/a", "/spec/b"), ("/spec/a", "/spec/b", "/spec/size")
    whole = dataclasses.replace(
        by_rules(*RULES).conversion,
        groups=(conversion.Group(version="old", paths=two), conversion.Group(version="old", paths=three)),
        normalised=(conversion.Normalised(version="old", path="/spec/a", by=abs),),
        sensitive=(conversion.Sensitive(version="old", path="/spec/b"),),
    )
    bound = conversion.bind(whole, by_rules(*RULES).crd)
    found = {mutant.name: mutant.make() for mutant in mutants.of(bound) if "rules[" not in mutant.name}
    members = [f"groups[1]: {path} left out" for path in three]
    assert list(found) == [
        *("groups[0]: left out", "groups[1]: left out", *members),
        *("normalised[0]: left out", "sensitive[0]: left out"),
    ]
    assert found["groups[0]: left out"].groups == whole.groups[1:]
    assert found["groups[1]: /spec/b left out"].groups[1].paths == ("/spec/a", "/spec/size")
    assert found["normalised[0]: left out"].normalised == ()


@pytest.mark.parametrize(
    "text",
    [
        "old: rules[0] (move): left out",
        "old: rules[0] (move).hub: '/spec/c' -> '/spec/cx'",
        "old: rules[1] (map).values[0]: left out",
        "old: rules[1] (map).values[1].hub: 'M' -> 'Mx'",
        "old: rules[1] (map).values[0].hub <-> [1].hub",
        "old: rules[0].spoke '/spec/a' <-> rules[1].spoke '/spec/size'",
    ],
)
def test_what_is_changed_in_rules(text: str) -> None:
    spoke = conversion.Spoke(version="old", rules=RULES)
    found = {name: changed for name, _, changed in rule_mutating.changes(spoke)}
    assert text in found
    assert found[text] != RULES


def test_rules_within_rules_are_changed_too() -> None:
    inner = rules.Each(spoke="/spec/l[]", hub="/spec/l[]", rules=(rules.Move(spoke="/x", hub="/y"),))
    found = [name for name, _, _ in rule_mutating.changes(conversion.Spoke(version="old", rules=(inner,)))]
    assert "old: rules[0] (each).rules[0].spoke: '/x' -> '/xx'" in found


def test_every_mutant_of_rules_is_caught() -> None:
    """The data that one pair says nothing of is what lives; with both sizes said, nothing does."""
    full = settings(({"a": 1, "b": 2, "size": "s"}, {"c": 1, "b": 2, "size": "S"}))
    score = killing.judge(by_rules(*RULES), full, {})
    assert [fate.name for fate in score.fates if fate.outcome != "caught"] == []
    assert score.caught == len(score.fates) > 10
    assert score.holds


def test_a_mutant_that_lives_and_one_that_is_declared(tmp_path: Path) -> None:
    """Without pairs a swap of two values changes nothing that a law sees."""
    name = "old: rules[1] (map).values[0].hub <-> [1].hub"
    assert outcome(killing.judge(by_rules(*RULES), settings(), {}), name) == "survived"
    score = killing.judge(by_rules(*RULES), settings(), {name: "tried"})
    assert outcome(score, name) == "equivalent"


def test_a_declaration_that_does_not_fit() -> None:
    """One that is caught, and one that is there no more: both are to be taken out."""
    pairs = settings(({"size": "s"}, {"size": "S"}), ({"a": 1}, {"c": 1}))
    caught = "old: rules[0] (move): left out"
    score = killing.judge(by_rules(*RULES), pairs, {caught: "why", "old: rules[9]: left out": "why"})
    assert outcome(score, caught) == outcome(score, "old: rules[9]: left out") == "stale"
    assert not score.holds


def outcome(score: killing.Score, name: str) -> str:
    return next(fate.outcome for fate in score.fates if fate.name == name)


LOOPING = """
def to_new(obj):
    spec = obj.get("spec") or {}
    while spec.get("a", 0) > 9:
        spec["a"] = spec["a"] - 9
    return obj

def from_new(obj):
    return obj
"""


def test_a_conversion_that_does_not_end_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement left out of a loop: each mutant has an end."""
    monkeypatch.setattr(killing, "STUCK_SECONDS", 1)
    file = tmp_path / "looping.py"
    file.write_text(LOOPING)
    names_: dict[str, Any] = {}
    exec(compile(LOOPING, str(file), "exec"), names_)
    bound = subject.bound({"old": OLD, "new": OLD}, names_["to_new"], names_["from_new"])
    wanted = "to_new: spec['a'] = spec['a'] - 9 -> nothing"
    score = killing.judge(bound, settings(({"a": 1}, {"a": 1}), ({"a": 10}, {"a": 1})), {})
    fate = next(fate for fate in score.fates if fate.name == wanted)
    assert (fate.outcome, fate.reason) == ("caught", "a conversion does not end")
    assert (fate.file, fate.line) == (str(file), 5)
