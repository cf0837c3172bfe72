"""What clients do to one object over its life, each act a value: who writes what, at which version, with which verb.

=========  ===========================================================================================================
act        as in
=========  ===========================================================================================================
Create     ``kubectl create``; ``admitted`` is what a mutating webhook changes that sees it at another version
Write      read, edit, write back (PUT), or the same edits as merge patch or JSON patch; also to /status
Replace    a PUT of a spec made anew; ``blind`` clients send no annotations either, and lose what was carried
Touch      a no-op write, as a migrator or a controller's resync makes it
Apply      server-side apply of all that a manager wants now; what it wanted before and not now, it gives up
Copy       what was read, created under another name
Save       what was read goes to Git; a later ``Restore`` replaces or applies it
Drop       a client deletes one carried entry, named by the path of its leaf
Flip       the storage version changes; what is stored stays as it is until it is written
=========  ===========================================================================================================

Values only: what an act means is said by whoever runs it, against an API server, a model, or both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from instar.testing import edits

__all__ = ["Act", "Apply", "Copy", "Create", "Drop", "Flip", "Replace", "Restore", "Save", "Touch", "Write", "smaller"]

Verb: TypeAlias = Literal["put", "merge", "json"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Create:
    """A new object; ``body`` has its fields without apiVersion, kind and name."""

    version: str
    body: Mapping[str, Any]
    admitted: tuple[edits.Edit, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Write:
    """Edits of what is read at a version, written back."""

    version: str
    verb: Verb
    edits: tuple[edits.Edit, ...]
    subresource: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Replace:
    """A whole new spec."""

    version: str
    spec: Mapping[str, Any]
    blind: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Touch:
    """A write of what was read."""

    version: str
    verb: Literal["put", "merge"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Apply:
    """Server-side apply; ``body`` is all that the manager wants."""

    version: str
    manager: str
    body: Mapping[str, Any]
    force: bool


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Copy:
    """A new object made from what is read of this one; the story goes on with the copy."""

    version: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Save:
    """What is read is kept."""

    version: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Restore:
    """What was kept is written: the whole of it replaced, or applied."""

    verb: Literal["put", "apply"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Drop:
    """The entry of one leaf is deleted from what is read at a version."""

    version: str
    path: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Flip:
    """Another version is stored from now on."""

    storage: str


Act: TypeAlias = Create | Write | Replace | Touch | Apply | Copy | Save | Restore | Drop | Flip


def smaller(story: Sequence[Act]) -> list[tuple[Act, ...]]:
    """Stories with less in them, those with most left out first: the candidates when a failing one is reduced."""
    found: list[tuple[Act, ...]] = []
    size = len(story) // 2
    while size:
        found += [(*story[:at], *story[at + size :]) for at in range(1, len(story) - size + 1)]
        size //= 2
    for at, act in enumerate(story):
        found += [(*story[:at], less, *story[at + 1 :]) for less in _less(act)]
    return found


def _less(act: Act) -> list[Act]:
    if isinstance(act, Write) and len(act.edits) > 1:
        return [dataclasses.replace(act, edits=(*act.edits[:at], *act.edits[at + 1 :])) for at in range(len(act.edits))]
    if isinstance(act, Create):
        return [dataclasses.replace(act, body=less) for less in _thinner(act.body)]
    if isinstance(act, Replace):
        return [dataclasses.replace(act, spec=less) for less in _thinner(act.spec)]
    return []


def _thinner(fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The same with one member less, at any depth of maps."""
    found: list[dict[str, Any]] = []
    for name, value in fields.items():
        found.append({other: below for other, below in fields.items() if other != name})
        if isinstance(value, Mapping):
            found += [{**fields, name: less} for less in _thinner(value)]
    return found
