"""What a person sees while it runs: one line for each step with what was measured, and a bar where it takes long.

On a terminal a step's bar is replaced by its result; in a pipe there are plain lines and nothing moves.
"""

from __future__ import annotations

import sys
from typing import Any, Protocol, TextIO

from instar.report import numbers
from instar.report import run as run_module

__all__ = ["Plain", "Screen", "Terminal", "fitting"]


class Screen(Protocol):
    """Where a run tells how it goes."""

    def say(self, text: str = "", style: str = "") -> None:
        """A line of its own."""

    def begin(self, number: int, title: str) -> None:
        """A step begins."""

    def progress(self, what: str, done: int, total: int) -> None:
        """How far the step is; ``total`` is 0 while nobody knows."""

    def end(self, step: run_module.Step | None) -> None:
        """The step is done, or (None) it failed."""


def fitting(stream: TextIO | None = None) -> Screen:
    """The screen for a stream: moving on a terminal, plain elsewhere."""
    stream = stream or sys.stdout
    return Terminal(stream) if stream.isatty() else Plain(stream)


class Plain:
    """Lines for a pipe or a log."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._what = ""

    def say(self, text: str = "", style: str = "") -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def begin(self, number: int, title: str) -> None:
        self.say(f"{number:2}  {title}")

    def progress(self, what: str, done: int, total: int) -> None:
        """A line when something else begins: a log is no place for a bar."""
        if what and what != self._what:
            self.say(f"    ... {what}")
        self._what = what

    def end(self, step: run_module.Step | None) -> None:
        if step is None:
            return self.say("    failed")
        for proof in step.proofs:
            self.say(f"    {proof}")
        return self.say(f"    done in {numbers.duration(step.seconds)}")


class Terminal:
    """A terminal: a bar while a step runs, then its result."""

    def __init__(self, stream: TextIO) -> None:
        import rich.console

        self._console = rich.console.Console(file=stream, highlight=False)
        self._bar: Any = None
        self._task: Any = None
        self._number, self._title = 0, ""

    def say(self, text: str = "", style: str = "") -> None:
        self._console.print(text, style=style or None, markup=False)

    def begin(self, number: int, title: str) -> None:
        import rich.progress

        self._number, self._title = number, title
        self._bar = rich.progress.Progress(
            rich.progress.SpinnerColumn(),
            rich.progress.TextColumn("{task.description}", markup=False),
            rich.progress.BarColumn(bar_width=28),
            rich.progress.TextColumn("{task.fields[amount]}", markup=False),
            rich.progress.TimeElapsedColumn(),
            console=self._console,
            transient=True,
        )
        self._task = self._bar.add_task(f"{number:2}  {title}", total=None, amount="")
        self._bar.start()

    def progress(self, what: str, done: int, total: int) -> None:
        amount = " of ".join(numbers.count(number) for number in (done, total) if number)
        self._bar.update(self._task, completed=done, total=total or None, amount=f"{what} {amount}")

    def end(self, step: run_module.Step | None) -> None:
        import rich.padding

        self._bar.stop()
        mark, style = ("✓", "green") if step else ("✗", "red")
        took = f"  {numbers.duration(step.seconds)}" if step else ""
        line = self._text((f"{mark} ", style), (f"{self._number:2}  {self._title}", "bold"), (took, "dim"))
        self._console.print(line)
        for proof in step.proofs if step else ():
            self._console.print(rich.padding.Padding(self._text((proof, "")), (0, 0, 0, 7)))

    @staticmethod
    def _text(*parts: tuple[str, str]) -> Any:
        import rich.text

        return rich.text.Text.assemble(*parts)
