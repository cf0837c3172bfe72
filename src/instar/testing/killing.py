"""The proof proves itself: every mutant of a converter must be caught, each within its own time.

Golden pairs are asked first, for they are few; then the laws, over the corpus, what spans the schemas, and some drawn
objects; then the snapshot. The first finding ends it. A mutant that changes nothing is declared, with its reason; one
that is declared and caught, or is there no more, is said.
"""

from __future__ import annotations

import contextlib
import dataclasses
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import instar.conversion as conversion_module
from instar import errors
from instar.testing import allowing, cases, gathering, intent, mutants, proving, snapshot, twin

__all__ = ["EXAMPLES", "SECONDS", "Fate", "Score", "judge"]

SECONDS = 10.0
EXAMPLES = 200
STUCK_SECONDS = 5
Outcome = Literal["caught", "equivalent", "survived", "stale"]


class _Overdue(BaseException):
    """The time of a mutant is over, and nothing was found. No converter's ``except Exception`` catches it."""


class _Stuck(BaseException):
    """A conversion that does not end."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Fate:
    """What became of one mutant: the finding that caught it, or why it may live."""

    name: str
    file: str
    line: int
    outcome: Outcome
    law: str = ""
    reason: str = ""
    finding: cases.Finding | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """All mutants of a conversion."""

    kind: str
    group: str
    fates: tuple[Fate, ...]

    @property
    def caught(self) -> int:
        """How many were caught."""
        return sum(fate.outcome == "caught" for fate in self.fates)

    @property
    def holds(self) -> bool:
        """Whether every mutant was caught or is declared equivalent, and every declaration fits."""
        return all(fate.outcome in ("caught", "equivalent") for fate in self.fates)


def judge(
    bound: conversion_module.Bound,
    settings: proving.Settings,
    equivalent: Mapping[str, str],
    *,
    progress: proving.Progress = lambda done: None,
    seconds: float = SECONDS,
) -> Score:
    """The fate of every mutant of a conversion's rules and functions."""
    conversion = bound.conversion
    fates: list[Fate] = []
    for mutant in mutants.of(bound):
        fates.append(_fate(bound, settings, mutant, equivalent, seconds))
        progress(len(fates))
    for name in equivalent.keys() - {fate.name for fate in fates}:
        text = "is declared equivalent, and there is no such mutant any more: take it out of the project file"
        fates.append(Fate(name=name, file="", line=0, outcome="stale", reason=text))
    return Score(kind=conversion.kind, group=conversion.group, fates=tuple(fates))


def _fate(
    bound: conversion_module.Bound,
    settings: proving.Settings,
    mutant: mutants.Mutant,
    equivalent: Mapping[str, str],
    seconds: float,
) -> Fate:
    reason = equivalent.get(mutant.name, "")
    known: dict[str, Any] = {"name": mutant.name, "file": mutant.file, "line": mutant.line}
    finding = None
    try:
        of = twin.Twin(conversion_module.bind(mutant.make(), bound.crd))
        with contextlib.suppress(_Overdue), _limited(of, seconds):
            finding = next(_findings(of, settings), None)
    except _Stuck:
        return _decided(known, reason, "L4", "a conversion does not end")
    except (errors.InstarError, mutants.Unloadable) as error:
        return _decided(known, reason, "binding", str(error))
    if finding is None:
        return Fate(**known, outcome="equivalent" if reason else "survived", reason=reason)
    return dataclasses.replace(_decided(known, reason, finding.law, _said(finding)), finding=finding)


def _decided(known: Mapping[str, Any], declared: str, law: str, text: str) -> Fate:
    if declared:
        text = f"is declared equivalent ({declared}), and it is caught: take it out of the project file; {text}"
        return Fate(**known, outcome="stale", law=law, reason=text)
    return Fate(**known, outcome="caught", law=law, reason=text)


def _said(finding: cases.Finding) -> str:
    where = f"{finding.path}: " if finding.path not in ("", "/") else ""
    seen = f" ({finding.origin})" if finding.origin else ""
    return f"{where}{finding.problem}{seen}"


def _findings(of: twin.Twin, settings: proving.Settings) -> Iterator[cases.Finding]:
    """The findings on a mutant, the cheapest first."""
    for golden in settings.golden:
        yield from intent.judge(of, golden)
    for case in gathering.gather(of, settings.sources):
        for law in settings.laws:
            if case.kind in law.kinds:
                for finding in law.check(of, case):
                    if not any(allowing.covers(allowance, finding) for allowance in settings.allowances):
                        yield dataclasses.replace(finding, origin=case.origin)
    if settings.snapshot is not None:
        yield from snapshot.judge(settings.snapshot, snapshot.survey(of, settings.sources.real), {})


@contextlib.contextmanager
def _limited(of: twin.Twin, seconds: float) -> Iterator[None]:
    """An end for converters that have none, and for runs that find nothing: so much of this process's own time.

    Only the main thread can be interrupted so; elsewhere there is no end.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    started, seen = time.process_time(), [0, 0]

    def ring(number: int, frame: Any) -> None:
        seen[1] = seen[1] + 1 if of.conversions == seen[0] else 0
        seen[0] = of.conversions
        if seen[1] >= STUCK_SECONDS:
            raise _Stuck
        if time.process_time() - started > seconds:
            raise _Overdue

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 1.0, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
