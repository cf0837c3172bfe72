"""``map``, ``type``, ``scale``, ``quantity``, ``duration``: one value said in another way."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.conversion.rules import subject
from tests.unit.conversion.rules.subject import BOOLEAN, INT_OR_STRING, INTEGER, NUMBER, STRING, has, one_of

import instar.conversion as conversion
from instar.conversion import rules


def converted(old: Any, new: Any, rule: rules.Rule) -> subject.Specs:
    return subject.bound(has(a=old), has(b=new), rule)


def at(of: type[rules.Rule], **more: Any) -> rules.Rule:
    return of(spoke="/spec/a", hub="/spec/b", **more)


TIERS = converted(
    one_of("standard", "premium"),
    one_of("std", "pre", "dedicated"),
    at(
        rules.Map,
        values=(
            rules.Pair(spoke="standard", hub="std"),
            rules.Pair(spoke="premium", hub="pre"),
            rules.Pair(spoke="premium", hub="dedicated"),
        ),
    ),
)


def test_many_values_may_stand_for_one() -> None:
    """The first pair counts in either direction, and the value that shares it comes back."""
    assert [TIERS.new({"a": value})["b"] for value in ("standard", "premium")] == ["std", "pre"]
    assert [TIERS.old({"b": value})["a"] for value in ("std", "pre", "dedicated")] == ["standard", "premium", "premium"]
    assert TIERS.comes_back({"b": "dedicated"}, "new")
    assert TIERS.new({}) == {}


def test_a_value_without_a_pair() -> None:
    """It is an error that names field and value, or what otherwise says."""
    with pytest.raises(conversion.ConversionError, match=r'spec.a: "x": has no counterpart.*"standard", "premium"'):
        TIERS.new({"a": "x"})
    rest = rules.Pair(spoke="many", hub=0)
    specs = converted(STRING, INTEGER, at(rules.Map, values={"one": 1, "two": 2}, otherwise=rest))
    assert [specs.new({"a": value})["b"] for value in ("one", "two", "five")] == [1, 2, 0]
    assert [specs.old({"b": value})["a"] for value in (1, 2, 7)] == ["one", "two", "many"]
    assert specs.comes_back({"b": 7}, "new")


def test_true_is_not_one() -> None:
    """Values are told apart by their type."""
    specs = converted(BOOLEAN, one_of("yes", "no"), at(rules.Map, values={True: "yes", False: "no"}))
    assert specs.new({"a": True}) == {"b": "yes"}
    with pytest.raises(conversion.ConversionError, match=r"spec.a: 1: has no counterpart"):
        specs.new({"a": 1})


@pytest.mark.parametrize(
    ("old", "new", "there", "expected", "back"),
    [
        (STRING, INTEGER, "12", 12, "12"),
        (STRING, INTEGER, "-3", -3, "-3"),
        (STRING, INTEGER, "007", 7, "7"),
        (STRING, INTEGER, "1e3", 1000, "1000"),
        (STRING, INTEGER, "1.9", 1, "1"),
        (STRING, INTEGER, "9223372036854775807", 9223372036854775807, "9223372036854775807"),
        (STRING, NUMBER, "0.10", 0.1, "0.1"),
        (STRING, NUMBER, "2.0", 2, "2"),
        (STRING, NUMBER, "1e-7", 1e-07, "1e-7"),
        (STRING, BOOLEAN, "true", True, "true"),
        (STRING, BOOLEAN, "false", False, "false"),
        (NUMBER, INTEGER, 1.5, 1, 1),
        (NUMBER, INTEGER, -1.5, -2, -2),
        (BOOLEAN, INTEGER, True, 1, True),
        (INT_OR_STRING, STRING, 80, "80", 80),
        (INT_OR_STRING, STRING, "web", "web", "web"),
        (INT_OR_STRING, STRING, "80", "80", 80),
        (INT_OR_STRING, STRING, "080", "080", "080"),
    ],
)
def test_another_type(old: Any, new: Any, there: Any, expected: Any, back: Any) -> None:
    """What is said in another spelling, or more exactly, is carried."""
    specs = converted(old, new, at(rules.Type))
    (found,) = specs.new({"a": there}).values()
    assert (found, type(found)) == (expected, type(expected))
    assert specs.old({"b": expected}) == {"a": back}
    assert specs.comes_back({"a": there}, "old")


@pytest.mark.parametrize(
    ("old", "new", "value", "words"),
    [
        (STRING, INTEGER, "", "is no number"),
        (STRING, INTEGER, "12x", "is no number"),
        (STRING, INTEGER, "0x10", "is no number"),
        (STRING, INTEGER, "1_000", "is no number"),
        (STRING, INTEGER, "9223372036854775808", "is more than 64 bits hold there"),
        (STRING, INTEGER, "1e999", "is more than 64 bits hold there"),
        (STRING, NUMBER, "NaN", "is no number"),
        (STRING, NUMBER, "1e999", "more than a number there holds"),
        (STRING, BOOLEAN, "True", "is neither true nor false"),
        (STRING, INTEGER, [1], "is no number"),
        (INTEGER, STRING, {"x": 1}, "is neither text, number nor boolean"),
    ],
)
def test_what_is_no_such_value_is_said(old: Any, new: Any, value: Any, words: str) -> None:
    """With the field and the value."""
    with pytest.raises(conversion.ConversionError, match=rf"spec.a: .*{words}"):
        converted(old, new, at(rules.Type)).new({"a": value})


@pytest.mark.parametrize(
    ("old", "new", "factor", "there", "expected", "back"),
    [
        (INTEGER, INTEGER, "1/1000", 2000, 2, 2000),
        (INTEGER, INTEGER, "1/1000", 1500, 1, 1000),
        (INTEGER, INTEGER, "1/1000", -1, -1, -1000),
        (INTEGER, NUMBER, "0.001", 1, 0.001, 1),
        (INTEGER, INTEGER, 1024, 9007199254740991, 9223372036854774784, 9007199254740991),
        (NUMBER, INTEGER, 1000, 0.1, 100, 0.1),
        (NUMBER, NUMBER, "0.1", 3, 0.3, 3),
        (INTEGER, INTEGER, 1000, 0, 0, 0),
    ],
)
def test_units_are_scaled_exactly(old: Any, new: Any, factor: Any, there: Any, expected: Any, back: Any) -> None:
    """No rounding but down to an integer; the rest is carried."""
    specs = converted(old, new, at(rules.Scale, factor=factor))
    assert specs.new({"a": there}) == {"b": expected}
    assert specs.old({"b": expected}) == {"a": back}
    assert specs.comes_back({"a": there}, "old")


def test_a_scaled_number_that_is_too_large() -> None:
    """It does not wrap around."""
    with pytest.raises(
        conversion.ConversionError, match=r"spec.a: 9223372036854775807: is more than 64 bits hold there"
    ):
        converted(INTEGER, INTEGER, at(rules.Scale, factor=2)).new({"a": 9223372036854775807})


@pytest.mark.parametrize(
    ("unit", "text", "number", "canonical"),
    [
        ("Mi", "512Mi", 512, "512Mi"),
        ("Mi", "2Gi", 2048, "2Gi"),
        ("Mi", "1.5Gi", 1536, "1536Mi"),
        ("Mi", "1536Ki", 1, "1Mi"),
        ("Mi", "1073741824", 1024, "1Gi"),
        ("m", "250m", 250, "250m"),
        ("m", "2", 2000, "2"),
        ("m", "0.5", 500, "500m"),
        ("m", "1e3", 1000000, "1k"),
        ("m", "2E0", 2000, "2"),
        ("", "0", 0, "0"),
        ("Gi", "-1Gi", -1, "-1Gi"),
        ("k", "12E", 12000000000000000, "12E"),
    ],
)
def test_a_quantity_and_a_number_of_a_unit(unit: str, text: str, number: int, canonical: str) -> None:
    """Written as Kubernetes writes it: the largest suffix without a fraction."""
    specs = converted(STRING, INTEGER, at(rules.Quantity, unit=unit))
    assert specs.new({"a": text}) == {"b": number}
    assert specs.old({"b": number}) == {"a": canonical}
    assert specs.comes_back({"a": text}, "old")


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0.5", "500m"),
        ("1000m", "1"),
        ("1024Mi", "1Gi"),
        ("1024", "1024"),
        ("0.1Ki", "102400m"),
        ("1e3", "1k"),
        ("0.1n", "1n"),
        ("1025", "1025"),
        ("1025Ki", "1025Ki"),
        ("0Mi", "0"),
    ],
)
def test_two_spellings_of_a_quantity(text: str, canonical: str) -> None:
    """Each is the other's, and the one that was written is carried."""
    specs = converted(STRING, STRING, at(rules.Quantity))
    assert specs.new({"a": text}) == {"b": canonical}
    assert specs.new({"a": canonical}) == {"b": canonical}
    assert specs.comes_back({"a": text}, "old")


