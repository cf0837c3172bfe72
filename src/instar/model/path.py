"""Readable paths of leaves: ``/spec/containers[name=c1]/policy``.

===========================  =======================================================================================
step                         text
===========================  =======================================================================================
a field or a map key         ``/name``
an item of a keyed list      ``[key=value]``, several keys in alphabetic order: ``[port=80,protocol=TCP]``
an item of a set             ``[=value]``
===========================  =======================================================================================

Names and values escape ``~ / [ ] = ,`` as ``~0 ~1 ~2 ~3 ~4 ~5``; an empty key name is ``~6``. A string value is bare
unless it could be read as another JSON value (``[port=80]`` is the number, ``[port="80"]`` the string). The text is
stored in annotations, so it is injective and canonical: ``parse`` refuses every text that ``format`` would not write.
The order of a list is a place too, ``/spec/containers[]``; it is no path of a leaf.
A step is its own text: a path is the steps joined, so that paths compare, sort and hash type-strictly as strings.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from instar import errors
from instar.model import gojson

__all__ = [
    "Element",
    "Field",
    "Item",
    "Step",
    "element",
    "field",
    "item",
    "item_named",
    "of_order",
    "order",
    "parent",
    "parse",
    "within",
]

_ESCAPES = {"~": "~0", "/": "~1", "[": "~2", "]": "~3", "=": "~4", ",": "~5"}
_TABLE = str.maketrans(_ESCAPES)
_PLAIN = {text: char for char, text in _ESCAPES.items()} | {"~6": ""}
_SPECIAL = re.compile(r"[~/\[\]=,]")
_ESCAPED = re.compile("~.?", re.DOTALL)
_BOUNDARY = re.compile(r"[/\[]")
_STEP = re.compile(r"/([^/\[\]]*)|\[([^/\[\]]*)\]")
_NOT_BARE = re.compile(r'["\[{0-9-]')
_BARE = re.compile(r"[A-Za-z_.][A-Za-z0-9_. -]*").fullmatch
_ORDER = "[]"
_WORDS = frozenset(("", "true", "false", "null"))


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """A field of an object or a key of a map."""

    name: str
    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class Item:
    """An item of a keyed list; ``keys`` in alphabetic order."""

    keys: tuple[tuple[str, Any], ...]
    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class Element:
    """An item of a set, which is its own key."""

    value: Any
    text: str


Step = Field | Item | Element


def field(name: str) -> str:
    """The step to a field or a map key."""
    return "/" + (name.translate(_TABLE) if _SPECIAL.search(name) else name)


def item(keys: Mapping[str, Any]) -> str:
    """The step to an item of a keyed list."""
    return "[" + ",".join(f"{_name(key)}={_value(keys[key])}" for key in sorted(keys)) + "]"


def item_named(key: str, name: str) -> str:
    """The step to an item of a list keyed by one text, which most keyed lists are."""
    if _BARE(key) and _BARE(name) and name not in _WORDS:
        return f"[{key}={name}]"
    return item({key: name})


def element(value: Any) -> str:
    """The step to an item of a set."""
    return f"[={_value(value)}]"


def order(where: str) -> str:
    """The place that is the order of the list at a path."""
    return where + _ORDER


def of_order(where: str) -> str | None:
    """The list whose order the place is; None for the path of a leaf."""
    return where.removesuffix(_ORDER) if where.endswith(_ORDER) else None


@functools.lru_cache(maxsize=8192)
def parse(text: str) -> tuple[Step, ...]:
    """The steps of a path; UsageError if the text is not what these functions write."""
    steps: list[Step] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            raise _malformed(text)
        steps.append(_step(match, text))
        position = match.end()
    if "".join(step.text for step in steps) != text or not _canonical(steps):
        raise _malformed(text)
    return tuple(steps)


def parent(text: str) -> str:
    """The path of what holds the leaf; empty at the top."""
    return text[: max(text.rfind("/"), text.rfind("["), 0)]


def within(path: str, ancestors: Iterable[str]) -> bool:
    """Whether the path is one of these or below one of them."""
    tops = ancestors if isinstance(ancestors, set | frozenset | dict) else set(ancestors)
    return path in tops or any(path[: match.start()] in tops for match in _BOUNDARY.finditer(path))


def _name(name: str) -> str:
    return name.translate(_TABLE) if name else "~6"


def _value(value: Any) -> str:
    if type(value) is str and value not in _WORDS and not _NOT_BARE.match(value):
        return value.translate(_TABLE)
    return gojson.encode(value).decode().translate(_TABLE)


def _step(match: re.Match[str], text: str) -> Step:
    name, inner = match.groups()
    if name is not None:
        return Field(_unescape(name, text), match.group())
    if inner.startswith("="):
        return Element(_read_value(inner[1:], text), match.group())
    pairs = [part.partition("=") for part in inner.split(",")]
    return Item(tuple((_unescape(key, text), _read_value(value, text)) for key, _, value in pairs), match.group())


def _canonical(steps: Iterable[Step]) -> bool:
    for step in steps:
        if isinstance(step, Field):
            written = field(step.name)
        elif isinstance(step, Item):
            written = item(dict(step.keys))
        else:
            written = element(step.value)
        if written != step.text:
            return False
    return True


def _unescape(text: str, whole: str) -> str:
    def plain(match: re.Match[str]) -> str:
        try:
            return _PLAIN[match.group()]
        except KeyError:
            raise _malformed(whole) from None

    return _ESCAPED.sub(plain, text) if "~" in text else text


def _read_value(text: str, whole: str) -> Any:
    plain = _unescape(text, whole)
    if plain not in _WORDS and not _NOT_BARE.match(plain):
        return plain
    try:
        return gojson.decode(plain)
    except errors.JsonError:
        raise _malformed(whole) from None


def _malformed(text: str) -> errors.UsageError:
    return errors.UsageError(f"not a path of a leaf: {text[:200]!r}; one looks like /spec/containers[name=c1]/policy")
