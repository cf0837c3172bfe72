"""``duration``: a time span in another spelling: Go's ``1h30m0s``, ISO 8601's ``PT1H30M``, a number of a unit.

The text that is written is the canonical one of its form; another spelling of the same span is read, and carried. What
a coarser number cannot hold is rounded down, and carried.
Source: https://pkg.go.dev/time#Duration.String
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

from instar import errors
from instar.conversion.rules import exact, model, shapes

__all__ = ["FORMS", "Duration"]

_GO_UNITS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "μs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}
_NUMBERS = {
    "nanoseconds": Fraction(1, 10**9),
    "microseconds": Fraction(1, 10**6),
    "milliseconds": Fraction(1, 1000),
    "seconds": Fraction(1),
    "minutes": Fraction(60),
    "hours": Fraction(3600),
    "days": Fraction(86400),
}
_NUMBER = r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_GO = re.compile(rf"[-+]?(?:{_NUMBER}(ns|us|µs|μs|ms|s|m|h))+|[-+]?0")
_GO_PART = re.compile(rf"{_NUMBER}(ns|us|µs|μs|ms|s|m|h)")
_ISO_NUMBER = r"([0-9]+(?:[.,][0-9]+)?)"
_ISO = re.compile(
    rf"([-+]?)P(?!$)(?:{_ISO_NUMBER}W)?(?:{_ISO_NUMBER}D)?"
    rf"(?:T(?!$)(?:{_ISO_NUMBER}H)?(?:{_ISO_NUMBER}M)?(?:{_ISO_NUMBER}S)?)?"
)
_ISO_UNITS = (604800, 86400, 3600, 60, 1)
_NANO = Fraction(1, 10**9)
_LONGEST_NANOSECONDS = 2**63
FORMS = ("go", "iso8601", *_NUMBERS)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Duration(model.Rule):
    """``forms`` says how each side writes it: ``go``, ``iso8601``, or the unit of its number."""

    kind: ClassVar[str] = "duration"
    spoke: str
    hub: str
    forms: model.Pair

    def pair(self, ground: model.Ground) -> model.Functions | None:
        """From the one form to the other, each way."""
        fits = [self._fits(ground, side) for side in model.SIDES]
        if not all(fits):
            return None
        return model.Functions(self._function(ground, "spoke"), self._function(ground, "hub"))

    def _fits(self, ground: model.Ground, side: model.Side) -> bool:
        form = getattr(self.forms, side)
        (end,) = getattr(ground, side)
        if form not in FORMS:
            ground.complain(f"forms: {form!r} of the {side} is none of {', '.join(FORMS)}")
            return False
        return not shapes.wrong(ground, end, ("integer", "number") if form in _NUMBERS else ("string",))

    def _function(self, ground: model.Ground, source: model.Side) -> model.Function:
        target = model.other(source)
        (start,), (end,) = getattr(ground, source), getattr(ground, target)
        read = _reader(getattr(self.forms, source), start.path)
        write = _writer(getattr(self.forms, target), shapes.of(end.node) == "integer", start.path)
        return lambda value: write(read(value), value)


def _reader(form: str, where: str) -> Callable[[Any], Fraction]:
    """From a value to seconds."""
    if form in _NUMBERS:
        return lambda value: exact.fraction(value, where) * _NUMBERS[form]
    parse = _parse_go if form == "go" else _parse_iso

    def read(value: Any) -> Fraction:
        found = parse(value) if type(value) is str and len(value) <= exact.LONGEST else None
        if found is None:
            example = "1h30m" if form == "go" else "PT1H30M"
            raise errors.Unconvertible(where, value, f"is no duration; one looks like {example}")
        return found

    return read


def _writer(form: str, whole: bool, where: str) -> Callable[[Fraction, Any], Any]:
    """From seconds to a value; the one that was read is for the message."""
    if form in _NUMBERS:
        unit = _NUMBERS[form]
        return lambda seconds, value: exact.number(seconds / unit, whole=whole, where=where, value=value)
    spell = _spell_go if form == "go" else _spell_iso

    def write(seconds: Fraction, value: Any) -> str:
        nanoseconds = seconds // _NANO
        if not -_LONGEST_NANOSECONDS <= nanoseconds < _LONGEST_NANOSECONDS:
            raise errors.Unconvertible(where, value, "is longer than 292 years, more than a duration holds")
        return spell(nanoseconds)

    return write


def _parse_go(text: str) -> Fraction | None:
    if not _GO.fullmatch(text):
        return None
    seconds = sum((Fraction(number) * _GO_UNITS[unit] for number, unit in _GO_PART.findall(text)), Fraction(0))
    return -seconds if text.startswith("-") else seconds


def _parse_iso(text: str) -> Fraction | None:
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    parts = zip(match.groups()[1:], _ISO_UNITS, strict=True)
    seconds = sum((Fraction(number.replace(",", ".")) * unit for number, unit in parts if number), Fraction(0))
    return -seconds if match[1] == "-" else seconds


def _spell_go(nanoseconds: int) -> str:
    sign, rest = ("-" if nanoseconds < 0 else ""), abs(nanoseconds)
    if not rest:
        return "0s"
    if rest < 10**9:
        unit, size = next((unit, size) for unit, size in (("ms", 10**6), ("µs", 10**3), ("ns", 1)) if rest >= size)
        return f"{sign}{_decimal(rest, size)}{unit}"
    minutes, rest = divmod(rest, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    text = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{text}{_decimal(rest, 10**9)}s"


def _spell_iso(nanoseconds: int) -> str:
    sign, rest = ("-" if nanoseconds < 0 else ""), abs(nanoseconds)
    minutes, rest = divmod(rest, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    time = "".join(f"{number}{unit}" for number, unit in ((hours, "H"), (minutes, "M")) if number)
    time += f"{_decimal(rest, 10**9)}S" if rest or not (days or time) else ""
    return f"{sign}P{f'{days}D' if days else ''}{f'T{time}' if time else ''}"


def _decimal(count: int, size: int) -> str:
    """A count of something ``size`` of which make one, as a decimal number without zeros at its end."""
    whole, part = divmod(count, size)
    digits = f"{part:0{len(str(size)) - 1}d}".rstrip("0") if part else ""
    return f"{whole}.{digits}" if digits else str(whole)
