"""Numbers without rounding: what JSON says is taken as it is written, and goes back the same way.

A float is its shortest decimal text, as Go prints it: 0.1 is one tenth. Where an integer is wanted and the number is
not whole, it is the largest one below; the rest is carried.
"""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Any

from instar import errors
from instar.model import gojson

__all__ = ["as_fraction", "decimal", "fraction", "number"]

_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_RATIO = re.compile(r"(-?[0-9]+)/([0-9]*[1-9][0-9]*)")
LONGEST = 64


def decimal(text: str) -> Fraction | None:
    """The number of a decimal text; None if it is none, or longer than any number of an API."""
    return Fraction(text) if len(text) <= LONGEST and _DECIMAL.fullmatch(text) else None


def as_fraction(value: Any) -> Fraction | None:
    """A number as settings have it: an int, a float, ``"0.5"`` or ``"1/1000"``; None if it is none."""
    if type(value) in (int, float):
        return Fraction(value) if type(value) is int else Fraction(repr(value)) if math.isfinite(value) else None
    if type(value) is not str:
        return None
    ratio = _RATIO.fullmatch(value) if len(value) <= LONGEST else None
    return Fraction(int(ratio[1]), int(ratio[2])) if ratio else decimal(value)


def fraction(value: Any, where: str) -> Fraction:
    """The exact number that a JSON value is. Raises Unconvertible."""
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return Fraction(value) if type(value) is int else Fraction(repr(value))
    raise errors.Unconvertible(where, value, "is no number")


def number(exact: Fraction, *, whole: bool, where: str, value: Any) -> int | float:
    """The JSON number; of an integer the largest one that is not above. Raises Unconvertible beyond int64."""
    if whole or exact.denominator == 1:
        floored = math.floor(exact)
        if gojson.INT64_MIN <= floored <= gojson.INT64_MAX:
            return floored
        if whole:
            raise errors.Unconvertible(where, value, "is more than 64 bits hold there")
    try:
        return float(exact)
    except OverflowError:
        raise errors.Unconvertible(where, value, "is more than a number there holds") from None
