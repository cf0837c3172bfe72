"""Keeps what each step took and showed, and tells the screen."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator

from instar.demo import screen as screen_module
from instar.report import run

__all__ = ["Note", "Recorder"]


@dataclasses.dataclass(kw_only=True, slots=True)
class Note:
    """What a running step has to show; ``title`` may become more exact while it runs."""

    screen: screen_module.Screen
    title: str
    proofs: list[str] = dataclasses.field(default_factory=list)

    def proof(self, text: str) -> None:
        """Something that was measured."""
        self.proofs.append(text)

    def progress(self, what: str, done: int, total: int) -> None:
        """How far it is."""
        self.screen.progress(what, done, total)


class Recorder:
    """Steps in their order; ``now`` is a clock in seconds, read at the beginning and the end of each."""

    def __init__(self, screen: screen_module.Screen, now: Callable[[], float]) -> None:
        self.screen = screen
        self.steps: list[run.Step] = []
        self._now = now
        self._began = now()

    def elapsed(self) -> float:
        """Seconds since the recorder was made."""
        return self._now() - self._began

    @contextlib.contextmanager
    def step(self, name: str, title: str) -> Iterator[Note]:
        """One step; it is recorded when it ends well, and shown as failed when it does not."""
        begin, note = self.elapsed(), Note(screen=self.screen, title=title)
        self.screen.begin(len(self.steps) + 1, title)
        try:
            yield note
        except BaseException:
            self.screen.end(None)
            raise
        done = run.Step(
            name=name,
            title=note.title,
            begin_seconds=begin,
            seconds=self.elapsed() - begin,
            proofs=tuple(note.proofs),
        )
        self.steps.append(done)
        self.screen.end(done)
