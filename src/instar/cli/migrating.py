"""How far a migration is, for a person: bars with rate and time left on a terminal, plain lines in a pipe.

Both remember how far they came, since an interrupted run says what was done and how to go on.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any

from instar.cli import output

__all__ = ["Lines", "bars", "interrupted", "show"]

EVERY_SECONDS = 10.0
_WORDS = {
    "rewrite": "rewriting",
    "settle": "settling: waiting for requests from before the flip to end",
    "catch up": "rewriting what changed meanwhile",
    "managedFields": "rewriting managedFields",
    "proof": "proving",
    "re-check": "looking once more before the trim",
}


class Lines:
    """One line when a phase begins, and one now and then with how far it is."""

    def __init__(self) -> None:
        self.phases: dict[str, str] = {}
        self.done: dict[str, int] = {}
        self.totals: dict[str, int | None] = {}
        self._began: dict[str, float] = {}
        self._said: dict[str, float] = {}

    def begin(self, crd: str, phase: str, total: int | None) -> None:
        self.phases[crd], self.done[crd], self.totals[crd] = phase, 0, total
        self._began[crd] = self._said[crd] = time.monotonic()
        output.note(f"{crd}: {_WORDS.get(phase, phase)}")

    def advance(self, crd: str, done: int, total: int | None) -> None:
        self.done[crd] = done
        self.totals[crd] = total or self.totals.get(crd)
        if time.monotonic() - self._said[crd] >= EVERY_SECONDS:
            self._said[crd] = time.monotonic()
            output.note(f"{crd}: {self.phases[crd]}: {self._far(crd)}")

    def note(self, crd: str, text: str) -> None:
        output.note(f"{crd}: {text}")

    def _far(self, crd: str) -> str:
        done, total = self.done[crd], self.totals[crd]
        if self.phases[crd] == "settle":
            return f"{done} of {total} s"
        rate = done / max(time.monotonic() - self._began[crd], 0.001)
        left = f", {(total - done) / rate:.0f} s left" if total and rate and total > done else ""
        return f"{done:,}{f' of {total:,}' if total else ''} objects, {rate:.0f}/s{left}"


class _Bars(Lines):
    """A bar per CRD."""

    def __init__(self, drawing: Any) -> None:
        super().__init__()
        self._drawing = drawing
        self._tasks: dict[str, Any] = {}

    def begin(self, crd: str, phase: str, total: int | None) -> None:
        self.phases[crd], self.done[crd], self.totals[crd] = phase, 0, total
        if crd in self._tasks:
            self._drawing.remove_task(self._tasks[crd])
        words = _WORDS.get(phase, phase).partition(":")[0]
        self._tasks[crd] = self._drawing.add_task(f"{crd}: {words}", total=total, unit="s" if phase == "settle" else "")

    def advance(self, crd: str, done: int, total: int | None) -> None:
        self.done[crd] = done
        self.totals[crd] = total or self.totals.get(crd)
        self._drawing.update(self._tasks[crd], completed=done, total=self.totals[crd])

    def note(self, crd: str, text: str) -> None:
        self._drawing.console.print(f"{crd}: {text}", markup=False, highlight=False)


@contextlib.contextmanager
def bars() -> Iterator[Lines]:
    """Bars on stderr, gone when the work is done."""
    from rich import console, progress

    columns = (
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[unit]}"),
        _rate(progress),
        progress.TimeRemainingColumn(),
    )
    screen = console.Console(stderr=True, no_color="NO_COLOR" in os.environ)
    with progress.Progress(*columns, console=screen, transient=True) as drawing:
        yield _Bars(drawing)


def _rate(progress: Any) -> Any:
    class Rate(progress.ProgressColumn):  # type: ignore[misc]
        def render(self, task: Any) -> Any:
            return f"{task.speed:,.0f}/s" if task.speed and not task.fields["unit"] else ""

    return Rate()


@contextlib.contextmanager
def show(*, terminal: bool) -> Iterator[Lines]:
    """The progress that fits where stderr goes."""
    if not terminal:
        yield Lines()
        return
    with bars() as drawn:
        yield drawn


def interrupted(shown: Lines, crds: Sequence[str]) -> str:
    """What was done, and how to go on."""
    lines = []
    for crd in crds:
        phase = shown.phases.get(crd)
        total = shown.totals.get(crd)
        far = f"{shown.done[crd]:,}{f' of {total:,}' if total else ''}" if phase else ""
        where = f"during {_WORDS.get(phase, phase).partition(':')[0]} ({far})" if phase else "before anything was done"
        lines.append(f"{crd}: interrupted {where}")
    again = f"every object is whole; to go on, run the same command again: instar migrate {' '.join(crds)}"
    return "\n".join([*lines, f"storedVersions is trimmed only at the end of a proof; {again}"])
