"""One way in which a real converter loses: some fields of a container at two versions, and the functions between."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

Fields = dict[str, Any]
Convert = Callable[[Fields], Fields]
Items = Callable[[Fields], Mapping[str, Any]]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Piece:
    """Fields at version ``one`` and at version ``two``, and how they convert; both ways are total.

    ``items`` tells the independent parts of its fields at each version by name, where it has such parts: one depends
    on nothing but the part of that name at the other version.
    """

    kind: str
    one: Mapping[str, Any]
    two: Mapping[str, Any]
    to_two: Convert
    to_one: Convert
    items: tuple[Items, Items] | None = None


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
