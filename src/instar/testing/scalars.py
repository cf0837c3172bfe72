"""Scalars on which conversions break: the edges of Go's numbers, odd spellings, odd characters.

The API server decodes a number without point or exponent as int64 where it fits and as float64 otherwise, and prints
an integral float without a point; so 1.0 is stored as 1. What is drawn here is already in the form that it keeps.
Source: https://pkg.go.dev/sigs.k8s.io/json
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from instar.testing import oddities

__all__ = ["FORMATS", "anything", "integers", "keys", "numbers", "settled_number", "strings"]


def settled_number(value: float) -> int | float:
    """The number as it comes back from the API server: integral and within int64 means int."""
    if isinstance(value, float) and value.is_integer() and -(2.0**63) <= value < 2.0**63:
        return int(value)
    return value


def integers(schema: Mapping[str, Any]) -> st.SearchStrategy[int]:
    """Integers within the bounds of ``schema``, edges first."""
    low, high = oddities.INT32 if schema.get("format") == "int32" else oddities.INT64
    low = max(low, _lowest(schema, low))
    high = min(high, _highest(schema, high))
    step = schema.get("multipleOf")
    edges = [value for value in {low, high, low + 1, high - 1, *oddities.INTEGERS} if low <= value <= high]
    drawn = st.one_of(st.sampled_from(sorted(edges, key=abs)), st.integers(low, high))
    if not step:
        return drawn
    return st.integers(math.ceil(low / step), math.floor(high / step)).map(lambda count: int(count * step))


def _lowest(schema: Mapping[str, Any], unset: int) -> int:
    low = schema.get("minimum")
    if low is None:
        return unset
    whole: int = math.ceil(low)
    return whole + 1 if schema.get("exclusiveMinimum") and whole == low else whole


def _highest(schema: Mapping[str, Any], unset: int) -> int:
    high = schema.get("maximum")
    if high is None:
        return unset
    whole: int = math.floor(high)
    return whole - 1 if schema.get("exclusiveMaximum") and whole == high else whole


def numbers(schema: Mapping[str, Any]) -> st.SearchStrategy[int | float]:
    """Numbers within the bounds of ``schema``, in the form that the API server keeps; never -0, NaN or infinity."""
    widest = oddities.FLOAT32_MAX if schema.get("format") == "float" else 1.7e308
    low, high = float(schema.get("minimum", -widest)), float(schema.get("maximum", widest))

    def allowed(value: float) -> bool:
        open_low = schema.get("exclusiveMinimum") and value == low
        open_high = schema.get("exclusiveMaximum") and value == high
        return (
            low <= value <= high and not open_low and not open_high and not (value == 0 and math.copysign(1, value) < 0)
        )

    step = schema.get("multipleOf")
    if step:
        return st.integers(-1000, 1000).map(lambda count: settled_number(count * step)).filter(allowed)
    edges = [value for value in (*oddities.NUMBERS, low, high) if allowed(value)]
    drawn = st.one_of(
        st.sampled_from(edges), st.floats(low, high, allow_nan=False, allow_infinity=False), st.integers(-9, 9)
    )
    return drawn.filter(allowed).map(settled_number)


def strings(schema: Mapping[str, Any]) -> st.SearchStrategy[str]:
    """Strings of the length, pattern and format that ``schema`` allows."""
    low, high = schema.get("minLength", 0), schema.get("maxLength")

    def fits(text: str) -> bool:
        return low <= len(text) and (high is None or len(text) <= high)

    if schema.get("pattern"):
        return _matching(schema["pattern"]).filter(fits)
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]].filter(fits)
    edges = [text for text in oddities.TEXTS if fits(text)]
    longest = min(low + 12, high) if high is not None else low + 12
    drawn = st.text(_characters(), min_size=low, max_size=longest)
    return st.one_of(st.sampled_from(edges), drawn) if edges else drawn


def _characters() -> st.SearchStrategy[str]:
    return st.characters(exclude_categories=["Cs"])  # a lone surrogate comes back as U+FFFD


def _matching(pattern: str) -> st.SearchStrategy[str]:
    """Go's ``$`` means the end and its classes are ASCII; Python's ``$`` also stands before a last line feed."""
    compiled = re.compile(re.sub(r"(?<!\\)\$$", r"\\Z", pattern), re.ASCII)
    return st.from_regex(compiled).filter(lambda text: compiled.search(text) is not None)


def keys() -> st.SearchStrategy[str]:
    """Keys of free maps, with the characters that paths and pointers trip over."""
    return st.one_of(st.sampled_from(oddities.KEYS), st.text(_characters(), max_size=6))


def anything(depth: int = 2) -> st.SearchStrategy[Any]:
    """Any JSON value in the form that the API server keeps, as below ``x-kubernetes-preserve-unknown-fields``."""
    plain = st.one_of(st.none(), st.booleans(), integers({}), numbers({}), strings({}))
    if depth == 0:
        return plain
    below = anything(depth - 1)
    return st.one_of(plain, st.lists(below, max_size=3), st.dictionaries(keys(), below, max_size=3))


FORMATS: Mapping[str, st.SearchStrategy[str]] = {
    **{name: st.sampled_from(texts) for name, texts in oddities.FORMATS.items()},
    "date": st.dates().map(lambda day: day.isoformat()),
}
"""One strategy for each format that the API server checks; another format is an unchecked string."""
