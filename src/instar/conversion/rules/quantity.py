"""``quantity``: an amount as Kubernetes writes it (``512Mi``, ``250m``, ``1e3``), and as a number of a unit.

The text that is written is the canonical one: the largest suffix that leaves no fraction, of the suffixes (by 1024 or
by 1000) that the unit or the text had. Another spelling is read, and carried.
Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
"""

from __future__ import annotations

import dataclasses
import re
from fractions import Fraction
from typing import Any, ClassVar

from instar import errors
from instar.conversion.rules import exact, model, shapes

__all__ = ["UNITS", "Quantity", "parse", "spell"]

_BINARY = {name: Fraction(1024**power) for power, name in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), start=1)}
_DECIMAL = {
    name: Fraction(1000) ** power
    for power, name in zip(range(-3, 7), ("n", "u", "m", "", "k", "M", "G", "T", "P", "E"), strict=True)
}
UNITS = {**_DECIMAL, **_BINARY}
_TEXT = re.compile(r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:([KMGTPE]i|[numkMGTPE])|[eE]([+-]?[0-9]{1,2}))?")
_SMALLEST = Fraction(1, 1000**3)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Quantity(model.Rule):
    """The side whose schema is a number has a number of ``unit``; two texts are two spellings of one amount."""

    kind: ClassVar[str] = "quantity"
    spoke: str
    hub: str
    unit: str = ""

    def pair(self, ground: model.Ground) -> model.Functions | None:
        """A quantity to a number or to a text, each way."""
        spoke, hub = ground.spoke[0], ground.hub[0]
        wanted = ("string", "integer", "number", shapes.INT_OR_STRING)
        wrong = [shapes.wrong(ground, end, wanted) for end in (spoke, hub)]
        if self.unit not in UNITS:
            ground.complain(
                f"unit: {self.unit!r} is no suffix of a quantity; there are {', '.join(filter(None, UNITS))}"
            )
        elif not any(wrong) and not _is_text(spoke) and not _is_text(hub):
            ground.complain("neither side is a text; two numbers are a rule of kind scale")
        elif not any(wrong):
            return model.Functions(self._function(spoke, hub), self._function(hub, spoke))
        return None

    def _function(self, source: model.End, target: model.End) -> model.Function:
        unit = UNITS[self.unit]
        binary = self.unit in _BINARY
        whole = shapes.of(target.node) == "integer"
        if not _is_text(source):
            return lambda value: spell(exact.fraction(value, source.path) * unit, binary)
        if _is_text(target):
            return lambda value: spell(*parse(value, source.path))
        return lambda value: exact.number(
            parse(value, source.path)[0] / unit, whole=whole, where=source.path, value=value
        )


def _is_text(end: model.End) -> bool:
    return shapes.of(end.node) not in ("integer", "number")


def parse(value: Any, where: str) -> tuple[Fraction, bool]:
    """The exact amount, and whether its suffix counts by 1024. Raises Unconvertible."""
    if type(value) in (int, float):
        return exact.fraction(value, where), False
    match = _TEXT.fullmatch(value) if type(value) is str and len(value) <= exact.LONGEST else None
    if match is None:
        raise errors.Unconvertible(where, value, "is no quantity; one looks like 512Mi, 250m or 2")
    amount = Fraction(match[1]) * (Fraction(10) ** int(match[3]) if match[3] else UNITS[match[2] or ""])
    return amount, (match[2] or "") in _BINARY


def spell(amount: Fraction, binary: bool) -> str:
    """The canonical text; what is smaller than a nano is rounded up, as Kubernetes does."""
    suffixes = _BINARY if binary and abs(amount) >= 1024 and amount.denominator == 1 else _DECIMAL
    for suffix, size in reversed(suffixes.items()):
        if amount % size == 0 and (amount or not suffix):
            return f"{(amount / size).numerator}{suffix}"
    if binary and amount.denominator == 1:
        return str(amount.numerator)
    return spell(-(-amount // _SMALLEST) * _SMALLEST, False)
