"""JSON as Go reads and writes it: each line is what encoding/json does, most were seen on a real API server."""

from __future__ import annotations

import collections
import enum
import math

import pytest

from instar import errors
from instar.model import gojson


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"9007199254740993", 9007199254740993),
        (b"9223372036854775807", 9223372036854775807),
        (b"-9223372036854775808", -9223372036854775808),
        (b"9223372036854775808", 9223372036854775808.0),
        (b"-9223372036854775809", -9223372036854775808.0),
        (b"18446744073709551615", 18446744073709551616.0),
        (b"1" * 300, float("1" * 300)),
        (b"1.0", 1.0),
        (b"1e3", 1000.0),
        (b"-0", 0),
        (b"1e-400", 0.0),
        (b'{"a":1,"a":2}', {"a": 2}),
        (b'{"n":9223372036854775807,"a":1,"a":2}', {"n": 9223372036854775807, "a": 2}),
        (b'"\\ud800"', "\ufffd"),
        (b'"\\ud800\\ud800"', "\ufffd\ufffd"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'{"\\udc00":1}', {"\ufffd": 1}),
        (b'"\xff"', "\ufffd"),
        (b'"\xe2\x82A"', "\ufffd\ufffdA"),
        (b'"123456789012345678901"', "123456789012345678901"),
        (b" [ true , null ] ", [True, None]),
    ],
)
def test_decode_is_gos(text: bytes, value: object) -> None:
    """int64 or float64, the last key wins, broken text becomes U+FFFD."""
    assert gojson.equal(gojson.decode(text), value)


@pytest.mark.parametrize(
    "text",
    [b"", b"NaN", b"Infinity", b"-Infinity", b"1e400", b"[1e400]", b"1" * 400, b"{", b"[1,]", b"01", b"'a'", b'"\x01"'],
)
def test_decode_refuses(text: bytes) -> None:
    """What is no JSON, or no float64, is one clear error."""
    with pytest.raises(errors.JsonError, match="not JSON"):
        gojson.decode(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, b"1"),
        (1e16, b"10000000000000000"),
        (1e20, b"100000000000000000000"),
        (1e21, b"1e+21"),
        (1.5e300, b"1.5e+300"),
        (123456.75, b"123456.75"),
        (0.1, b"0.1"),
        (0.00001, b"0.00001"),
        (0.000001, b"0.000001"),
        (1e-7, b"1e-7"),
        (-2.5e-10, b"-2.5e-10"),
        (5e-324, b"5e-324"),
        (-0.0, b"-0"),
        (0.0, b"0"),
        (2**63, b"9223372036854776000"),
        (2.0**60, b"1152921504606847000"),
        (123456789012345678901234567890, b"1.2345678901234568e+29"),
        (-(2**63), b"-9223372036854775808"),
        ({"b": 1, "a": [True, None, "é"]}, '{"a":[true,null,"é"],"b":1}'.encode()),
        ("\ud800<", '"\ufffd<"'.encode()),
        ({"\ud800": 0.5}, '{"\ufffd":0.5}'.encode()),
        (collections.OrderedDict(a=enum.IntEnum("E", "x")(1)), b'{"a":1}'),
    ],
)
def test_encode_is_gos_and_canonical(value: object, text: bytes) -> None:
    """Floats as Go prints them, keys sorted, no spaces."""
    assert gojson.encode(value) == text
    assert gojson.equal(gojson.normal(value), gojson.decode(text))
    assert gojson.encode_normal(gojson.normal(value)) == gojson.encode(gojson.normal(value))


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"spec": {"x": math.nan}}, "/spec/x"),
        ({"spec": [0, math.inf]}, "/spec[1]"),
        ({"spec": {"x": (1, 2)}}, "/spec/x"),
        ({"spec": {"x": b"bytes"}}, "/spec/x"),
        ({"spec": {1: "x"}}, "/spec"),
        ({"spec": 10**400}, "/spec"),
    ],
)
def test_encode_refuses_and_names_the_path(value: object, where: str) -> None:
    """A value that JSON cannot say is an error with its path, never `null` or `NaN` on the wire."""
    for function in (gojson.encode, gojson.normal):
        with pytest.raises(errors.JsonError) as caught:
            function(value)
        assert caught.value.path == where


@pytest.mark.parametrize(
    ("left", "right"),
    [(1, True), (1, 1.0), (0, False), ("", None), ([], {}), ([], None), ({"a": None}, {}), ([1, 2], [2, 1]), ("1", 1)],
)
def test_equality_is_type_strict(left: object, right: object) -> None:
    """1, 1.0 and true differ, and so do absent, null, empty list and empty map."""
    assert not gojson.equal(left, right)
    assert not gojson.equal({"a": [left]}, {"a": [right]})
    assert gojson.equal({"a": [left], "b": 1}, {"b": 1, "a": [gojson.copy(left)]})


def test_depth_has_a_limit_and_an_error_of_its_own() -> None:
    """A deep text or value is a JsonError, never a RecursionError, however deep."""
    for depth in (gojson.MAX_DEPTH + 2, 1000, 100_000):
        with pytest.raises(errors.JsonError, match="nested deeper"):
            gojson.decode(b"[" * depth + b"]" * depth)
    value: list[object] = []
    for _ in range(gojson.MAX_DEPTH - 1):
        value = [value]
    assert gojson.equal(gojson.decode(gojson.encode(value)), value)
    for _ in range(3):
        value = [value]
    with pytest.raises(errors.JsonError, match="nested deeper"):
        gojson.encode(value)


def test_copy_shares_nothing_and_changes_nothing() -> None:
    """A copy is equal type-strictly, floats and broken text included, and no container is shared."""
    value = {"a": [1, 1.0, True, None, {"b": "\ud800", "c": 1e16}]}
    copied = gojson.copy(value)
    assert gojson.equal(copied, value)
    assert copied["a"] is not value["a"]
    assert copied["a"][4] is not value["a"][4]


def test_normal_is_the_same_object_when_nothing_changes() -> None:
    """The usual case costs no copy."""
    value = {"a": [1, 0.5, "x"]}
    assert gojson.normal(value) is value
