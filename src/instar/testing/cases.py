"""What a law is asked about, and what it answers: cases and findings, as values.

=========  =============================================================================================================
case       what it is
=========  =============================================================================================================
whole      an object as a client writes it at its version
edited     the same, stored; a client reads it at another version and makes a change there
partial    the same, and part of it, as server-side apply converts parts
odd        an object that no client could write today: old, broken, or emptied
batch      several objects in one call of the webhook
=========  =============================================================================================================
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal

from instar.model import gojson

__all__ = ["GONE", "Case", "Change", "Culprit", "Finding", "Kind", "changed", "version_of"]

Kind = Literal["whole", "edited", "partial", "odd", "batch"]
Document = dict[str, Any]


class _Gone:
    def __repr__(self) -> str:
        return "GONE"


GONE: Any = _Gone()
"""The value of what a change removes."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """What stands at ``path`` in the body as it is read at ``version``, once the client has written it."""

    version: str
    path: tuple[str | int, ...]
    value: Any


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One question to the laws. ``origin`` is where the object comes from, for people; ``salt`` chooses its part."""

    kind: Kind
    origin: str
    object: Document
    change: Change | None = None
    salt: int = 0
    others: tuple[Document, ...] = ()

    @property
    def version(self) -> str:
        """The version of the object."""
        return version_of(self.object)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Culprit:
    """A function or a rule that converts, and where it stands."""

    name: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        place = self.file.rpartition("/")[2]
        return f"{self.name} ({place}:{self.line})" if place else self.name


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """A law that does not hold of a case: where, between which versions, and the objects that show it."""

    law: str
    path: str
    problem: str
    source: str = ""
    target: str = ""
    shown: tuple[tuple[str, Any], ...] = ()
    origin: str = ""
    blame: tuple[Culprit, ...] = ()
    place: str = ""
    """The path without its items and keys: what findings are told apart by."""


def version_of(document: Mapping[str, Any]) -> str:
    """The version in ``apiVersion``."""
    return str(document.get("apiVersion")).rpartition("/")[2]


def changed(document: Document, change: Change) -> Document | None:
    """A copy with the change made; None where its path leads nowhere."""
    result: Document = gojson.copy(document)
    holder: Any = result
    last: Any = change.path[-1]
    if change.path[0] == "metadata" and change.value is not GONE:
        result.setdefault("metadata", {}).setdefault(change.path[1], {})
    try:
        for step in change.path[:-1]:
            holder = holder[step]
        if change.value is GONE:
            del holder[last]
        elif type(holder) is dict or (type(holder) is list and last in range(len(holder))):
            holder[last] = gojson.copy(change.value)
        else:
            return None
    except (KeyError, IndexError, TypeError):
        return None
    return result
