"""The facts that must hold before a step of a pass is taken; each is a pure function of what was observed.

::

    before the rewrite   servers_caught_up    every known API server encodes at the new version
    before the proof     settled              requests that were under way at the flip have ended
    before the trim      all of them, and     rewrite_complete, proof_complete, bytes_clean, crd_unchanged, lock_held

A pass is given its gates as a list, so that a test can take one out and see what it kept from happening.
Why the first two: a server that has not seen the flip, and a request that began before it, write the old version after
everything else was rewritten (measured: k/k#130235 and its like).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from instar.migration import evidence
from instar.model import crd as crd_model

__all__ = ["GATES", "MANAGED_FIELDS_CLEAN", "Gate", "Observed", "judge"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Observed:
    """All that a pass knows at the moment of a decision; ``now`` and ``settled_from`` on the same steady clock."""

    crd: crd_model.Crd
    now: float
    settle_seconds: float
    servers: evidence.ServersSeen | None = None
    proof_began: float | None = None
    settled_from: float | None = None
    rewrite: evidence.Scan | None = None
    proof: evidence.Scan | None = None
    bytes_wanted: bool = False
    stored: evidence.StoredBytes | None = None
    crd_now: crd_model.Crd | None = None
    managed_fields: evidence.Scan | None = None
    carried: evidence.Carried | None = None
    lock_held: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Gate:
    """A fact, and the step before which it must hold: ``rewrite``, ``proof`` or ``trim``."""

    step: str
    judge: Callable[[Observed], evidence.Verdict]


def judge(gates: Sequence[Gate], step: str, observed: Observed) -> tuple[evidence.Verdict, ...]:
    """The verdicts before a step; before the trim all gates are judged again."""
    return tuple(gate.judge(observed) for gate in gates if step in ("trim", gate.step))


def _verdict(fact: str, objections: Sequence[str]) -> evidence.Verdict:
    return evidence.Verdict(fact=fact, holds=not objections, reason="; ".join(objections))


def servers_caught_up(observed: Observed) -> evidence.Verdict:
    """Every known API server answers, with the hash of the present storage version."""
    seen, wanted = observed.servers, crd_model.storage_version_hash(observed.crd)
    if seen is None or not seen.servers:
        return _verdict("servers_caught_up", ["no API server is known: name each with --apiserver"])
    objections = [_lags(server, wanted) for server in seen.servers if server.hash != wanted]
    if seen.leases is not None and seen.leases > len(seen.servers):
        objections.append(
            f"{seen.leases} API servers hold an identity lease in kube-system, {len(seen.servers)} are known: name "
            "each with --apiserver (or delete the lease of one that is gone for good)"
        )
    return _verdict("servers_caught_up", objections)


def _lags(server: evidence.ServerSeen, wanted: str) -> str:
    if server.hash is None:
        return f"{server.url} does not answer ({server.error}); it may write the old version when it wakes"
    return f"{server.url} shows storageVersionHash {server.hash or 'none'}, not {wanted}"


def settled(observed: Observed) -> evidence.Verdict:
    """The settle time has passed since this run saw the last API server caught up."""
    since = observed.settled_from
    if since is None and observed.servers is not None:
        since = observed.servers.steady_since
    if since is None:
        return _verdict("settled", ["an API server has not caught up yet"])
    until = observed.now if observed.proof_began is None else observed.proof_began
    left = observed.settle_seconds - (until - since)
    if left <= 0:
        return _verdict("settled", [])
    reason = f"{left:.0f} s until requests that began before the flip have ended"
    return evidence.Verdict(fact="settled", holds=False, reason=reason, seconds_left=left)


def rewrite_complete(observed: Observed) -> evidence.Verdict:
    """Every object was rewritten, or is gone."""
    return _verdict("rewrite_complete", _objections(observed.rewrite, "rewrite"))


def proof_complete(observed: Observed) -> evidence.Verdict:
    """Every object was proved to be stored at the storage version, after the settle time, with nothing found old."""
    objections = _objections(observed.proof, "proof")
    if observed.proof is not None and observed.proof.counts.moved:
        names = ", ".join(str(finding) for finding in observed.proof.moved[:3])
        objections.append(f"stored at an old version: {evidence.objects(observed.proof.counts.moved)} ({names})")
    return _verdict("proof_complete", objections)


def _objections(scan: evidence.Scan | None, what: str) -> list[str]:
    if scan is None:
        return [f"there was no {what}"]
    objections = []
    if scan.counts.quarantined:
        objections.append(f"{scan.counts.quarantined} refused: {_first(scan.quarantined)}")
    if scan.counts.unknown:
        objections.append(f"{scan.counts.unknown} unknown: {_first(scan.unknown)}")
    if not scan.complete:
        objections.append(f"the {what} did not reach the end of the list")
    return objections


def _first(findings: Sequence[evidence.Finding]) -> str:
    more = f" and {len(findings) - 1} more" if len(findings) > 1 else ""
    return f"{findings[0]}{more}" if findings else "see the report"


def bytes_clean(observed: Observed) -> evidence.Verdict:
    """Where etcd was given: every key can be read, and stands at the storage version."""
    if not observed.bytes_wanted:
        return _verdict("bytes_clean", [])
    stored = observed.stored
    if stored is None:
        return _verdict("bytes_clean", ["etcd was not read"])
    objections = [stored.error] if stored.error else []
    if stored.unreadable:
        objections.append(f"{stored.unreadable} values in etcd cannot be read (encrypted or not JSON): unknown")
    wanted = crd_model.resource(observed.crd, crd_model.storage_version(observed.crd)).api_version
    objections += [f"{count} at {name} in etcd" for name, count in stored.by_version.items() if name != wanted]
    listed = observed.proof.counts.listed if observed.proof else 0
    if not sum(stored.by_version.values()) and listed:
        objections.append(f"etcd holds none of {evidence.objects(listed)}: is it this cluster's etcd and prefix?")
    return _verdict("bytes_clean", objections)


def crd_unchanged(observed: Observed) -> evidence.Verdict:
    """The CRD is still the one that the proof is about."""
    before, now = observed.crd, observed.crd_now
    if now is None:
        return _verdict("crd_unchanged", ["the CRD is gone"])
    objections = []
    if now.uid != before.uid:
        objections.append(f"the CRD was re-created (uid {before.uid}, now {now.uid})")
    elif now.generation != before.generation:
        objections.append(f"the CRD was changed (generation {before.generation}, now {now.generation})")
    if now.terminating:
        objections.append("the CRD is being deleted")
    if crd_model.condition(now, "StorageMigrating"):
        objections.append("an in-tree migration began")
    return _verdict("crd_unchanged", objections)


def lock_held(observed: Observed) -> evidence.Verdict:
    """No other run took this one's lease."""
    return _verdict("lock_held", [] if observed.lock_held else ["another run took the lease of this one"])


