"""How much of the schemas a run has met: leaves and enum values that were converted, and leaves that came out."""

from __future__ import annotations

import dataclasses
from typing import Any

from instar.model import gojson
from instar.testing import cases, places, twin

__all__ = ["Coverage", "Pair"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """One direction. ``unmet`` are leaves and enum values that no object had; ``unmade`` leaves that never came out."""

    source: str
    target: str
    leaves: int
    enums: int
    made: int
    unmet: tuple[str, ...]
    unmet_enums: tuple[str, ...]
    unmade: tuple[str, ...]


class Coverage:
    """Counts as the run goes."""

    def __init__(self, of: twin.Twin) -> None:
        self._of = of
        self._met: dict[str, set[str]] = {version: set() for version in of.versions}
        self._enums: dict[str, set[str]] = {version: set() for version in of.versions}
        self._made: dict[tuple[str, str], set[str]] = {}

    def meet(self, written: cases.Document, answers: dict[str, cases.Document]) -> None:
        """One object, and what it converted to."""
        version = cases.version_of(written)
        for pattern, value in places.found(self._of.body(written), self._of.sides[version].node):
            self._met[version].add(pattern)
            if type(value) is not dict and type(value) is not list:
                self._enums[version].add(_enum(pattern, value))
        for target, answer in answers.items():
            made = self._made.setdefault((version, target), set())
            made.update(pattern for pattern, _ in places.found(self._of.body(answer), self._of.sides[target].node))

    def pairs(self) -> tuple[Pair, ...]:
        """Each direction between two versions."""
        return tuple(self._pair(source, target) for source in self._of.versions for target in self._of.others(source))

    def _pair(self, source: str, target: str) -> Pair:
        mine, theirs = (places.places(self._of.sides[version].node) for version in (source, target))
        enums = [
            _enum(place.pattern, value)
            for place in mine
            for value in place.node.raw.get("enum") or ()
            if value is not None
        ]
        made = self._made.get((source, target), set())
        return Pair(
            source=source,
            target=target,
            leaves=len(mine),
            enums=len(enums),
            made=len(theirs),
            unmet=tuple(place.pattern for place in mine if place.pattern not in self._met[source]),
            unmet_enums=tuple(text for text in enums if text not in self._enums[source]),
            unmade=tuple(place.pattern for place in theirs if place.pattern not in made),
        )


def _enum(pattern: str, value: Any) -> str:
    return f"{pattern}={gojson.encode(value).decode()}"
