"""A run of all laws over all cases, and what it found: for each law the smallest objects that break it.

Findings are told apart by law, versions and place; the first of each is made smaller. Nothing here reads a clock but to
say how long the run took, and nothing depends on it: the same seed gives the same report.
"""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

import instar.conversion as conversion_module
from instar import errors, loading
from instar.schema import structural
from instar.testing import (
    allowing,
    blaming,
    cases,
    coverage,
    elsewhere,
    gathering,
    intent,
    lawbook,
    reducing,
    snapshot,
    twin,
)

__all__ = ["Report", "Settings", "Verdict", "prove"]

MOST_SHOWN = 5
"""Findings of one law that are made smaller and shown; the others are counted."""
QUESTIONS = 4000
"""How often all laws together may be asked about smaller objects."""
Progress = Callable[[int], None]
Key = tuple[str, str, str, str]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What a conversion is judged by besides the laws themselves."""

    sources: gathering.Sources = dataclasses.field(default_factory=gathering.Sources)
    golden: tuple[intent.Golden, ...] = ()
    snapshot: frozenset[snapshot.Carried] | None = None
    allowances: tuple[allowing.Allowance, ...] = ()
    today: datetime.date = datetime.date(1970, 1, 1)
    laws: tuple[lawbook.Law, ...] = lawbook.LAWS
    flags: tuple[str, ...] = ()
    """How `instar` is told the conversion in another process; without, purity is judged in this one alone."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """One law: how often it was asked, what it found, and how many more findings of it there were.

    A law of single cases may find no case that fits (``asked``); that is no proof of it.
    """

    name: str
    title: str
    holds: str
    checks: int
    findings: tuple[cases.Finding, ...]
    more: int = 0
    waived: int = 0
    asked: bool = True


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """Everything that a run has to say."""

    group: str
    kind: str
    hub: str
    versions: tuple[str, ...]
    digest: str
    seed: int
    objects: Mapping[str, int]
    verdicts: tuple[Verdict, ...]
    coverage: tuple[coverage.Pair, ...]
    carried: frozenset[snapshot.Carried]
    notes: tuple[str, ...]
    conversions: int
    slowest_seconds: float
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether nothing was found."""
        return not any(verdict.findings for verdict in self.verdicts)


def prove(bound: conversion_module.Bound, settings: Settings, *, progress: Progress = lambda done: None) -> Report:
    """Runs every law over every case."""
    started = time.perf_counter()
    run = _Run(bound, settings)
    run.over(progress)
    fixed = snapshot.survey(run.twin, settings.sources.real)
    verdicts = run.verdicts(fixed)
    return Report(
        group=bound.conversion.group,
        kind=bound.conversion.kind,
        hub=bound.conversion.hub,
        versions=bound.versions,
        digest=loading.digest(bound),
        seed=settings.sources.seed,
        objects=dict(run.objects),
        verdicts=verdicts,
        coverage=run.coverage.pairs(),
        carried=frozenset(fixed),
        notes=tuple(_notes(run.twin, settings)),
        conversions=run.twin.conversions,
        slowest_seconds=run.twin.slowest_seconds,
        seconds=time.perf_counter() - started,
    )


