"""The formats that the API server enforces on values; every other one is a comment to it, and to us.

Number formats are enforced on write since 1.36 (measured on 1.37.2: int32, int64, float).
Source: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation
"""

from __future__ import annotations

import base64
import binascii
import datetime
import ipaddress
import re
import struct
import uuid
from collections.abc import Callable

from instar.model import gojson

__all__ = ["valid_number", "valid_string"]

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_DURATION = re.compile(r"[-+]?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+")
_DATE_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[tT](\d\d):(\d\d):(\d\d)(\.\d+)?([zZ]|[+-]\d\d:\d\d)")
_UUID = {"uuid": None, "uuid3": 3, "uuid4": 4, "uuid5": 5}


def valid_string(value: str, name: str) -> bool:
    """Whether a string has the format; one that the server does not know is always had."""
    if name in _UUID:
        return _parses(lambda: _is_uuid(value, _UUID[name]))
    check = _STRINGS.get(name)
    return check is None or _parses(lambda: check(value))


def valid_number(value: int | float, name: str) -> bool:
    """Whether a number fits the format."""
    if name == "int32":
        return type(value) is int and -(2**31) <= value < 2**31
    if name == "int64":
        return type(value) is int and gojson.INT64_MIN <= value <= gojson.INT64_MAX
    if name == "float":
        return _parses(lambda: bool(struct.pack("<f", value)))
    return True


def _parses(check: Callable[[], bool]) -> bool:
    try:
        return check()
    except (ValueError, OverflowError, binascii.Error):
        return False


def _is_uuid(value: str, version: int | None) -> bool:
    return uuid.UUID(value).version == version if version else bool(uuid.UUID(value))


def _is_date(value: str) -> bool:
    return len(value) == 10 and bool(datetime.date.fromisoformat(value))


def _is_date_time(value: str) -> bool:
    match = _DATE_TIME.fullmatch(value)
    if match is None:
        return False
    hour, minute, second = (int(match[index]) for index in (2, 3, 4))
    return _is_date(match[1]) and hour < 24 and minute < 60 and second < 61


_STRINGS: dict[str, Callable[[str], bool]] = {
    "byte": lambda value: bool(base64.b64decode(value, validate=True)) or not value,
    "date": _is_date,
    "date-time": _is_date_time,
    "datetime": _is_date_time,
    "duration": lambda value: _DURATION.fullmatch(value) is not None,
    "ipv4": lambda value: bool(ipaddress.IPv4Address(value)) or True,
    "ipv6": lambda value: bool(ipaddress.IPv6Address(value)) or True,
    "cidr": lambda value: "/" in value and bool(ipaddress.ip_interface(value)),
    "mac": lambda value: re.fullmatch(r"([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}", value) is not None,
    "k8s-short-name": lambda value: _LABEL.fullmatch(value) is not None,
    "k8s-long-name": lambda value: len(value) <= 253 and all(map(_LABEL.fullmatch, value.split("."))),
}
