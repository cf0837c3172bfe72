"""The dialogue about one object: an empty merge patch with its resourceVersion, until the answer says something.

An empty patch makes the API server decode what is stored and encode it at the storage version. It writes only if the
bytes differ, so the answer's resourceVersion tells which it was (measured on 1.37.2, every strategy)::

    resourceVersion as sent    the bytes were current:     UNCHANGED    (the fixed point: a proof)
    resourceVersion moved      they were not, now they are: MOVED        (in a proof: a finding)

An object that others write all the time answers 409 again and again. The last way is the empty patch without a
resourceVersion, which the API server itself applies to whatever is newest until it lands: what is stored at the
answered resourceVersion is current, only whether it was so before nobody can tell::

    no resourceVersion sent    current at the answered one:  CONTENDED

Decisions never sleep and never do I/O: the generator yields what it wants and is sent what came of it. Its values are
Structs, not dataclasses, because some are made for every object: a frozen dataclass takes ten times as long.
Source: https://kubernetes.io/docs/tasks/manage-kubernetes-objects/storage-version-migration/
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import msgspec

from instar.migration import refusal

__all__ = ["Answered", "Dialogue", "Get", "Item", "Kind", "Patch", "Pause", "Result", "empty_patch", "touch"]

_AGAIN_SECONDS = (0.2, 0.5, 1.0, 2.0)


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """What a list says about one object, and no more."""

    namespace: str
    name: str
    uid: str
    resource_version: str
    generation: int = 0
    managed_fields: Sequence[dict[str, Any]] = ()
    carried: Mapping[str, str] = msgspec.field(default_factory=dict)


class Patch(msgspec.Struct, frozen=True, kw_only=True):
    """Send this patch of the object; the outcome is Answered or Refused."""

    item: Item
    body: bytes
    kind: str = "merge"


class Get(msgspec.Struct, frozen=True, kw_only=True):
    """Read the object by name, resourceVersion unset, so that etcd answers; the outcome is an Item or Refused."""

    item: Item


class Pause(msgspec.Struct, frozen=True, kw_only=True):
    """Come back after that time; the outcome is None. ``asked`` is True where the server asked for it."""

    seconds: float
    asked: bool


class Answered(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The object as it stands after a patch; decoded from its metadata."""

    resource_version: str
    generation: int = 0


