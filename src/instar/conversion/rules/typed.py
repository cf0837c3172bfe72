"""``type``: one value as another type of JSON: a number as text, a text as a number, true as ``"true"``.

Numbers are written as Go writes them. A text that says a number in another way (``"007"``) is read, and its spelling is
carried. A number that is not whole becomes the largest integer below it, and is carried too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from instar import errors
from instar.conversion.rules import exact, model, shapes
from instar.model import gojson

__all__ = ["Type", "to"]

_TRUTH = {"true": True, "false": False}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Type(model.Rule):
    """The types are those of the two schemas."""

    kind: ClassVar[str] = "type"
    spoke: str
    hub: str

    def pair(self, ground: model.Ground) -> model.Functions | None:
        """To the type of each side."""
        spoke, hub = ground.spoke[0], ground.hub[0]
        wrong = [shapes.wrong(ground, end, shapes.SCALARS) for end in (spoke, hub)]
        if any(wrong):
            return None
        found = [shapes.of(end.node) for end in (spoke, hub)]
        if shapes.ANY in found or found[0] == found[1]:
            ground.complain(f"{spoke.path} is {shapes.article(found[0])} and {hub.path} too: write a rule of kind move")
        elif "boolean" in found and not {"string", "integer"} & set(found):
            ground.complain(f"a boolean is no {found[found[0] == 'boolean']}: write a rule of kind map")
        return model.Functions(to(found[1], spoke.path), to(found[0], hub.path))


def to(shape: str, where: str) -> model.Function:
    """The function to one type, over values at a path."""
    convert = _TO.get(shape, _TO["string"])

    def converted(value: Any) -> Any:
        return convert(value, where)

    return converted


def _string(value: Any, where: str) -> str:
    if type(value) is str:
        return value
    if type(value) in (bool, int, float):
        return gojson.encode(value).decode()
    raise errors.Unconvertible(where, value, "is neither text, number nor boolean")


def _integer(value: Any, where: str) -> int | float:
    return exact.number(_number_in(value, where), whole=True, where=where, value=value)


def _number(value: Any, where: str) -> int | float:
    return exact.number(_number_in(value, where), whole=False, where=where, value=value)


def _number_in(value: Any, where: str) -> Fraction:
    if type(value) is bool:
        return Fraction(value)
    if type(value) is not str:
        return exact.fraction(value, where)
    found = exact.decimal(value.strip())
    if found is None:
        raise errors.Unconvertible(where, value, "is no number")
    return found


def _boolean(value: Any, where: str) -> bool:
    if type(value) is bool:
        return value
    if type(value) in (int, float):
        return bool(value)
    found = _TRUTH.get(value) if type(value) is str else None
    if found is None:
        raise errors.Unconvertible(where, value, "is neither true nor false")
    return found


def _int_or_string(value: Any, where: str) -> int | float | str:
    if type(value) is not str:
        return _integer(value, where)
    found = exact.decimal(value)
    plain = found is not None and found.denominator == 1 and str(found.numerator) == value
    return _integer(value, where) if plain else value


_TO: Mapping[str, Any] = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
    shapes.INT_OR_STRING: _int_or_string,
}