def managed_fields_clean(observed: Observed) -> evidence.Verdict:
    """Where a version is about to go: no object's managedFields name it any more."""
    scan = observed.managed_fields
    return _verdict("managed_fields_clean", _objections(scan, "rewrite of managedFields") if scan is not None else [])


def nothing_carried(observed: Observed) -> evidence.Verdict:
    """Where a version was retired: no object carries anything for it any more, looked at after it was taken away."""
    left = observed.carried
    objections = (
        [f"what is carried for {', '.join(left.versions)} was not all read: {left.error}"]
        if left and left.error
        else []
    )
    if left and left.objects:
        objections.append(
            f"values of {', '.join(left.versions)} are on {evidence.objects(left.objects)} again (as {left.first}): "
            "does a guard put them back? Run as a user that it does not look at (instar generate guard --exempt USER)"
        )
    return _verdict("nothing_carried", objections)


NOTHING_CARRIED = Gate(step="trim", judge=nothing_carried)
MANAGED_FIELDS_CLEAN = Gate(step="trim", judge=managed_fields_clean)

GATES: tuple[Gate, ...] = (
    Gate(step="rewrite", judge=servers_caught_up),
    Gate(step="proof", judge=settled),
    Gate(step="trim", judge=rewrite_complete),
    Gate(step="trim", judge=proof_complete),
    Gate(step="trim", judge=bytes_clean),
    MANAGED_FIELDS_CLEAN,
    NOTHING_CARRIED,
    Gate(step="trim", judge=crd_unchanged),
    Gate(step="trim", judge=lock_held),
)