class Kind(enum.Enum):
    """How a dialogue about one object ended."""

    UNCHANGED = "unchanged"
    MOVED = "moved"
    CONTENDED = "contended"
    GONE = "gone"
    QUARANTINED = "quarantined"
    UNKNOWN = "unknown"
    STOPPED = "stopped"


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a dialogue; ``item`` is the object as last seen, ``revision`` the answered resourceVersion."""

    kind: Kind
    item: Item
    revision: str = ""
    changed: bool = False
    conflicts: int = 0
    refused: refusal.Refused | None = None

    @property
    def out_of_turns(self) -> bool:
        """Whether it ended only because others wrote the object each time: to be asked again later."""
        return self.kind is Kind.UNKNOWN and self.refused is not None and self.refused.code == 409


Body = Callable[[Item], bytes | None]
Action = Patch | Get | Pause
Outcome = Answered | Item | refusal.Refused | None
Dialogue = Generator[Action, Outcome, Result]


def empty_patch(item: Item) -> bytes:
    """The patch that changes nothing and lands only on the object as it was seen."""
    return b'{"metadata":{"resourceVersion":"%s"}}' % item.resource_version.encode()


def touch(
    item: Item, *, attempts: int, body: Body = empty_patch, kind: str = "merge", insist: bool = False
) -> Dialogue:
    """Write the object until the answer is clear: at most ``attempts`` times, pauses that the server asks for aside.

    An item without a resourceVersion is one that no list can read: it is read by name first.
    ``body`` gives the patch for the object as last seen, or None where there is nothing to write. ``insist`` takes the
    last way where every attempt was in conflict: one more write.
    """
    conflicts = 0
    last: refusal.Refused | None = None
    if not item.resource_version:
        seen = yield from _get(item)
        if isinstance(seen, Result):
            return seen
        item = seen
    for attempt in range(attempts):
        answer = yield from _patch(item, body, kind)
        if answer is None:
            return Result(kind=Kind.UNCHANGED, item=item, revision=item.resource_version, conflicts=conflicts)
        if isinstance(answer, Answered):
            return _judge(item, answer, conflicts)
        last = answer
        sort = refusal.sort(answer, item.name)
        if sort is not refusal.Sort.CONFLICT and sort is not refusal.Sort.AGAIN:
            return Result(kind=_END[sort], item=item, conflicts=conflicts, refused=answer)
        if attempt + 1 == attempts:
            break
        if sort is refusal.Sort.AGAIN:
            yield Pause(seconds=_AGAIN_SECONDS[min(attempt, len(_AGAIN_SECONDS) - 1)], asked=False)
            continue
        conflicts += 1
        seen = yield from _get(item)
        if isinstance(seen, Result):
            return msgspec.structs.replace(seen, conflicts=conflicts)
        item = seen
    if insist and last is not None and refusal.sort(last, item.name) is refusal.Sort.CONFLICT:
        return (yield from _insist(item, conflicts + 1))
    return Result(kind=_exhausted(last), item=item, conflicts=conflicts, refused=last)


def _insist(item: Item, conflicts: int) -> Generator[Action, Outcome, Result]:
    """The write that cannot be in conflict: rewrites what is newest if that is old, and never says whether it was."""
    answer = yield from _patch(item, lambda _: b"{}", "merge")
    if isinstance(answer, Answered):
        return Result(kind=Kind.CONTENDED, item=item, revision=answer.resource_version, conflicts=conflicts)
    assert answer is not None
    end = _END.get(refusal.sort(answer, item.name), _exhausted(answer))
    return Result(kind=end, item=item, conflicts=conflicts, refused=answer)


_END = {
    refusal.Sort.GONE: Kind.GONE,
    refusal.Sort.STOP: Kind.STOPPED,
    refusal.Sort.PERMANENT: Kind.QUARANTINED,
}


def _exhausted(last: refusal.Refused | None) -> Kind:
    """A server's 500 that stays is about this object; everything else may pass, so nothing is known."""
    return Kind.QUARANTINED if last is not None and last.code == 500 else Kind.UNKNOWN


def _judge(item: Item, answer: Answered, conflicts: int) -> Result:
    moved = answer.resource_version != item.resource_version
    return Result(
        kind=Kind.MOVED if moved else Kind.UNCHANGED,
        item=item,
        revision=answer.resource_version,
        changed=moved and answer.generation != item.generation,
        conflicts=conflicts,
    )


def _patch(item: Item, body: Body, kind: str) -> Generator[Action, Outcome, Answered | refusal.Refused | None]:
    """One write, waited for while the server asks to wait; None where there is nothing to write."""
    data = body(item)
    if data is None:
        return None
    while True:
        outcome = yield Patch(item=item, body=data, kind=kind)
        assert isinstance(outcome, Answered | refusal.Refused)
        if isinstance(outcome, Answered) or refusal.sort(outcome, item.name) is not refusal.Sort.WAIT:
            return outcome
        yield _wait(outcome)


def _get(item: Item) -> Generator[Action, Outcome, Item | Result]:
    while True:
        outcome = yield Get(item=item)
        assert isinstance(outcome, Item | refusal.Refused)
        if isinstance(outcome, Item):
            return outcome
        sort = refusal.sort(outcome, item.name)
        if sort is not refusal.Sort.WAIT:
            return Result(kind=_END.get(sort, _exhausted(outcome)), item=item, refused=outcome)
        yield _wait(outcome)


def _wait(refused: refusal.Refused) -> Pause:
    asked = refused.retry_after_seconds
    return Pause(seconds=1.0 if asked is None else max(asked, 0.1), asked=True)