@pytest.mark.parametrize("text", ["", "Mi", "1 Gi", "1kb", "1Mii", "--1", "1e", "abc", "1" * 100])
def test_what_is_no_quantity_is_said(text: str) -> None:
    """With an example of one."""
    with pytest.raises(conversion.ConversionError, match=r"spec.a: .*is no quantity; one looks like 512Mi"):
        converted(STRING, INTEGER, at(rules.Quantity, unit="Mi")).new({"a": text})


@pytest.mark.parametrize(
    ("forms", "old", "new", "there", "expected", "back"),
    [
        (("seconds", "go"), INTEGER, STRING, 5400, "1h30m0s", 5400),
        (("seconds", "go"), INTEGER, STRING, 0, "0s", 0),
        (("seconds", "go"), INTEGER, STRING, -90, "-1m30s", -90),
        (("milliseconds", "go"), INTEGER, STRING, 1500, "1.5s", 1500),
        (("milliseconds", "go"), INTEGER, STRING, 1, "1ms", 1),
        (("microseconds", "go"), INTEGER, STRING, 1500, "1.5ms", 1500),
        (("nanoseconds", "go"), INTEGER, STRING, 1500, "1.5µs", 1500),
        (("go", "seconds"), STRING, INTEGER, "1h30m", 5400, "1h30m0s"),
        (("go", "seconds"), STRING, INTEGER, "1.5h", 5400, "1h30m0s"),
        (("go", "seconds"), STRING, INTEGER, "1500ms", 1, "1s"),
        (("go", "seconds"), STRING, INTEGER, "-1500ms", -2, "-2s"),
        (("go", "seconds"), STRING, NUMBER, "1500ms", 1.5, "1.5s"),
        (("go", "seconds"), STRING, INTEGER, "0", 0, "0s"),
        (("go", "iso8601"), STRING, STRING, "36h5m", "P1DT12H5M", "36h5m0s"),
        (("go", "iso8601"), STRING, STRING, "1.25s", "PT1.25S", "1.25s"),
        (("go", "iso8601"), STRING, STRING, "0s", "PT0S", "0s"),
        (("go", "iso8601"), STRING, STRING, "-90s", "-PT1M30S", "-1m30s"),
        (("iso8601", "seconds"), STRING, INTEGER, "P1W", 604800, "P7D"),
        (("iso8601", "seconds"), STRING, INTEGER, "PT0,5H", 1800, "PT30M"),
        (("iso8601", "minutes"), STRING, INTEGER, "PT90S", 1, "PT1M"),
        (("days", "hours"), INTEGER, INTEGER, 2, 48, 2),
    ],
)
def test_durations(forms: Any, old: Any, new: Any, there: Any, expected: Any, back: Any) -> None:
    """Go's spelling, ISO 8601's, and numbers of a unit, without rounding but down to a coarser unit."""
    specs = converted(old, new, at(rules.Duration, forms=rules.Pair(spoke=forms[0], hub=forms[1])))
    assert specs.new({"a": there}) == {"b": expected}
    assert specs.old({"b": expected}) == {"a": back}
    assert specs.comes_back({"a": there}, "old")


@pytest.mark.parametrize(
    ("form", "text"),
    [("go", text) for text in ("", "1", "1d", "h", "1h 30m", "PT1H", "1.h2")]
    + [("iso8601", text) for text in ("", "P", "PT", "P1Y", "P1M", "1h", "PT1H30", "P1DT")],
)
def test_what_is_no_duration_is_said(form: str, text: str) -> None:
    """Years and months have no length; a number without a unit says nothing."""
    specs = converted(STRING, INTEGER, at(rules.Duration, forms=rules.Pair(spoke=form, hub="seconds")))
    with pytest.raises(conversion.ConversionError, match=r"spec.a: .*is no duration; one looks like"):
        specs.new({"a": text})


def test_a_duration_that_is_too_long() -> None:
    """Go's durations end at 292 years."""
    specs = converted(INTEGER, STRING, at(rules.Duration, forms=rules.Pair(spoke="days", hub="go")))
    with pytest.raises(conversion.ConversionError, match=r"spec.a: 200000: is longer than 292 years"):
        specs.new({"a": 200000})
