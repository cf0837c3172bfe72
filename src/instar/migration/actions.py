"""What a pass asks of the world, one value per step: the boundaries at which it may be killed and resumed.

Each action names its outcome's type; the outcome comes back with the time of a steady clock, since decisions have none
of their own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Generator
from typing import Any, Generic, TypeVar

from instar.migration import evidence, traces
from instar.model import crd as crd_model
from instar.model import resource as resource_model

__all__ = [
    "Action",
    "AskServers",
    "CatchUp",
    "Clean",
    "Count",
    "Lock",
    "LockCheck",
    "Prove",
    "ReadBytes",
    "ReadCarried",
    "ReadCrd",
    "Recheck",
    "Rewrite",
    "Steps",
    "Told",
    "Trim",
    "Trimmed",
    "Wait",
    "do",
]

T = TypeVar("T")
Resource = resource_model.Resource


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Told(Generic[T]):
    """An outcome. ``now`` in seconds of a steady clock; ``at`` the same moment in words, for the record."""

    value: T
    now: float
    at: str


class Action(Generic[T]):
    """A step; T is the type of its outcome."""

    __slots__ = ()


Steps = Generator[Action[Any], Told[Any], T]


def do(action: Action[T]) -> Generator[Action[Any], Told[Any], Told[T]]:
    """Yield one action and hand back its outcome, typed."""
    return (yield action)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ReadCrd(Action[crd_model.Crd | None]):
    """Read the CRD from etcd; None if there is none of that name."""

    name: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Lock(Action[str]):
    """Take this CRD's lease; the outcome is empty, or says who holds it."""

    uid: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class LockCheck(Action[bool]):
    """Whether the lease is still ours."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class AskServers(Action[evidence.ServersSeen]):
    """Ask every known API server for its storage version hash. ``fresh``: begin to watch them anew."""

    crd: crd_model.Crd
    fresh: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Wait(Action[None]):
    """Come back after that time; ``reasons`` say what is waited for, ``left_seconds`` how long where time will do."""

    seconds: float
    reasons: tuple[str, ...]
    left_seconds: float = 0.0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Count(Action[int]):
    """How many objects there are, for a dry run."""

    resource: Resource


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Rewrite(Action[evidence.Scan]):
    """Write every object back unchanged; what it keeps of versions that go may leave in the same write."""

    resource: Resource
    going: traces.Going = dataclasses.field(default_factory=traces.Going)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CatchUp(Action[evidence.Scan]):
    """Write back what is newer than ``mark`` and not in ``known``."""

    resource: Resource
    mark: int
    known: Container[int]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Clean(Action[evidence.Scan]):
    """Take away what objects keep of versions that go."""

    resource: Resource
    going: traces.Going


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ReadCarried(Action[evidence.Carried]):
    """Count what is carried for these versions; nothing is written."""

    resource: Resource
    versions: frozenset[str]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Prove(Action[evidence.Scan]):
    """Prove every object by the fixed point, and follow what is created or changed meanwhile."""

    resource: Resource


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Recheck(Action[evidence.Scan]):
    """List once more, right before the trim, and prove what is newer than ``mark`` and not in ``known``."""

    resource: Resource
    mark: int
    known: Container[int]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ReadBytes(Action[evidence.StoredBytes]):
    """Count what etcd holds."""

    resource: Resource


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Trimmed:
    """``stored_versions`` after the patch; ``refused`` says why it did not land."""

    stored_versions: tuple[str, ...] = ()
    refused: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Trim(Action[Trimmed]):
    """Send this JSON patch of the CRD's ``/status``."""

    name: str
    patch: tuple[dict[str, Any], ...]
