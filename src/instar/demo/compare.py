"""Compares what was read with what must be there: object by object, value by value, nothing left out on either side.

A value that differs, is missing or is too much is a loss; so is a whole object that is gone, one that was deleted and
is back, and one that is another than it was (its uid). Each value counts once, however many versions show it wrong.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from instar.demo import ledger
from instar.model import resource

__all__ = ["Loss", "View", "compare", "leaves", "merge"]

MISSING = "nothing"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Loss:
    """One value of one object that is not what was written; ``field`` is its name whatever the version."""

    key: resource.ObjectKey
    field: str
    message: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """How objects look at one version: ``expected`` gives the leaves that fields must show, each with every text that
    is right; ``names`` gives the field that a leaf belongs to; ``where`` is for messages, as ``v1 (etcd)``.
    """

    where: str
    expected: Callable[[Mapping[str, Any]], Mapping[str, Sequence[Any]]]
    seen: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    names: Callable[[str], str]


def compare(
    view: View, expected: Iterable[ledger.Expected], objects: Mapping[resource.ObjectKey, Mapping[str, Any]]
) -> list[Loss]:
    """Every loss among the objects read through one view."""
    losses, known = [], set()
    for entry in expected:
        known.add(entry.key)
        losses += _object(view, entry, objects.get(entry.key))
    losses += [
        Loss(key=key, field="", message=f"{key} at {view.where}: is there, and was deleted or never written")
        for key in objects.keys() - known
    ]
    return losses


def merge(*found: Sequence[Loss]) -> list[Loss]:
    """The losses of several views, each value once."""
    once: dict[tuple[resource.ObjectKey, str], Loss] = {}
    for losses in found:
        for loss in losses:
            once.setdefault((loss.key, loss.field), loss)
    return list(once.values())


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """JSON pointer -> value of everything that is not a filled map; an empty one is a leaf."""
    if not isinstance(value, Mapping) or not value:
        return {path: value}
    found: dict[str, Any] = {}
    for key, member in value.items():
        found |= leaves(member, f"{path}/{key.replace('~', '~0').replace('/', '~1')}")
    return found


def _object(view: View, entry: ledger.Expected, found: Mapping[str, Any] | None) -> list[Loss]:
    where = f"{entry.key} at {view.where}"
    if found is None:
        return [Loss(key=entry.key, field="", message=f"{where}: the object is gone")]
    if (uid := found["metadata"]["uid"]) != entry.uid:
        return [
            Loss(key=entry.key, field="", message=f"{where}: is another object: uid {uid}, written was {entry.uid}")
        ]
    wanted, seen = view.expected(entry.state), view.seen(found)
    return [
        Loss(key=entry.key, field=view.names(path), message=f"{where}: {path}: {_difference(wanted, seen, path)}")
        for path in sorted(wanted.keys() | seen.keys())
        if not _right(wanted, seen, path)
    ]


def _right(wanted: Mapping[str, Sequence[Any]], seen: Mapping[str, Any], path: str) -> bool:
    if path not in wanted or path not in seen:
        return False
    value = seen[path]
    if type(value) is str:  # most are, and a run compares half a million
        return value in wanted[path]
    return _text(value) in {_text(right) for right in wanted[path]}


def _difference(wanted: Mapping[str, Sequence[Any]], seen: Mapping[str, Any], path: str) -> str:
    written = " or ".join(_text(value) for value in wanted[path]) if path in wanted else MISSING
    return f"is {_text(seen[path]) if path in seen else MISSING}, written was {written}"


def _text(value: Any) -> str:
    """Equal texts are equal JSON: 1, 1.0 and true differ, the order of keys does not."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
