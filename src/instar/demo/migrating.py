"""Runs what ``instar migrate`` runs, shows how far it is, and notes what clients wrote during the rewrite."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from instar import errors
from instar.controllers import migrate
from instar.demo import recorder, world
from instar.migration import actions, evidence, settings

__all__ = ["Rewriting", "run"]


@dataclasses.dataclass(kw_only=True, slots=True)
class Rewriting:
    """Watches a pass: acknowledged writes by version when the rewrite began and when it ended, and how far it is."""

    acknowledged: Callable[[], Mapping[str, int]]
    begin: Mapping[str, int] = dataclasses.field(default_factory=dict)
    end: Mapping[str, int] = dataclasses.field(default_factory=dict)
    share: float = 0.0

    async def before(self, action: actions.Action[Any]) -> None:
        """The first rewrite of the run counts; one that is started again goes on with it."""
        if isinstance(action, actions.Rewrite) and not self.begin:
            self.begin = self.acknowledged()

    async def after(self, action: actions.Action[Any], outcome: Any) -> None:
        """The last one that ended."""
        if isinstance(action, actions.Rewrite):
            self.end = self.acknowledged()

    def behind(self, version: str, wanted: int) -> bool:
        """Whether fewer of so many writes were acknowledged than objects were rewritten, as shares of the whole."""
        if not self.begin or self.end:
            return False
        return self.acknowledged()[version] - self.begin[version] < self.share * wanted


@dataclasses.dataclass(frozen=True, slots=True)
class _Shown:
    """The pass' progress on the step's bar."""

    note_of: recorder.Note
    rewriting: Rewriting | None
    phases: dict[str, str] = dataclasses.field(default_factory=dict)

    def begin(self, crd: str, phase: str, total: int | None) -> None:
        self.phases[crd] = phase
        self.advance(crd, 0, total)

    def advance(self, crd: str, done: int, total: int | None) -> None:
        phase = self.phases.get(crd, "")
        self.note_of.progress(phase, done, total or 0)
        if phase == "rewrite" and total and self.rewriting is not None:
            self.rewriting.share = done / total

    def note(self, crd: str, text: str) -> None:
        self.note_of.screen.say(f"      {text}", "dim")


async def run(
    here: world.World, note: recorder.Note, *, settle_seconds: float, rewriting: Rewriting | None = None
) -> evidence.Evidence:
    """One pass with the proof by etcd's bytes; GateHeldError if it did not reach its end."""
    chosen = settings.Settings(
        settle_seconds=settle_seconds, servers=here.plane.apiservers, etcd=here.plane.etcd, retire=(world.OLD,)
    )
    found = await migrate.run(here.client, here.api.name, chosen, progress=_Shown(note, rewriting), observer=rewriting)
    if evidence.exit_code(found):
        raise errors.GateHeldError(f"the migration was held: {found.summary}")
    return found
