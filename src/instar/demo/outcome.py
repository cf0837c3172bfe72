"""Turns what a run measured into facts that hold or do not, and into its report."""

from __future__ import annotations

import dataclasses
import datetime
import platform
from collections.abc import Mapping

import instar
from instar.demo import checking, compare, judging, sampling, world
from instar.migration import evidence
from instar.model import crd as crd_model
from instar.report import numbers, run

__all__ = ["Measured", "clients_unharmed", "migration_lines", "of", "writes_wanted"]

WRITES_WANTED, OBJECTS_FOR_THEM = 500, 6000
"""With fewer objects the rewrite may be over within a second: then what clients did is shown, and not judged."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """Everything that was measured, as the scenario gathered it."""

    world: world.World
    objects: int
    settle_seconds: float
    began: datetime.datetime
    before: Mapping[str, int]
    after: Mapping[str, int]
    crd: crd_model.Crd
    evidence: evidence.Evidence
    verdicts: tuple[judging.Verdict, ...]
    checked: checking.Outcome
    created: int
    deleted: int
    writes: Mapping[str, run.Writes]
    sampler: sampling.Sampler
    software: Mapping[str, str]


def of(measured: Measured) -> run.Run:
    """The run as its report shows it."""
    here, steps = measured.world, measured.world.recorder
    losses = compare.merge(*(verdict.losses for verdict in measured.verdicts))
    facts = _facts(measured, losses)
    return run.Run(
        title=f"{numbers.count(measured.objects)} {here.api.kind} objects taken from {world.OLD} to {world.NEW}",
        kind=here.api.kind,
        crd=here.api.name,
        old=world.OLD,
        new=world.NEW,
        began=f"{measured.began:%Y-%m-%d %H:%M:%S} UTC",
        seconds=steps.elapsed(),
        objects=measured.objects,
        created=measured.created,
        deleted=measured.deleted,
        stored_before=measured.before,
        stored_after=measured.after,
        stored_versions=measured.crd.stored_versions,
        lost=len(losses),
        losses=tuple(loss.message for loss in losses),
        compared=measured.verdicts[-1].compared,
        acknowledged_edits=here.book.edits,
        apply_ok=not measured.checked.failures,
        writes=measured.writes,
        facts=facts,
        steps=tuple(steps.steps),
        software=_software(measured),
        stored_samples=tuple(measured.sampler.stored),
        latency_samples=tuple(measured.sampler.latency),
        write_samples=tuple(measured.sampler.writes),
        write_interval_seconds=measured.sampler.write_interval_seconds,
        settle_seconds=measured.settle_seconds,
        rewrite_seconds=measured.evidence.rewrite.seconds if measured.evidence.rewrite else 0.0,
    )


def writes_wanted(objects: int) -> int:
    """How many writes of each version have to be acknowledged while so many objects are rewritten."""
    return WRITES_WANTED if objects >= OBJECTS_FOR_THEM else 0


def migration_lines(found: evidence.Evidence) -> list[str]:
    """What a migration did, one line for each phase."""
    lines = []
    if (rewrite := found.rewrite) is not None:
        moved = rewrite.counts.moved
        pace = f", {numbers.rate(rewrite.counts.listed / rewrite.seconds)}" if rewrite.seconds else ""
        lines.append(f"{numbers.count(moved)} objects rewritten in {numbers.duration(rewrite.seconds)}{pace}")
    if (proof := found.proof) is not None:
        took = numbers.duration(proof.seconds)
        healed = f", {found.proof_rounds} rounds" if found.proof_rounds > 1 else ""
        lines.append(
            f"{numbers.count(proof.counts.listed)} objects proved: a write that changes nothing moves no "
            f"resourceVersion ({took}{healed})"
        )
    if (stored := found.stored) is not None:
        held = ", ".join(
            f"{numbers.count(number)} at {name.rpartition('/')[2]}" for name, number in stored.by_version.items()
        )
        lines.append(f"and by the bytes in etcd: {held}, {stored.unreadable} unreadable")
    before, after = ", ".join(found.stored_versions_before), ", ".join(found.stored_versions_after)
    return [*lines, f"status.storedVersions: [{before}] is now [{after}]"]


def _facts(measured: Measured, losses: list[compare.Loss]) -> tuple[run.Fact, ...]:
    return (
        _nothing_lost(measured, losses),
        _stored_at_new(measured),
        _trimmed(measured),
        _clients_went_on(measured),
        clients_unharmed(measured.writes),
        _usable_after(measured),
    )


def _nothing_lost(measured: Measured, losses: list[compare.Loss]) -> run.Fact:
    first, last = measured.verdicts[0], measured.verdicts[-1]
    return run.Fact(
        name="nothing_lost",
        statement="Every object holds what was last written to it",
        measured=f"{numbers.count(first.compared)} objects compared {', '.join(first.places)} before {world.OLD} went, "
        f"{numbers.count(last.compared)} {', '.join(last.places)} after; {numbers.count(measured.world.book.edits)} "
        f"acknowledged writes; {len(losses)} values lost",
        holds=not losses,
    )


def _stored_at_new(measured: Measured) -> run.Fact:
    held = ", ".join(f"{numbers.count(number)} at {version}" for version, number in measured.after.items())
    return run.Fact(
        name="stored_at_new",
        statement=f"Every object is stored at {world.NEW}",
        measured=f"etcd holds {held or 'nothing'}; clients were told of {numbers.count(measured.world.book.live)}",
        holds=dict(measured.after) == {world.NEW: measured.world.book.live},
    )


def _trimmed(measured: Measured) -> run.Fact:
    names = [version.name for version in measured.crd.versions]
    return run.Fact(
        name="old_version_gone",
        statement=f"{world.OLD} is in neither status.storedVersions nor spec.versions",
        measured=f"storedVersions [{', '.join(measured.crd.stored_versions)}], versions [{', '.join(names)}]",
        holds=measured.crd.stored_versions == (world.NEW,) and names == [world.NEW],
    )


def _clients_went_on(measured: Measured) -> run.Fact:
    wanted = writes_wanted(measured.objects)
    during = {version: writes.during_rewrite for version, writes in measured.writes.items()}
    return run.Fact(
        name="clients_went_on",
        statement="Clients went on writing through both versions while objects were rewritten",
        measured=", ".join(f"{numbers.count(number)} through {version}" for version, number in during.items())
        + f" acknowledged during the rewrite{f'; {wanted} of each wanted' if wanted else ''}",
        holds=all(number >= wanted for number in during.values()),
    )


UNANSWERED = (
    "; a write that got no answer may have been carried out all the same, and what it wrote then counts as lost: "
    "if the machine was too busy to answer within --settle, give it more seconds"
)


def clients_unharmed(writes: Mapping[str, run.Writes]) -> run.Fact:
    """Whether any client was refused, or left without an answer: then nobody knows what its write did."""
    failures = [text for version in writes.values() for text in version.failures]
    asked = sum(number for version in writes.values() for number in version.retried.values())
    return run.Fact(
        name="clients_unharmed",
        statement="No client's write failed",
        measured=f"{numbers.count(asked)} answers said try again (409, 429, 503); {len(failures)} failures"
        + (f", the first: {failures[0]}{UNANSWERED}" if failures else ""),
        holds=not failures,
    )


def _usable_after(measured: Measured) -> run.Fact:
    failures = measured.checked.failures
    return run.Fact(
        name="apply_ok",
        statement=f"With {world.OLD} removed, get, patch and server-side apply succeed on every object",
        measured=f"{numbers.count(measured.checked.passed)} objects passed, {len(failures)} did not"
        + (f", the first: {failures[0]}" if failures else ""),
        holds=not failures and measured.checked.passed == measured.world.book.live,
    )


def _software(measured: Measured) -> dict[str, str]:
    here = {"Python": platform.python_version(), "system": f"{platform.system()} {platform.machine()}"}
    return {"instar": instar.__version__, **measured.software, **here}
