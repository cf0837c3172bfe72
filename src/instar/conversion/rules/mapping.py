"""``map``: a few values of one version, and what stands for each at the other. Several may stand for one.

The first pair with a value is the one that counts, in either direction; so the order of the pairs says what a value
that two others share reads as. Values without a pair are what ``otherwise`` says, and without it an error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from instar import errors
from instar.conversion.rules import model, shapes
from instar.model import gojson
from instar.schema import validation

__all__ = ["Map", "Scalar"]

Scalar = str | bool | int | float
_SCALARS = (str, bool, int, float)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Map(model.Rule):
    """A value map; ``values`` as pairs, or as a mapping from the spoke's value to the hub's."""

    kind: ClassVar[str] = "map"
    spoke: str
    hub: str
    values: Mapping[Scalar, Scalar] | tuple[model.Pair, ...]
    otherwise: model.Pair | None = None

    def __post_init__(self) -> None:
        if isinstance(self.values, Mapping):
            pairs = tuple(model.Pair(spoke=spoke, hub=hub) for spoke, hub in self.values.items())
            object.__setattr__(self, "values", pairs)
        else:
            object.__setattr__(self, "values", tuple(self.values))

    def pair(self, ground: model.Ground) -> model.Functions | None:
        """A look-up in each direction."""
        for side in model.SIDES:
            self._check(ground, side)
        return model.Functions(self._function(ground, "spoke"), self._function(ground, "hub"))

    def _check(self, ground: model.Ground, side: model.Side) -> None:
        """That the values may stand there, and that each of the schema's own has a pair."""
        (end,) = getattr(ground, side)
        if shapes.wrong(ground, end, shapes.SCALARS):
            return
        given = [getattr(pair, side) for pair in self.values]
        rest = getattr(self.otherwise, model.other(side)) if self.otherwise else None
        shown = [*given, getattr(self.otherwise, side)] if self.otherwise else given
        for value in shown:
            if value is None and value in given:
                ground.complain(f"values: a pair has nothing for {side}; each says a value for the spoke and the hub")
            elif value is not None and (problem := validation.problem(gojson.normal(value), end.node)):
                ground.complain(
                    f"values: {_shown(value)} may not stand at {end.path}: {problem}{_unquoted(value, end)}"
                )
        known = {_key(gojson.normal(value)) for value in given if isinstance(value, _SCALARS)}
        missing = [value for value in _enum(end) if _key(gojson.normal(value)) not in known]
        if missing and rest is None:
            listed = ", ".join(gojson.encode(value).decode() for value in missing)
            ground.complain(f"values: {listed} of {end.path} is in no pair, and there is no otherwise for it")

    def _function(self, ground: model.Ground, source: model.Side) -> model.Function:
        (end,) = getattr(ground, source)
        rest = getattr(self.otherwise, model.other(source)) if self.otherwise else None
        pairs = ((getattr(pair, source), getattr(pair, model.other(source))) for pair in self.values)
        table: dict[tuple[type, Any], Any] = {}
        for value, stands in _keyed(pairs):
            table.setdefault(value, stands)
        return _looked_up(table, gojson.normal(rest), end.path)


def _shown(value: Any) -> str:
    return gojson.encode(gojson.normal(value)).decode()


def _unquoted(value: Any, end: model.End) -> str:
    """YAML reads ``no``, ``off`` and ``yes`` as booleans, and the author sees a text."""
    return (
        "; a text that YAML reads as a boolean stands in quotes"
        if isinstance(value, bool) and shapes.of(end.node) == "string"
        else ""
    )


def _enum(end: model.End) -> Iterable[Any]:
    found = end.node.raw.get("enum")
    if found is not None:
        return [value for value in found if value is not None]
    return (True, False) if shapes.of(end.node) == "boolean" else ()


def _key(value: Any) -> tuple[type, Any]:
    return type(value), value


def _keyed(pairs: Iterable[tuple[Any, Any]]) -> Iterable[tuple[tuple[type, Any], Any]]:
    for value, other in pairs:
        if isinstance(value, _SCALARS):
            yield _key(gojson.normal(value)), gojson.normal(other)


def _looked_up(table: Mapping[tuple[type, Any], Any], rest: Any, where: str) -> model.Function:
    known = ", ".join(gojson.encode(value).decode() for _, value in table)

    def look_up(value: Any) -> Any:
        if isinstance(value, _SCALARS):
            found = table.get((type(value), value), rest)
            if found is not None:
                return found
        raise errors.Unconvertible(where, value, f"has no counterpart; those that have one are {known}")

    return look_up
