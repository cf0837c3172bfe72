"""JSON as the API server's Go code reads and writes it, which is not quite as Python does.

=========================  ==========================================================================================
what                       rule
=========================  ==========================================================================================
a number                   without ``.``, ``e``, ``E`` and within int64: an int; every other one: a float64
``NaN``, ``1e400``         refused, both ways
a float when written       as Go prints it: ``1.0`` -> ``1``, ``1e16`` -> ``10000000000000000``, ``1e-7``, ``1e+21``
an int beyond int64        is the float64 that Go makes of it: ``2**63`` -> ``9223372036854776000``
equal keys in an object    the last one wins
lone surrogate, bad UTF-8  becomes U+FFFD, one for each
equality                   type-strict: ``1``, ``1.0`` and ``True`` differ, and so do null, ``[]`` and ``{}``
=========================  ==========================================================================================

So ``1.0`` read is a float and written is ``1``: what the API server stores and gives back is ``normal(value)``.
Nesting deeper than ``MAX_DEPTH`` is refused in both directions, so that no walk over a value needs a check of its own.
Source: https://pkg.go.dev/encoding/json and sigs.k8s.io/json; measured on kube-apiserver 1.37.2.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, NoReturn

import orjson

from instar import errors

__all__ = [
    "INT64_MAX",
    "INT64_MIN",
    "MAX_DEPTH",
    "copy",
    "decode",
    "decode_unsettled",
    "encode",
    "encode_normal",
    "encode_printed",
    "equal",
    "may_be_odd",
    "may_hold_float",
    "normal",
    "scrub",
]

MAX_DEPTH = 200
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

_AS_ZEROS = bytes.maketrans(b"123456789", b"000000000")  # a table and a search are ten times faster than a pattern
_LONG_INTEGER = b"0" * 19
_MAYBE_FLOAT = re.compile(rb"[0-9][.eE]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
_SCALARS = frozenset((str, bool, type(None)))
_PLAIN: tuple[Any, ...] = (str, int, float, dict, list)


def decode(data: bytes | str) -> Any:
    """The value of one JSON text, as Go would hold it. Raises JsonError."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    try:
        value = _decode_slowly(data) if _LONG_INTEGER in data.translate(_AS_ZEROS) else orjson.loads(data)
    except orjson.JSONDecodeError:
        value = _decode_slowly(data)
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH:
        _check_depth(value)
    return value


def decode_unsettled(data: bytes) -> Any:
    """The same for a value that is settled next: its depth and its integers beyond int64 are not looked at here."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return decode(data)


def encode(value: Any) -> bytes:
    """Canonical bytes: sorted keys, no spaces, numbers as Go prints them. Raises JsonError, naming the path."""
    prepared = _walk(value, "", 0, _printed)
    try:
        return orjson.dumps(prepared, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return orjson.dumps(scrub(prepared), option=orjson.OPT_SORT_KEYS)


def encode_printed(value: Any) -> bytes:
    """The same bytes for a normal value in which there is no float."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return encode(value)


def encode_normal(value: Any) -> bytes:
    """The same bytes for a value that ``normal`` or ``settle`` gave: it is not checked again."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return encode(value)
    return encode(value) if _MAYBE_FLOAT.search(text) else text


def may_hold_float(text: bytes) -> bool:
    """Whether there may be a float in what orjson wrote; never False where there is one."""
    return _MAYBE_FLOAT.search(text) is not None


def may_be_odd(text: bytes) -> bool:
    """Whether there may be an integer beyond int64 or a deep nesting; never False where there is one."""
    return _LONG_INTEGER in text.translate(_AS_ZEROS) or text.count(b"[") + text.count(b"{") > MAX_DEPTH


def normal(value: Any) -> Any:
    """What reading the written value gives: ``decode(encode(value))``; the same object if that changes nothing."""
    walked = _walk(value, "", 0, _settled)
    try:
        orjson.dumps(walked)
    except TypeError:
        return scrub(walked)
    return walked


def copy(value: Any) -> Any:
    """A deep copy of a plain JSON value, exact: writing and reading is the cheapest one there is."""
    try:
        return orjson.loads(orjson.dumps(value))
    except (TypeError, orjson.JSONDecodeError):
        return _copy_slowly(value)


def equal(left: Any, right: Any) -> bool:
    """Whether Go would hold the same value: types count, order counts in lists and not in objects."""
    if left != right:  # in C; but there 1, 1.0 and True are equal
        return False
    try:
        return orjson.dumps(left, option=orjson.OPT_SORT_KEYS) == orjson.dumps(right, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return _equal_slowly(left, right)


def _equal_slowly(left: Any, right: Any) -> bool:
    kind = type(left)
    if kind is not type(right):
        return False
    if kind is dict:
        return len(left) == len(right) and all(key in right and _equal_slowly(left[key], right[key]) for key in left)
    if kind is list:
        return len(left) == len(right) and all(map(_equal_slowly, left, right))
    return bool(left == right)


def _decode_slowly(data: bytes) -> Any:
    text = _ESCAPED_BYTE.sub("\ufffd", data.decode("utf-8", "surrogateescape"))
    try:
        value = json.loads(text, parse_int=_integer, parse_float=_float, parse_constant=_refuse_constant)
    except RecursionError:
        raise _too_deep() from None
    except json.JSONDecodeError as error:
        raise errors.JsonError(f"not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    _check_depth(value)
    return scrub(value)


def _integer(token: str) -> int | float:
    if len(token) <= 20:
        value = int(token)
        if INT64_MIN <= value <= INT64_MAX:
            return value
    return _float(token)


def _float(token: str) -> float:
    value = float(token)
    if math.isinf(value):
        raise errors.JsonError(f"not JSON: the number {token[:40]} does not fit a float64")
    return value


def _refuse_constant(token: str) -> NoReturn:
    raise errors.JsonError(f"not JSON: {token} is no number in JSON")


def _too_deep() -> errors.JsonError:
    return errors.JsonError(f"nested deeper than {MAX_DEPTH} levels: no object of an API is; refused")


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        inner = [item for item in level if type(item) is dict or type(item) is list]
        if not inner:
            return
        level = [child for item in inner for child in (item.values() if type(item) is dict else item)]
    raise _too_deep()


def _walk(value: Any, path: str, depth: int, number: Callable[[int | float, str], Any]) -> Any:
    """The value with every number put through ``number``, checked to be JSON; the same object if nothing changed."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is int or kind is float:
        return number(value, path)
    if depth >= MAX_DEPTH:
        raise _too_deep()
    if kind is dict:
        return _walk_dict(value, path, depth, number)
    if kind is list:
        return _walk_list(value, path, depth, number)
    return _walk(_plain(value, path), path, depth, number)


