"""Bodies as the API server holds them, with their text: most are so already, and C can say so.

Settling is a walk in Python; most bodies come out of it as they went in. Whether one does is a question of types: every
field is known, none is null that may not be, every field with a default is there, every number is an int64. So each
schema is compiled once to a type of msgspec, and a body that converts to it is settled. Where it does not, or where the
schema leaves room for anything, the walk decides; both give the same.

A body is held with its canonical text. Texts compare type-strictly, and reading one is the cheapest private copy there
is: the value itself may share parts with what a converter returned, so it is looked at and never changed. Its owner may
give it away, to be changed: it is read again from the text if somebody asks.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Annotated, Any

import msgspec
import orjson

from instar.model import gojson
from instar.schema import settling, structural

__all__ = ["Settled", "as_it_is", "settle"]


class Settled:
    """A body; ``printed`` says that its text is as Go prints it, too (floats may be spelled otherwise)."""

    __slots__ = ("_value", "printed", "text")

    def __init__(self, value: dict[str, Any], text: bytes, printed: bool) -> None:
        self._value: dict[str, Any] | None = value
        self.text = text
        self.printed = printed

    @property
    def value(self) -> dict[str, Any]:
        """The body, to be looked at."""
        if self._value is None:
            self._value = self.copy()
        return self._value

    def give(self) -> dict[str, Any]:
        """The very body that was settled, where that is the caller's own to change."""
        value, self._value = self.value, None
        return value

    def copy(self) -> dict[str, Any]:
        """The body, to be changed."""
        copied: dict[str, Any] = orjson.loads(self.text)
        return copied

    def encode(self) -> bytes:
        """The text as Go prints it."""
        return self.text if self.printed else gojson.encode(self.value)


def settle(body: dict[str, Any], node: structural.Node, *, defaults: bool, expected: Settled | None = None) -> Settled:
    """The body as the API server would hold it at this schema. Raises JsonError, naming the path; RecursionError.

    ``expected`` is what it may well be, known to be settled so: then it is what comes back.
    """
    if expected is not None and expected.printed and _text(body) == expected.text:
        return expected
    return proven(body, node, defaults=defaults) or _written(settling.settle(body, node, defaults=defaults))


def proven(body: dict[str, Any], node: structural.Node, *, defaults: bool) -> Settled | None:
    """The same, where it is known without a walk; None says nothing."""
    form = _form(node, defaults)
    return _proven(body, form) if form is not None else None


def as_it_is(value: dict[str, Any], *, printed: bool = False) -> Settled:
    """A JSON value with its text, whatever a schema says; ``printed`` says that there is no float in it."""
    found = _written(value)
    found.printed = found.printed or printed
    return found


def _written(value: dict[str, Any]) -> Settled:
    """Lone surrogates are replaced, as Go does."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        value = gojson.scrub(value)
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return Settled(value, text, not gojson.may_hold_float(text))


# --- the types -------------------------------------------------------------------------------------------------------

_OPTIONS = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_PASSTHROUGH_SUBCLASS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
)
_ANYTHING = str | bool | int | float | list[Any] | dict[str, Any]
"""But null, which a field has only where it is nullable."""
_SCALAR = str | bool | Annotated[int, msgspec.Meta(ge=gojson.INT64_MIN, le=gojson.INT64_MAX)]


@dataclasses.dataclass(frozen=True, slots=True)
class _Form:
    """The type of settled bodies; ``open`` where it has room for values of any kind, which must be looked at."""

    type: Any
    open: bool


class _Formless(Exception):
    """A schema that no type stands for."""


@functools.lru_cache(maxsize=512)
def _form(node: structural.Node, defaults: bool) -> _Form | None:
    rooms: list[structural.Node] = []
    try:
        return _Form(_type(node, defaults, rooms), bool(rooms))
    except _Formless:
        return None


def _text(body: dict[str, Any]) -> bytes | None:
    try:
        return orjson.dumps(body, option=_OPTIONS)
    except TypeError:
        return None


def _proven(body: dict[str, Any], form: _Form) -> Settled | None:
    try:
        msgspec.convert(body, form.type)
    except (msgspec.ValidationError, RecursionError):
        return None
    text = _text(body)
    if text is None:
        return None
    if not form.open:
        return Settled(body, text, True)
    if gojson.may_hold_float(text) or gojson.may_be_odd(text) or orjson.loads(text) != body:
        return None
    return Settled(body, text, True)


def _type(node: structural.Node, defaults: bool, rooms: list[structural.Node]) -> Any:
    """The type of what is settled at a node; ``rooms`` collects those that take anything."""
    kind = _bare(node, defaults, rooms)
    return kind | None if node.nullable else kind


def _bare(node: structural.Node, defaults: bool, rooms: list[structural.Node]) -> Any:
    if node.preserve or node.embedded:
        rooms.append(node)
        if node.items is not None or node.additional is not None:
            raise _Formless
        return _struct(node, defaults, rooms, closed=False) if node.properties and not node.embedded else _ANYTHING
    if node.properties and node.additional is not None:
        raise _Formless
    if node.additional is not None:
        return dict[str, _type(node.additional, defaults, rooms)]  # type: ignore[misc]
    if node.items is not None:
        return list[_type(node.items, defaults, rooms)]  # type: ignore[misc]
    if node.properties or node.raw.get("type") == "object":
        return _struct(node, defaults, rooms, closed=True)
    return _SCALAR


def _struct(node: structural.Node, defaults: bool, rooms: list[structural.Node], *, closed: bool) -> type:
    fields: list[Any] = []
    names = {}
    for number, (name, inner) in enumerate(node.properties.items()):
        kind = _type(inner, defaults, rooms)
        names[f"f{number}"] = name
        needed = defaults and name in node.defaulted
        fields.append((f"f{number}", kind) if needed else (f"f{number}", kind | msgspec.UnsetType, msgspec.UNSET))
    fields.sort(key=len)
    return msgspec.defstruct("Body", fields, rename=names, forbid_unknown_fields=closed, gc=False)
