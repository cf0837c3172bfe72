"""What one run from an old version to a new one left behind: the facts of its page and of its ``report.json``.

Every number here was measured by whoever made the run. Nothing is computed from anything else on the way to the page,
so the page and the JSON cannot disagree.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "Fact",
    "LatencySample",
    "Run",
    "Step",
    "StoredSample",
    "WriteSample",
    "Writes",
    "document",
]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step of the run: when it began, how long it took, and what was seen that shows it is done."""

    name: str
    title: str
    begin_seconds: float
    seconds: float
    proofs: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Fact:
    """Something that must hold, whether it does, and how that was found out."""

    name: str
    statement: str
    measured: str
    holds: bool


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StoredSample:
    """How many objects were encoded at each version at one time, counted in etcd."""

    at_seconds: float
    by_version: Mapping[str, int]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LatencySample:
    """Conversion calls that ended since the sample before, as the API server timed them."""

    at_seconds: float
    calls: int
    median_seconds: float
    p99_seconds: float


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class WriteSample:
    """Writes acknowledged since the sample before, by the version they were sent through."""

    at_seconds: float
    by_version: Mapping[str, int]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Writes:
    """What the clients of one version did: acknowledged writes by verb, and what was answered with "try again"."""

    acknowledged: Mapping[str, int]
    during_rewrite: int
    retried: Mapping[str, int]
    failures: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One run. ``losses`` are sentences, one for each value that is not what was written."""

    title: str
    kind: str
    crd: str
    old: str
    new: str
    began: str
    seconds: float
    objects: int
    created: int
    deleted: int
    stored_before: Mapping[str, int]
    stored_after: Mapping[str, int]
    stored_versions: tuple[str, ...]
    lost: int
    losses: tuple[str, ...]
    compared: int
    acknowledged_edits: int
    apply_ok: bool
    writes: Mapping[str, Writes]
    facts: Sequence[Fact]
    steps: Sequence[Step]
    software: Mapping[str, str]
    stored_samples: Sequence[StoredSample]
    latency_samples: Sequence[LatencySample]
    write_samples: Sequence[WriteSample]
    write_interval_seconds: float
    settle_seconds: float
    rewrite_seconds: float

    @property
    def holds(self) -> bool:
        """Whether every fact holds."""
        return all(fact.holds for fact in self.facts)


def document(run: Run) -> dict[str, Any]:
    """The run as JSON: names that a program reads first (``objects``, ``stored``, ``writers``, ``lost``), then all."""
    return {
        "ok": run.holds,
        "crd": run.crd,
        "objects": run.objects,
        "created": run.created,
        "deleted": run.deleted,
        "stored": {"before": dict(run.stored_before), "after": dict(run.stored_after)},
        "writers": {version: writes.during_rewrite for version, writes in run.writes.items()},
        "lost": run.lost,
        "losses": list(run.losses),
        "compared": run.compared,
        "acknowledged_edits": run.acknowledged_edits,
        "storedVersions": list(run.stored_versions),
        "apply_ok": run.apply_ok,
        "seconds": round(run.seconds, 3),
        "settle_seconds": run.settle_seconds,
        "rewrite_seconds": round(run.rewrite_seconds, 3),
        "began": run.began,
        "software": dict(run.software),
        "writes": {version: dataclasses.asdict(writes) for version, writes in run.writes.items()},
        "facts": [dataclasses.asdict(fact) for fact in run.facts],
        "steps": [dataclasses.asdict(step) for step in run.steps],
        "samples": {
            "stored": [dataclasses.asdict(sample) for sample in run.stored_samples],
            "conversion_latency": [dataclasses.asdict(sample) for sample in run.latency_samples],
            "writes": [dataclasses.asdict(sample) for sample in run.write_samples],
        },
    }