def _walk_dict(value: dict[Any, Any], path: str, depth: int, number: Callable[[int | float, str], Any]) -> Any:
    changed = None
    for key, item in value.items():
        if type(key) is not str:
            raise errors.JsonError(f"{path or '/'}: the key {key!r} is a {type(key).__name__}, not a string", path=path)
        new = _walk(item, f"{path}/{key}", depth + 1, number)
        if new is not item:
            changed = dict(value) if changed is None else changed
            changed[key] = new
    return value if changed is None else changed


def _walk_list(value: list[Any], path: str, depth: int, number: Callable[[int | float, str], Any]) -> Any:
    changed = None
    for index, item in enumerate(value):
        new = _walk(item, f"{path}[{index}]", depth + 1, number)
        if new is not item:
            changed = list(value) if changed is None else changed
            changed[index] = new
    return value if changed is None else changed


def _plain(value: Any, path: str) -> Any:
    """Subclasses of JSON's own types (a StrEnum, an OrderedDict) as what they are; anything else is refused."""
    for kind in _PLAIN:
        if isinstance(value, kind):
            return kind.__str__(value) if kind is str else kind(value)
    raise errors.JsonError(f"{path or '/'}: a {type(value).__name__} is no JSON value: {value!r:.60}", path=path)


def _settled(value: int | float, path: str) -> int | float:
    """The number that Go reads back after it has written this one."""
    if type(value) is int:
        return value if INT64_MIN <= value <= INT64_MAX else _settled(_as_float(value, path), path)
    text = _go_float(value, path)
    return value if "." in text or "e" in text else _integer(text)


def _printed(value: int | float, path: str) -> Any:
    """What the encoder is to print: an int as it is, a float in Go's spelling."""
    if type(value) is int and INT64_MIN <= value <= INT64_MAX:
        return value
    return orjson.Fragment(_go_float(_as_float(value, path), path).encode())


def _as_float(value: int | float, path: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise errors.JsonError(f"{path or '/'}: the number does not fit a float64", path=path) from None


def _go_float(value: int | float, path: str) -> str:
    """Go's shortest form: plain digits for 1e-6 <= |value| < 1e21, else an exponent without leading zeros."""
    if not math.isfinite(value):
        raise errors.JsonError(f"{path or '/'}: {value!r} is no number in JSON", path=path)
    sign, digits, point = _shortest(value)
    if value != 0 and not 1e-6 <= abs(value) < 1e21:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{fraction}e{point - 1:+d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if point >= len(digits):
        return f"{sign}{digits}{'0' * (point - len(digits))}"
    return f"{sign}{digits[:point]}.{digits[point:]}"


def _shortest(value: int | float) -> tuple[str, str, int]:
    """Sign, shortest digits and position of the decimal point: ``-12.5`` is ("-", "125", 2)."""
    mantissa, _, exponent = repr(float(value)).partition("e")
    sign, mantissa = ("-", mantissa[1:]) if mantissa[0] == "-" else ("", mantissa)
    whole, _, fraction = mantissa.partition(".")
    point = len(whole) + int(exponent or 0)
    digits = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    return (sign, digits, point) if digits else (sign, "0", 1)


def scrub(value: Any) -> Any:
    """The value with lone surrogates replaced, in keys too."""
    if type(value) is str:
        return _SURROGATE.sub("\ufffd", value)
    if type(value) is list:
        return [scrub(item) for item in value]
    if type(value) is dict:
        return {scrub(key): scrub(item) for key, item in value.items()}
    return value


def _copy_slowly(value: Any) -> Any:
    if type(value) is dict:
        return {key: _copy_slowly(item) for key, item in value.items()}
    if type(value) is list:
        return [_copy_slowly(item) for item in value]
    return value
