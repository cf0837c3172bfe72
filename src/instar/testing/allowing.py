"""L13: what may be lost, or may break a law, is declared with a reason and a day at which that ends.

A finding that nothing declares fails; so does a declaration that nothing needs any more, and one whose day has come.
Losses that a conversion itself declares (``Sensitive(loss=...)``) show as findings too, and need their line and day.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection, Iterator, Sequence

from instar.testing import cases, twin

__all__ = ["HOLDS", "LOSSES", "NAME", "TITLE", "Allowance", "covers", "judge"]

NAME, TITLE = "L13", "declared losses"
HOLDS = "each declared loss has a reason and a day to come, and is still met"
LOSSES = ("L1", "L2", "L3", "L6", "L9")
"""The laws that data was lost under."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Allowance:
    """Findings at a place, or below it, that are known; empty versions are any."""

    laws: tuple[str, ...] = LOSSES
    source: str = ""
    target: str = ""
    path: str
    reason: str
    expires: str

    @property
    def text(self) -> str:
        """How it is named."""
        versions = f" ({self.source or 'any'} -> {self.target or 'any'})" if self.source or self.target else ""
        return f"{'/'.join(self.laws) if self.laws != LOSSES else 'loss'} at {self.path}{versions}"


def covers(allowance: Allowance, finding: cases.Finding) -> bool:
    """Whether the finding is the one that is allowed."""
    below = finding.place == allowance.path or finding.place.startswith((allowance.path + "/", allowance.path + "["))
    return (
        below
        and finding.law in allowance.laws
        and allowance.source in ("", finding.source)
        and allowance.target in ("", finding.target)
    )


def expired(allowance: Allowance, today: datetime.date) -> bool:
    """Whether its day has come."""
    return (ends := _day(allowance.expires)) is not None and ends <= today


def judge(
    of: twin.Twin, allowances: Sequence[Allowance], used: Collection[int], today: datetime.date
) -> Iterator[cases.Finding]:
    """The declarations that do not hold; ``used`` are the indexes of those that some finding needed."""
    for index, allowance in enumerate(allowances):
        problem = _problem(allowance.reason, allowance.expires, today)
        if not problem and index not in used:
            problem = (
                "is declared and no object shows it: take the declaration away, or put such an object in the corpus"
            )
        if problem:
            yield _finding(allowance.path, f"{allowance.text}: {problem}")
    for leaf in of.bound.conversion.droppable:
        problem = _problem(leaf.reason, leaf.expires, today)
        if problem:
            yield _finding(leaf.path, f"droppable {leaf.path} of {leaf.version}: {problem}")


def _problem(reason: str, expires: str, today: datetime.date) -> str:
    ends = _day(expires)
    if not reason.strip():
        return "has no reason"
    if ends is None:
        return f"expires {expires!r}, which is no day; one looks like 2027-06-30"
    return f"expired on {expires}: mend it, or decide anew" if ends <= today else ""


def _day(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text)
    except ValueError:
        return None


def _finding(where: str, problem: str) -> cases.Finding:
    return cases.Finding(law=NAME, path=where, place=where, problem=problem)
