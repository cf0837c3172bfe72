"""A run: the same for a seed, small objects, few of them, and the examples of the repository are proved."""

from __future__ import annotations

import dataclasses
import datetime
import subprocess
import sys
from typing import Any

import pytest
from tests.unit.conversion import subject
from tests.unit.testing import broken

from instar.cli import project
from instar.testing import allowing, gathering, killing, mutants, proving

EXAMPLES = sorted(path.parent.name for path in (subject.ROOT / "examples").glob("*/conversion.*"))
INTEGER = {"type": "integer"}
SPEC = {"type": "object", "properties": {"a": INTEGER, "b": INTEGER, "c": {"type": "string"}}}
LOSING = broken.as_(broken.CarriesNothing, subject.losing(SPEC, "b"))
FEW = proving.Settings(sources=gathering.Sources(examples=60))


def plain(report: proving.Report) -> Any:
    return dataclasses.replace(report, seconds=0, slowest_seconds=0)


def test_the_same_seed_gives_the_same_report() -> None:
    assert plain(proving.prove(LOSING, FEW)) == plain(proving.prove(LOSING, FEW))


def test_the_smallest_object_is_shown() -> None:
    """Nothing but the leaf that is lost."""
    report = proving.prove(LOSING, FEW)
    (found,) = (verdict for verdict in report.verdicts if verdict.name == "L1")
    first = found.findings[0]
    assert (first.path, first.source, first.target) == ("/spec/b", "new", "old")
    assert first.shown[0][1]["spec"] == {"b": 0}
    assert found.more > 0
    assert not report.holds


def test_a_waived_finding_is_none_until_its_day() -> None:
    allowance = allowing.Allowance(path="/spec/b", reason="known", expires="2027-01-01")
    declared = dataclasses.replace(FEW, allowances=(allowance,), today=datetime.date(2026, 1, 1))
    late = dataclasses.replace(declared, today=datetime.date(2027, 1, 1))
    found = {verdict.name: verdict for verdict in proving.prove(LOSING, declared).verdicts}
    assert (found["L1"].findings, found["L13"].findings) == ((), ())
    assert found["L1"].waived > 0
    found = {verdict.name: verdict for verdict in proving.prove(LOSING, late).verdicts}
    assert found["L1"].findings
    assert found["L13"].findings


def test_a_law_without_a_case_was_not_asked() -> None:
    """It does not say that it holds."""
    none = dataclasses.replace(FEW, sources=gathering.Sources(examples=0))
    unspanned = subject.bound({"old": SPEC, "new": SPEC}, lambda obj: obj, lambda obj: obj)
    found = {verdict.name: verdict for verdict in proving.prove(unspanned, none).verdicts}
    assert found["L1"].asked
    assert found["L10"].asked == (found["L10"].checks > 0)


def test_rules_in_cel_are_named_as_not_judged() -> None:
    spec = {**SPEC, "x-kubernetes-validations": [{"rule": "self.a > 0"}]}
    report = proving.prove(subject.losing(spec, "b"), FEW)
    assert any("CEL rules at 1 places are not evaluated" in note for note in report.notes)


def test_coverage_names_what_no_object_had() -> None:
    """A pattern that cannot be drawn is a leaf that was not met: said, not hidden."""
    spec = {"type": "object", "properties": {"a": INTEGER, "odd": {"type": "string", "pattern": "(?=x)y"}}}
    report = proving.prove(subject.losing(spec, "b"), FEW)
    assert {pair.unmet for pair in report.coverage} == {("/spec/odd",)}


# --- the examples -----------------------------------------------------------------------------------------------------


def proof(name: str, **known: Any) -> tuple[project.Entry, proving.Settings]:
    (entry,) = project.read(subject.ROOT / "examples" / name)
    sources = gathering.Sources(real=entry.real, **known)
    today = datetime.date(2026, 12, 1)
    found = {"golden": entry.golden, "snapshot": entry.carried, "allowances": entry.allowances}
    return entry, proving.Settings(sources=sources, today=today, **found)


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_example_is_proved(name: str) -> None:
    entry, settings = proof(name, examples=150)
    report = proving.prove(entry.bound, settings)
    assert [found for verdict in report.verdicts for found in verdict.findings] == []
    assert all(verdict.asked for verdict in report.verdicts)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_mutant_of_each_example_is_caught(name: str) -> None:
    """Or changes nothing, and the project file says why."""
    entry, settings = proof(name, examples=20)
    score = killing.judge(entry.bound, settings, entry.equivalent)
    assert [fate for fate in score.fates if fate.outcome not in ("caught", "equivalent")] == []
    assert score.caught > 20


@pytest.mark.parametrize("number", [20, 150])
def test_a_mutant_of_tenant_fails_with_a_few_lines(number: int) -> None:
    """The whole command, as for a person, on a changed converter."""
    from instar import conversion
    from instar.testing import wording

    entry, settings = proof("tenant")
    changed = list(mutants.of(entry.bound))[number]
    bound = conversion.bind(changed.make(), entry.bound.crd)
    report = proving.prove(bound, settings)
    lines = [
        list(wording.finding(verdict, found))
        for verdict in report.verdicts
        for found in verdict.findings
        if found.shown
    ]
    assert lines, changed.name
    assert min(map(len, lines)) < 40


def test_a_thousand_objects_and_all_laws() -> None:
    """On Tenant; how long it takes, which stands in the way of running it on each commit: bench/extremes.py."""
    entry, settings = proof("tenant", examples=800)
    report = proving.prove(entry.bound, settings)
    assert report.objects["whole"] >= 990


def test_the_laws_need_nothing_but_instar() -> None:
    """`pip install instar` is enough to prove: neither Hypothesis nor pytest is there then."""
    code = "import sys, instar.testing; print(sorted({'hypothesis', 'pytest', 'aiohttp'} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