class _Run:
    def __init__(self, bound: conversion_module.Bound, settings: Settings) -> None:
        self.twin = twin.Twin(bound)
        self.coverage = coverage.Coverage(self.twin)
        self.objects: Counter[str] = Counter()
        self._settings = settings
        self._questions = QUESTIONS
        self._checks: Counter[str] = Counter()
        self._found: dict[Key, tuple[cases.Case, cases.Finding, int]] = {}
        self._met: dict[snapshot.Carried, str] = {}
        self._used: set[int] = set()
        self._waived: Counter[str] = Counter()

    def over(self, progress: Progress) -> None:
        """Every case once."""
        for number, case in enumerate(gathering.gather(self.twin, self._settings.sources)):
            self._meet(case)
            for law in self._settings.laws:
                if case.kind in law.kinds:
                    self._checks[law.name] += 1
                    for finding in law.check(self.twin, case):
                        self._take(case, finding)
            if number % 64 == 0:
                progress(self.objects["whole"])
        if self._settings.flags:
            for case, finding in elsewhere.judge(self.twin, self._settings.sources, self._settings.flags):
                self._take(case, finding)

    def _meet(self, case: cases.Case) -> None:
        self.objects[case.kind] += 1
        if case.kind != "whole" or self.twin.problem(case.object):
            return
        self.objects[case.origin.partition(" ")[0]] += 1
        written = self.twin.written(case.object)
        answers = {}
        for target in self.twin.others(case.version):
            try:
                answers[target] = self.twin.convert(written, target)
            except errors.ConversionError:
                continue
        self.coverage.meet(written, answers)
        for entry in snapshot.carried(self.twin, case.object):
            self._met.setdefault(entry, case.origin)

    def _take(self, case: cases.Case, finding: cases.Finding) -> None:
        for index, allowance in enumerate(self._settings.allowances):
            if allowing.covers(allowance, finding) and not allowing.expired(allowance, self._settings.today):
                self._used.add(index)
                self._waived[finding.law] += 1
                return
        key = (finding.law, finding.source, finding.target, finding.place)
        first = self._found.get(key)
        self._found[key] = (case, finding, 1) if first is None else (*first[:2], first[2] + 1)

    # --- what comes of it ---------------------------------------------------------------------------------------------

    def verdicts(self, fixed: Mapping[snapshot.Carried, str]) -> tuple[Verdict, ...]:
        """One for each law, in the order of their names."""
        settings = self._settings
        made = [self._verdict(law) for law in settings.laws]
        declared = tuple(allowing.judge(self.twin, settings.allowances, self._used, settings.today))
        golden = [finding for pair in settings.golden for finding in intent.judge(self.twin, pair)]
        golden += intent.missing(self.twin, settings.golden)
        carried = tuple(snapshot.judge(settings.snapshot, fixed, self._met))
        return (
            *made,
            self._whole(allowing, len(settings.allowances) + len(self.twin.bound.conversion.droppable), declared),
            self._whole(intent, len(settings.golden), golden),
            self._whole(snapshot, len(fixed), carried),
        )

    def _verdict(self, law: lawbook.Law) -> Verdict:
        groups = [value for key, value in self._found.items() if key[0] == law.name]
        shown = [self._smaller(law, case, finding) for case, finding, _ in groups[:MOST_SHOWN]]
        return Verdict(
            name=law.name,
            title=law.title,
            holds=law.holds,
            checks=self._checks[law.name],
            findings=tuple(shown),
            more=sum(count for _, _, count in groups) - len(shown),
            waived=self._waived[law.name],
            asked=self._checks[law.name] > 0,
        )

    def _smaller(self, law: lawbook.Law, case: cases.Case, finding: cases.Finding) -> cases.Finding:
        most = min(reducing.QUESTIONS, self._questions)
        small, asked = reducing.reduce(self.twin, law, case, finding, questions=most)
        self._questions -= asked
        return self._blamed(dataclasses.replace(small, origin=case.origin))

    def _blamed(self, finding: cases.Finding) -> cases.Finding:
        return dataclasses.replace(finding, blame=blaming.blame(self.twin, finding))

    def _whole(self, of: _Named, checks: int, findings: Iterable[cases.Finding]) -> Verdict:
        """The verdict of a law of the whole run; of its findings the smallest first."""
        groups = {(found.origin, found.path, found.problem): found for found in findings}
        ordered = sorted(groups.values(), key=lambda found: len(repr(found.shown)))
        shown = tuple(self._blamed(found) for found in ordered[:MOST_SHOWN])
        more = len(ordered) - len(shown)
        return Verdict(name=of.NAME, title=of.TITLE, holds=of.HOLDS, checks=checks, findings=shown, more=more)


class _Named(Protocol):
    """A module that is a law of a whole run."""

    NAME: str
    TITLE: str
    HOLDS: str


def _notes(of: twin.Twin, settings: Settings) -> Iterator[str]:
    """What was not judged, so that silence is no verdict."""
    for version in of.versions:
        rules = sum(1 for node in _nodes(of.sides[version].node) if node.raw.get("x-kubernetes-validations"))
        if rules:
            yield f"{version}: CEL rules at {rules} places are not evaluated: what breaks them passes as valid"
    for source in (*settings.sources.real, *settings.sources.live):
        problem = of.problem(source.object)
        if problem:
            version = cases.version_of(source.object)
            yield f"{source.origin} is not valid at {version} ({problem}): laws about valid objects were not asked"


def _nodes(node: structural.Node) -> Iterator[structural.Node]:
    yield node
    below = [*node.properties.values(), node.additional, node.items]
    yield from itertools.chain.from_iterable(_nodes(inner) for inner in below if inner is not None)
