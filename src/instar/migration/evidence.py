"""What one pass saw and did: the values that gates judge, and the record that stays when the pass is over.

A trim cannot be taken back, and nobody checks it but us, so the record says on what it rested: which CRD (uid,
generation), which API servers, which counts, which method, when.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
from collections.abc import Container, Mapping
from typing import Any

from instar.model import carried
from instar.model import crd as crd_model

__all__ = [
    "Counts",
    "Evidence",
    "Finding",
    "Result",
    "Scan",
    "ServerSeen",
    "ServersSeen",
    "StoredBytes",
    "Verdict",
    "document",
    "exit_code",
    "with_canaries",
]

FINDINGS_KEPT = 1000


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """Whether a fact holds, and if not, why and what to do; ``seconds_left`` where time alone will make it hold."""

    fact: str
    holds: bool
    reason: str = ""
    seconds_left: float = 0.0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One object with something to say about it."""

    namespace: str
    name: str
    reason: str
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        where = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{where}: {self.reason}: {self.message}" + (f" ({self.remedy})" if self.remedy else "")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """Objects by what came of them. ``changed``: the write was a real change (generation moved), as by a default.

    ``contended``: others wrote the object each time, so that nobody can tell whether it was old; it is current now.
    """

    listed: int = 0
    moved: int = 0
    unchanged: int = 0
    contended: int = 0
    gone: int = 0
    changed: int = 0
    conflicts: int = 0
    quarantined: int = 0
    unknown: int = 0

    def __add__(self, other: Counts) -> Counts:
        names = [field.name for field in dataclasses.fields(self)]
        return Counts(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Scan:
    """One way through the objects. ``mark`` is the revision of the list that it began with: whatever is newer was not
    seen by it, unless its revision is in ``known`` (an answer to one of our own writes, or proved)."""

    mark: int
    counts: Counts
    moved: tuple[Finding, ...] = ()
    contended: tuple[Finding, ...] = ()
    quarantined: tuple[Finding, ...] = ()
    unknown: tuple[Finding, ...] = ()
    known: Container[int] = ()
    canaries: frozenset[str] = frozenset()
    complete: bool = True
    seconds: float = 0.0


def with_canaries(scan: Scan, canaries: frozenset[str]) -> Scan:
    """The scan, with the servers through which an old object was seen to move."""
    return dataclasses.replace(scan, canaries=canaries)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServerSeen:
    """What one API server says: its storage version hash ("" if it shows none), or why it did not answer.

    ``steady_since`` is when it began to answer with the wanted hash without a miss; None while it does not.
    """

    url: str
    hash: str | None
    error: str = ""
    steady_since: float | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServersSeen:
    """All known API servers. ``source`` says how they are known; ``leases`` how many identity leases there are."""

    servers: tuple[ServerSeen, ...]
    source: str
    leases: int | None = None

    @property
    def steady_since(self) -> float | None:
        """When the last of them caught up; None while one has not."""
        times = [server.steady_since for server in self.servers]
        return max((time for time in times if time is not None), default=None) if None not in times else None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StoredBytes:
    """What etcd holds, counted by the version in the bytes; ``others`` names keys that are not at the wanted one."""

    by_version: dict[str, int]
    unreadable: int
    others: tuple[Finding, ...] = ()
    error: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Carried:
    """What annotations carry for versions that go: values that only these versions could say, by path."""

    versions: tuple[str, ...]
    objects: int
    values: int
    by_path: dict[str, int]
    first: str = ""
    error: str = ""


class CarriedCount:
    """Counts what objects carry, one after the other."""

    def __init__(self, versions: frozenset[str]) -> None:
        self._versions = versions
        self._objects = 0
        self._first = ""
        self._by_path: collections.Counter[str] = collections.Counter()

    def add(self, name: str, annotations: Mapping[str, str]) -> None:
        """One object with the annotations of it that carry something."""
        mine = [text for key, text in annotations.items() if carried.version_of(key) in self._versions]
        if mine:
            self._objects += 1
            self._first = self._first or name
            self._by_path.update(path for path in map(carried.path_of, mine) if path)

    def total(self, error: str) -> Carried:
        """What was counted; ``error`` says why it is not all."""
        return Carried(
            versions=tuple(sorted(self._versions)),
            objects=self._objects,
            values=self._by_path.total(),
            by_path=dict(self._by_path.most_common()),
            first=self._first,
            error=error,
        )


class Result(enum.Enum):
    """How a pass ended."""

    TRIMMED = "trimmed"
    NOTHING_TO_DO = "nothing to do"
    CLEANED = "managedFields rewritten"
    DRY_RUN = "dry run"
    HELD = "held"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """The record of one pass over one CRD."""

    crd: str
    result: Result
    summary: str
    uid: str = ""
    generation: int = 0
    resource_version: str = ""
    storage_version: str = ""
    strategy: str = ""
    stored_versions_before: tuple[str, ...] = ()
    stored_versions_after: tuple[str, ...] = ()
    servers: ServersSeen | None = None
    canaries: frozenset[str] = frozenset()
    rewrite: Scan | None = None
    proof: Scan | None = None
    proof_rounds: int = 0
    findings: tuple[Finding, ...] = ()
    stored: StoredBytes | None = None
    managed_fields: Scan | None = None
    carried: Carried | None = None
    verdicts: tuple[Verdict, ...] = ()
    restarts: int = 0
    times: tuple[tuple[str, str], ...] = ()


def objects(count: int) -> str:
    """How many: ``1 object``, ``2 objects``."""
    return f"{count} object" if count == 1 else f"{count} objects"


def exit_code(evidence: Evidence) -> int:
    """0 unless a gate held, or would hold after a dry run: the pass did not, or could not now, reach its end."""
    would_hold = evidence.result is Result.DRY_RUN and not all(verdict.holds for verdict in evidence.verdicts)
    return 1 if evidence.result is Result.HELD or would_hold else 0


def document(evidence: Evidence) -> dict[str, Any]:
    """The record as JSON data; field names are stable."""
    return {
        "crd": evidence.crd,
        "uid": evidence.uid,
        "generation": evidence.generation,
        "resourceVersion": evidence.resource_version,
        "strategy": evidence.strategy,
        "storageVersion": evidence.storage_version,
        "result": evidence.result.value,
        "summary": evidence.summary,
        "storedVersions": {
            "before": list(evidence.stored_versions_before),
            "after": list(evidence.stored_versions_after),
        },
        "servers": _servers(evidence),
        "rewrite": _scan(evidence.rewrite),
        "proof": _proof(evidence),
        "managedFields": _scan(evidence.managed_fields),
        "carried": _carried(evidence.carried),
        "gates": [
            {"fact": verdict.fact, "holds": verdict.holds, "reason": verdict.reason} for verdict in evidence.verdicts
        ],
        "restarts": evidence.restarts,
        "times": dict(evidence.times),
    }


def _servers(evidence: Evidence) -> dict[str, Any] | None:
    if evidence.servers is None:
        return None
    return {
        "source": evidence.servers.source,
        "identityLeases": evidence.servers.leases,
        "servers": [
            {
                "url": server.url,
                "hash": server.hash,
                "error": server.error,
                "evidence": "canary" if server.url in evidence.canaries else "hash only",
            }
            for server in evidence.servers.servers
        ],
    }


def _scan(scan: Scan | None) -> dict[str, Any] | None:
    if scan is None:
        return None
    return {
        **dataclasses.asdict(scan.counts),
        "mark": str(scan.mark),
        "complete": scan.complete,
        "seconds": round(scan.seconds, 3),
        "contendedObjects": [dataclasses.asdict(finding) for finding in scan.contended],
        "quarantinedObjects": [dataclasses.asdict(finding) for finding in scan.quarantined],
        "unknownObjects": [dataclasses.asdict(finding) for finding in scan.unknown],
    }


def _carried(found: Carried | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {"versions": list(found.versions), "objects": found.objects, "values": found.values, "paths": found.by_path}


def _proof(evidence: Evidence) -> dict[str, Any] | None:
    scan = _scan(evidence.proof)
    if scan is None or evidence.proof is None:
        return None
    stored = evidence.stored
    return {
        "method": "fixed point" if stored is None else "fixed point and bytes",
        "rounds": evidence.proof_rounds,
        **scan,
        "findings": [dataclasses.asdict(finding) for finding in evidence.findings],
        "bytes": None
        if stored is None
        else {
            "byVersion": stored.by_version,
            "unreadable": stored.unreadable,
            "others": [dataclasses.asdict(finding) for finding in stored.others],
            "error": stored.error,
        },
    }


def describes(crd: crd_model.Crd) -> dict[str, Any]:
    """The fields of Evidence that say which CRD it is about."""
    return {
        "crd": crd.name,
        "uid": crd.uid,
        "generation": crd.generation,
        "resource_version": crd.resource_version,
        "storage_version": crd_model.storage_version(crd),
        "strategy": crd.strategy,
        "stored_versions_before": crd.stored_versions,
        "stored_versions_after": crd.stored_versions,
    }
