"""What two versions of an API say of the same thing, one relation for each thing; and what becomes of it by an edit.

Written from spec/conversion.md alone. A version that cannot say a thing has no place for it. What a client has not
touched stays; what it touched is what it says, and the other version follows its meaning:

    restored = what the other version said before     while the edit changes nothing of what that is seen as,
                                                      and while saying so would not change what the client sees
             = the meaning of the edit                otherwise
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

from tests.laws import model

OLD, NEW = "v1alpha1", "v1"
Document = dict[str, Any]


class _Word:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


MISSING: Any = _Word("MISSING")
FORGOTTEN: Any = _Word("FORGOTTEN")
"""Nothing is known of what the other version said: the annotation is not there."""
FULL: Any = _Word("FULL")
"""There are fields inside, whichever."""


def same(one: Any, other: Any) -> bool:
    """Equal as Go's JSON tells values apart; absent is a value."""
    if isinstance(one, _Word) or isinstance(other, _Word):
        return one is other
    if one is other or (type(one) is str and type(other) is str):
        return bool(one == other)
    return model.same(one, other)


def copied(value: Any) -> Any:
    """A copy of a JSON value, faster than deepcopy."""
    if isinstance(value, dict):
        return {name: copied(below) for name, below in value.items()}
    return [copied(item) for item in value] if isinstance(value, list) else value


class Place(Protocol):
    """Where a version keeps a thing."""

    @property
    def path(self) -> tuple[str, ...]: ...

    def take(self, document: Document) -> Any:
        """Removes it from the document; MISSING if it is not there."""

    def put(self, document: Document, value: Any) -> None: ...


def _holder(document: Document, path: tuple[str, ...]) -> Any:
    inner: Any = document
    for step in path[:-1]:
        inner = inner.get(step) if isinstance(inner, dict) else None
    return inner if isinstance(inner, dict) else {}


def _made(document: Document, path: tuple[str, ...]) -> Document:
    for step in path:
        document = document.setdefault(step, {})
    return document


@dataclasses.dataclass(frozen=True)
class Field:
    """One field, with all that is in it."""

    path: tuple[str, ...]

    def take(self, document: Document) -> Any:
        return _holder(document, self.path).pop(self.path[-1], MISSING)

    def put(self, document: Document, value: Any) -> None:
        if value is not MISSING:
            _made(document, self.path[:-1])[self.path[-1]] = copied(value)


@dataclasses.dataclass(frozen=True)
class Parts:
    """Some fields of a map as one thing, as a map; an empty one where the map is there and has nothing at all."""

    path: tuple[str, ...]
    names: tuple[str, ...]

    def take(self, document: Document) -> Any:
        holder = _holder(document, self.path)
        found = holder.get(self.path[-1])
        if not isinstance(found, dict):
            return MISSING
        taken = {name: found.pop(name) for name in self.names if name in found}
        if not found:
            del holder[self.path[-1]]
            return taken
        return taken or MISSING

    def put(self, document: Document, value: Any) -> None:
        if value is not MISSING:
            _made(document, self.path).update(copied(value))


@dataclasses.dataclass(frozen=True)
class Shell:
    """Whether a map is there, and empty. To be taken before what is in it is."""

    path: tuple[str, ...]

    def take(self, document: Document) -> Any:
        holder = _holder(document, self.path)
        if self.path[-1] not in holder:
            return MISSING
        if holder[self.path[-1]]:
            return FULL
        del holder[self.path[-1]]
        return {}

    def put(self, document: Document, value: Any) -> None:
        if value is not MISSING:
            _made(document, self.path)


def _itself(value: Any) -> Any:
    return value


@dataclasses.dataclass(frozen=True, kw_only=True)
class Relation:
    """``up`` says what a word of the old version means at the new one, ``down`` the other way.

    ``key``: the new version keeps a list of items, known to the old one by this field alone.
    """

    name: str
    old: Place | None = None
    new: Place | None = None
    up: Callable[[Any], Any] = _itself
    down: Callable[[Any], Any] = _itself
    key: str = ""

    def place(self, version: str) -> Place | None:
        return self.old if version == OLD else self.new

    def meaning(self, to: str, value: Any) -> Any:
        """What is read at a version where nothing is known but the other version's word."""
        return self.up(value) if to == NEW else self.down(value)

    def restored(self, to: str, kept: Any, then: Any, now: Any) -> Any:
        """What version ``to`` reads: it said ``kept`` when the other version said ``then``, and that says ``now``."""
        fresh = self.meaning(to, now)
        if kept is FORGOTTEN:
            return fresh
        if self.key and to == NEW and isinstance(fresh, list):
            return self._items(kept, then, fresh)
        if not same(self.meaning(to, then), fresh):
            return fresh
        away = OLD if to == NEW else NEW
        if same(self.meaning(away, fresh), now) and not same(self.meaning(away, kept), now):
            return fresh
        return kept

    def _items(self, kept: Any, then: Any, fresh: list[Any]) -> list[Any]:
        """Items whose key stands as it stood are what they were."""
        known = {item[self.key]: item for item in (kept if isinstance(kept, list) else ())}
        stood = set(then if isinstance(then, list) else ())
        return [known.get(item[self.key], item) if item[self.key] in stood else item for item in fresh]


def hidden(name: str, *, old: Place | None = None, new: Place | None = None, default: Any = MISSING) -> Relation:
    """A thing that only one version can say; ``default`` is what is read of it in an object that the other made."""
    return Relation(name=name, old=old, new=new, up=lambda value: default, down=lambda value: default)
