"""The dialogue about one CRD: every decision of a migration, none of its I/O.

::

    ReadCrd -> Lock -> AskServers ... until all have caught up
                       Rewrite -> (settle: AskServers, Wait ...) -> CatchUp ... until nothing moves
                       Clean, if a version is about to go
                       Prove ... until a whole proof finds nothing old
                       AskServers, ReadCrd, ReadBytes, Recheck, LockCheck: the preconditions -> Trim

What stands on the left of an arrow is never assumed on its right: a flip, a rollback or a re-created CRD starts the
pass again; something found old starts the proof again. A killed run leaves nothing half done: every step up to the trim
only rewrites objects unchanged, so the next run begins at the beginning and finds most of the work done.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from instar import errors
from instar.migration import actions, evidence, gate, settings, standing, traces, trim
from instar.model import crd as crd_model

__all__ = ["over"]

POLL_SECONDS = 1.0
PATHS_SAID = 8


@dataclasses.dataclass(kw_only=True)
class _State:
    """What one attempt has gathered so far; the attempt is the only one who writes it."""

    settings: settings.Settings
    gates: Sequence[gate.Gate]
    observed: gate.Observed
    record: evidence.Evidence

    @property
    def crd(self) -> crd_model.Crd:
        return self.observed.crd

    def see(self, **facts: object) -> None:
        self.observed = dataclasses.replace(self.observed, **facts)  # type: ignore[arg-type]

    def note(self, **fields: object) -> None:
        self.record = dataclasses.replace(self.record, **fields)  # type: ignore[arg-type]

    def time(self, what: str, told: actions.Told[Any]) -> None:
        self.see(now=told.now)
        self.note(times=(*self.record.times, (what, told.at)))

    def held(self, verdicts: Sequence[evidence.Verdict]) -> evidence.Evidence:
        reasons = "; ".join(verdict.reason for verdict in verdicts if not verdict.holds)
        self.note(verdicts=tuple(verdicts), result=evidence.Result.HELD, summary=reasons)
        return self.record


class _Again(Exception):
    """Inside this module only: the CRD is not the one that this attempt is about."""


def over(
    name: str, chosen: settings.Settings, gates: Sequence[gate.Gate] = gate.GATES
) -> actions.Steps[evidence.Evidence]:
    """One pass over the CRD of that name.

    Returns its Evidence however it ended. Raises UsageError for a CRD that does not exist, or settings that cannot be.
    """
    settings.check(chosen)
    locked = ""
    state: _State | None = None
    for restart in range(chosen.restarts + 1):
        told = yield from actions.do(actions.ReadCrd(name=name))
        if told.value is None and state is not None:
            return state.held([_no("crd_unchanged", f"{name} was deleted during the pass, and its objects with it")])
        crd = _found(name, told.value)
        state = _begin(crd, chosen, gates, told, restart)
        if (end := _ends_at_once(state)) is not None:
            return end
        if chosen.dry_run:
            return (yield from _dry_run(state))
        if locked != crd.uid:
            holder = yield from actions.do(actions.Lock(uid=crd.uid))
            if holder.value:
                return state.held([_no("no_other_migration", _RUNNING.format(name, holder.value))])
            locked = crd.uid
        try:
            return (yield from _attempt(state))
        except _Again:
            continue
    assert state is not None
    return state.held([_no("crd_unchanged", _RESTLESS.format(name, chosen.restarts + 1))])


def _found(name: str, crd: crd_model.Crd | None) -> crd_model.Crd:
    if crd is None:
        raise errors.UsageError(
            f"no CustomResourceDefinition {name!r} in this cluster: names are <plural>.<group>, see `kubectl get crd`",
            reason="NotFound",
        )
    return crd


def _begin(
    crd: crd_model.Crd,
    chosen: settings.Settings,
    gates: Sequence[gate.Gate],
    told: actions.Told[crd_model.Crd | None],
    restarts: int,
) -> _State:
    standing.check_retire(crd, chosen.retire)
    observed = gate.Observed(
        crd=crd, now=told.now, settle_seconds=chosen.settle_seconds, bytes_wanted=bool(chosen.etcd)
    )
    record = evidence.Evidence(
        result=evidence.Result.HELD,
        summary="not finished",
        restarts=restarts,
        times=(("began", told.at),),
        **evidence.describes(crd),
    )
    return _State(settings=chosen, gates=gates, observed=observed, record=record)


def _ends_at_once(state: _State) -> evidence.Evidence | None:
    if (verdict := standing.obstacle(state.crd)) is not None:
        return state.held([verdict])
    if line := standing.nothing_to_do(state.crd, state.settings.retire):
        state.note(result=evidence.Result.NOTHING_TO_DO, summary=line)
        return state.record
    return None


_RUNNING = "another `instar migrate` works on {} ({}): wait until it ends; nothing was changed"
_RESTLESS = "{} was changed in each of {} attempts: stop changing it, then run again"


def _no(fact: str, reason: str) -> evidence.Verdict:
    return evidence.Verdict(fact=fact, holds=False, reason=reason)


def _dry_run(state: _State) -> actions.Steps[evidence.Evidence]:
    seen = yield from actions.do(actions.AskServers(crd=state.crd, fresh=True))
    state.see(servers=seen.value, now=seen.now)
    verdicts = gate.judge(state.gates, "rewrite", state.observed)
    counted = yield from actions.do(actions.Count(resource=_resource(state)))
    storage, before, after = crd_model.storage_version(state.crd), state.crd.stored_versions, trim.target(state.crd)
    going = sorted(standing.going(state.crd, state.settings.retire))
    fields = f"; managedFields that name {', '.join(going)} would be rewritten" if going else ""
    fields += yield from _would_go(state)
    if state.settings.etcd:
        stored = yield from actions.do(actions.ReadBytes(resource=_resource(state)))
        held = ", ".join(
            f"{count} at {version.rpartition('/')[2]}" for version, count in sorted(stored.value.by_version.items())
        )
        fields += f"; etcd holds {held or 'none'}"
    waits = "; ".join(verdict.reason for verdict in verdicts if not verdict.holds)
    fields += f"; it would wait now: {waits}" if waits else ""
    state.note(
        result=evidence.Result.DRY_RUN,
        summary=f"{state.crd.name}: {evidence.objects(counted.value)} would be rewritten at {storage} and proved, "
        f"storedVersions [{', '.join(before)}] would become [{', '.join(after)}]{fields}; nothing was changed",
        servers=seen.value,
        verdicts=verdicts,
    )
    return state.record


def _resource(state: _State) -> actions.Resource:
    return crd_model.resource(state.crd, crd_model.storage_version(state.crd))


def _attempt(state: _State) -> actions.Steps[evidence.Evidence]:
    if (end := (yield from _await_servers(state, "rewrite", mark="serversCaughtUp", fresh=True))) is not None:
        return end
    if state.crd.stored_versions == trim.target(state.crd):
        return (yield from _clean_only(state))
    if (end := (yield from _rewrite(state))) is not None:
        return end
    for proof_round in range(1, state.settings.proof_rounds + 1):
        found = yield from _prove(state, proof_round)
        if not found:
            if (end := (yield from _await_servers(state, "rewrite", mark="serversStillCaughtUp"))) is not None:
                return end
            verdicts = yield from _preconditions(state)
            if all(verdict.holds for verdict in verdicts):
                return (yield from _trim(state, verdicts))
            if not _worth_another(state):
                return state.held(verdicts)
    return state.held(gate.judge(state.gates, "trim", state.observed))


# --- waiting for a gate -----------------------------------------------------------------------------------------------


def _await_servers(
    state: _State, step: str, *, mark: str, fresh: bool = False
) -> actions.Steps[evidence.Evidence | None]:
    """Ask until the gates of a step hold; Evidence if they did not within the time."""
    gates = [entry for entry in state.gates if entry.step == step]
    deadline: float | None = None
    if not gates:
        return None
    while True:
        told = yield from actions.do(actions.AskServers(crd=state.crd, fresh=fresh))
        fresh = False
        state.see(servers=told.value, now=told.now)
        state.note(servers=told.value)
        verdicts = gate.judge(gates, step, state.observed)
        if all(verdict.holds for verdict in verdicts):
            state.time(mark, told)
            return None
        patience = state.settings.timeout_seconds + (state.settings.settle_seconds if step == "proof" else 0)
        deadline = told.now + patience if deadline is None else deadline
        if told.now >= deadline:
            return state.held(verdicts)
        yield from _check_crd(state)
        yield from actions.do(_pause(verdicts, deadline - told.now))


def _pause(verdicts: Sequence[evidence.Verdict], patience: float) -> actions.Wait:
    waiting = [verdict for verdict in verdicts if not verdict.holds]
    left = max(verdict.seconds_left for verdict in waiting) if all(entry.seconds_left for entry in waiting) else 0.0
    return actions.Wait(
        seconds=min(POLL_SECONDS, patience, *([left] if left else [])),
        reasons=tuple(verdict.reason for verdict in waiting),
        left_seconds=left,
    )


def _check_crd(state: _State) -> actions.Steps[None]:
    """Read the CRD again; start again if it is another one by now."""
    told = yield from actions.do(actions.ReadCrd(name=state.crd.name))
    crd = told.value
    state.see(crd_now=crd, now=told.now)
    if crd is None or crd.uid != state.crd.uid or crd.generation != state.crd.generation:
        raise _Again


# --- rewrite ----------------------------------------------------------------------------------------------------------


def _rewrite(state: _State) -> actions.Steps[evidence.Evidence | None]:
    """Rewrite all, wait until the settle time has passed, then what changed meanwhile; Evidence if it ends here.

    An object that stays unknown (conflicts, no answer) does not end it: the proof looks at every object again.
    """
    going = traces.Going(named=standing.going(state.crd, state.settings.retire))
    told = yield from actions.do(actions.Rewrite(resource=_resource(state), going=going))
    state.time("rewritten", told)
    scan = told.value
    state.see(rewrite=scan)
    state.note(rewrite=scan, canaries=scan.canaries)
    if scan.counts.quarantined or not scan.complete:
        yield from _check_crd(state)
        return state.held([gate.rewrite_complete(state.observed)])
    if (end := (yield from _await_servers(state, "proof", mark="settled"))) is not None:
        return end
    state.see(settled_from=state.observed.servers.steady_since if state.observed.servers else None)
    return (yield from _catch_up(state))


def _catch_up(state: _State) -> actions.Steps[evidence.Evidence | None]:
    """What was created or changed during the rewrite, until a round moves nothing or the bound is met."""
    for _ in range(state.settings.catch_up_rounds):
        before = state.observed.rewrite
        assert before is not None
        told = yield from actions.do(actions.CatchUp(resource=_resource(state), mark=before.mark, known=before.known))
        scan = _joined(before, told.value)
        state.see(rewrite=scan, now=told.now)
        state.note(rewrite=scan)
        if scan.counts.quarantined or not scan.complete:
            yield from _check_crd(state)
            return state.held([gate.rewrite_complete(state.observed)])
        if not told.value.counts.moved and not told.value.counts.unknown:
            break
    return None


def _would_go(state: _State) -> actions.Steps[str]:
    """What is carried for retired versions, and would be taken away."""
    found = yield from _carried(state)
    if found is None or not found.objects:
        return ""
    paths = ", ".join(f"{path} ({count})" for path, count in list(found.by_path.items())[:PATHS_SAID])
    more = f" and {len(found.by_path) - PATHS_SAID} more" if len(found.by_path) > PATHS_SAID else ""
    return f"; {_values(found)} would be gone for good: {paths}{more}"


def _values(found: evidence.Carried) -> str:
    return (
        f"{found.values} values that only {', '.join(found.versions)} could say, of {evidence.objects(found.objects)},"
    )


def _carried(state: _State) -> actions.Steps[evidence.Carried | None]:
    versions = standing.stripped(state.crd, state.settings.retire)
    if not versions:
        return None
    told = yield from actions.do(actions.ReadCarried(resource=_resource(state), versions=versions))
    return told.value


def _joined(before: evidence.Scan, after: evidence.Scan) -> evidence.Scan:
    """A rewrite with its catch-up: what was unknown before was looked at again, since it is newer than the mark."""
    counts = dataclasses.replace(before.counts, unknown=0) + dataclasses.replace(after.counts, listed=0)
    return dataclasses.replace(
        before,
        counts=counts,
        contended=before.contended + after.contended,
        unknown=after.unknown,
        quarantined=before.quarantined + after.quarantined,
        complete=before.complete and after.complete,
    )


def _clean_only(state: _State) -> actions.Steps[evidence.Evidence]:
    """storedVersions is right already: only objects keep something of a version that goes."""
    scan = yield from _clean(state)
    assert scan is not None
    verdicts = gate.judge([gate.MANAGED_FIELDS_CLEAN, gate.NOTHING_CARRIED], "trim", state.observed)
    if not all(verdict.holds for verdict in verdicts):
        return state.held(verdicts)
    going = ", ".join(sorted(standing.going(state.crd, state.settings.retire)))
    taken = state.record.carried
    gone = f"; {_values(taken)} are gone" if taken is not None and taken.objects else ""
    state.note(
        result=evidence.Result.CLEANED if scan.counts.moved else evidence.Result.NOTHING_TO_DO,
        summary=f"{state.crd.name}: what named {going}: {scan.counts.moved} of "
        f"{evidence.objects(scan.counts.listed)} rewritten{gone}; storedVersions is right already",
    )
    return state.record


def _clean(state: _State) -> actions.Steps[evidence.Scan | None]:
    going = traces.Going(
        named=standing.going(state.crd, state.settings.retire),
        stripped=standing.stripped(state.crd, state.settings.retire),
    )
    if not going.named:
        return None
    state.note(carried=(yield from _carried(state)))
    told = yield from actions.do(actions.Clean(resource=_resource(state), going=going))
    state.see(managed_fields=told.value, carried=(yield from _carried(state)))
    state.time("managedFieldsRewritten", told)
    state.note(managed_fields=told.value)
    return told.value


# --- proof and trim ---------------------------------------------------------------------------------------------------


def _prove(state: _State, proof_round: int) -> actions.Steps[bool]:
    """One whole proof; True if it has to be done again."""
    if proof_round == 1:
        yield from _clean(state)
    began = state.observed.now
    told = yield from actions.do(actions.Prove(resource=_resource(state)))
    state.see(proof=told.value, proof_began=began)
    state.time("proved", told)
    state.note(proof=told.value, proof_rounds=proof_round, findings=_kept(state.record.findings + told.value.moved))
    return _proof_gate(state) and bool(told.value.counts.moved or told.value.counts.unknown)


def _proof_gate(state: _State) -> bool:
    return any(entry.judge is gate.proof_complete for entry in state.gates)


def _kept(findings: tuple[evidence.Finding, ...]) -> tuple[evidence.Finding, ...]:
    return tuple(dict.fromkeys(findings))[: evidence.FINDINGS_KEPT]


def _preconditions(state: _State) -> actions.Steps[tuple[evidence.Verdict, ...]]:
    """Everything that the trim rests on, looked at once more, the objects last."""
    yield from _check_crd(state)
    if state.settings.etcd:
        stored = yield from actions.do(actions.ReadBytes(resource=_resource(state)))
        state.see(stored=stored.value)
        state.note(stored=stored.value, findings=_kept(state.record.findings + stored.value.others))
    proof = state.observed.proof
    assert proof is not None
    told = yield from actions.do(actions.Recheck(resource=_resource(state), mark=proof.mark, known=proof.known))
    state.see(proof=_extended(proof, told.value))
    state.time("rechecked", told)
    state.note(proof=state.observed.proof, findings=_kept(state.record.findings + told.value.moved))
    lock = yield from actions.do(actions.LockCheck())
    state.see(lock_held=lock.value)
    sound = trim.sound(state.crd, trim.target(state.crd), _proved_absent(state))
    return (*gate.judge(state.gates, "trim", state.observed), sound)


def _extended(proof: evidence.Scan, recheck: evidence.Scan) -> evidence.Scan:
    return dataclasses.replace(
        proof,
        counts=proof.counts + dataclasses.replace(recheck.counts, listed=0),
        moved=proof.moved + recheck.moved,
        contended=proof.contended + recheck.contended,
        unknown=proof.unknown + recheck.unknown,
        quarantined=proof.quarantined + recheck.quarantined,
        complete=proof.complete and recheck.complete,
    )


def _proved_absent(state: _State) -> frozenset[str]:
    """Every version but the storage version, once a whole proof found no object at any other."""
    storage, proof = crd_model.storage_version(state.crd), state.observed.proof
    if _proof_gate(state) and (proof is None or not proof.complete or proof.counts.moved or proof.counts.unknown):
        return frozenset()
    return frozenset(state.crd.stored_versions) - {storage}


def _worth_another(state: _State) -> bool:
    """Whether a new proof may end better: something was found old (and healed), or changed too fast to be known."""
    proof, stored = state.observed.proof, state.observed.stored
    assert proof is not None
    if proof.counts.quarantined or not proof.complete:
        return False
    return bool(proof.counts.moved or proof.counts.unknown or (stored is not None and stored.others))


def _trim(state: _State, verdicts: tuple[evidence.Verdict, ...]) -> actions.Steps[evidence.Evidence]:
    new = trim.target(state.crd)
    told = yield from actions.do(actions.Trim(name=state.crd.name, patch=tuple(trim.patch(state.crd, new))))
    if told.value.refused:
        raise _Again
    state.time("trimmed", told)
    rewritten, proof = state.observed.rewrite, state.observed.proof
    assert rewritten is not None
    assert proof is not None
    state.note(
        verdicts=verdicts,
        result=evidence.Result.TRIMMED,
        stored_versions_after=told.value.stored_versions,
        summary=_success(state.crd, rewritten, proof, told.value.stored_versions),
    )
    return state.record


def _success(
    crd: crd_model.Crd, rewritten: evidence.Scan, proof: evidence.Scan, stored_versions: tuple[str, ...]
) -> str:
    before, after = ", ".join(crd.stored_versions), ", ".join(stored_versions)
    trimmed = f"storedVersions [{before}] is now [{after}]"
    if not proof.counts.listed:
        return f"{crd.name}: no objects; {trimmed}"
    storage = crd_model.storage_version(crd)
    real = f" ({rewritten.counts.changed} of them a real change)" if rewritten.counts.changed else ""
    return (
        f"{crd.name}: {evidence.objects(proof.counts.listed)} proved to be stored at {storage}, "
        f"{rewritten.counts.moved} rewritten{real}; {trimmed}"
    )
