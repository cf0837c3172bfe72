"""How far a build is: a bar that moves on a terminal, a line now and then in a pipe."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Protocol, TextIO

__all__ = ["Progress", "shown"]

_EVERY_SECONDS = 15.0


class Progress(Protocol):
    """Where a build says what it does."""

    def say(self, text: str) -> None:
        """One line that stays."""

    def advance(self, what: str, done: int, total: int) -> None:
        """``done`` of ``total`` steps of ``what``; a total of 0 means that nobody knows."""


@contextlib.contextmanager
def shown(stream: TextIO | None = None) -> Iterator[Progress]:
    """A progress for ``stream`` (standard error unless said)."""
    stream = stream or sys.stderr
    if not stream.isatty():
        yield _Lines(stream)
        return
    with _bars(stream) as drawn:
        yield drawn


class _Lines:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = 0.0
        self._what = ""

    def say(self, text: str) -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()

    def advance(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if what != self._what:
            self._what, self._next = what, now + _EVERY_SECONDS
        if now >= self._next:
            self._next = now + _EVERY_SECONDS
            self.say(f"{what}: {done} of {total} ({done * 100 // total}%)" if total else f"{what}: {done}")


@contextlib.contextmanager
def _bars(stream: TextIO) -> Iterator[Progress]:
    import rich.console
    import rich.progress

    columns = (
        rich.progress.TextColumn("{task.description}"),
        rich.progress.BarColumn(),
        rich.progress.MofNCompleteColumn(),
        rich.progress.TimeElapsedColumn(),
    )
    console = rich.console.Console(file=stream)
    with rich.progress.Progress(*columns, console=console, transient=True) as bars:
        task: rich.progress.TaskID | None = None
        current = ""

        class Bars:
            def say(self, text: str) -> None:
                console.print(text, highlight=False, markup=False)

            def advance(self, what: str, done: int, total: int) -> None:
                nonlocal task, current
                if task is None or what != current:
                    if task is not None:
                        bars.remove_task(task)
                    task, current = bars.add_task(what, total=None), what
                bars.update(task, completed=done, total=total or None)

        yield Bars()
