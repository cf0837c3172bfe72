"""What clients were told was written: the only source of what must be there at the end.

An acknowledged write carries the resource version that it got, and etcd gives those out in order, so whoever replays
the writes to one object in that order knows each value's last acknowledged edit, whichever client sent it and whenever
its answer arrived. Two answers with one resource version mean that one of the writes changed nothing: their order does
not matter.

An object is its uid: a name that is deleted and made again is another object. What a write does to an object is its
``effect``, a function from what was there to what is there then.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from instar.model import resource

__all__ = ["Effect", "Expected", "Ledger", "Write"]

Effect = Callable[[dict[str, Any]], dict[str, Any]]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Write:
    """One acknowledged write: the resource version that it got, and what it did."""

    revision: int
    effect: Effect


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """What one object must hold: each value as it was last acknowledged."""

    key: resource.ObjectKey
    uid: str
    state: Mapping[str, Any]


class Ledger:
    """Acknowledged writes by object; grows only."""

    def __init__(self) -> None:
        self._keys: dict[str, resource.ObjectKey] = {}
        self._writes: dict[str, list[Write]] = {}
        self._deleted: set[str] = set()
        self.edits = 0

    def wrote(self, key: resource.ObjectKey, uid: str, revision: int, effect: Effect) -> None:
        """A create, update, patch or apply was acknowledged."""
        self._keys[uid] = key
        self._writes.setdefault(uid, []).append(Write(revision=revision, effect=effect))
        self.edits += 1

    def deleted(self, uid: str) -> None:
        """A delete was acknowledged."""
        self._deleted.add(uid)
        self.edits += 1

    def expected(self) -> Iterator[Expected]:
        """Every object that must exist, with what it must hold."""
        for uid, writes in self._writes.items():
            if uid not in self._deleted:
                yield Expected(key=self._keys[uid], uid=uid, state=_replay(writes))

    @property
    def live(self) -> int:
        """How many objects must exist."""
        return len(self._writes) - len(self._deleted)


def _replay(writes: list[Write]) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for write in sorted(writes, key=lambda write: write.revision):
        state = write.effect(state)
    return state
