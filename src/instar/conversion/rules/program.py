"""One direction of a list of rules, ready to run on an object or on an item of one.

::

    take every source out  ->  functions over the values  ->  put every result in

All are taken before any is put, so that fields may swap their names. Inner places are taken before, and put after, the
ones that hold them, so that a rule may speak of a field of what another one moves. What a take has emptied goes with
it, but for what the target's schema requires. A target that is there already is an error: an object says a thing once.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NoReturn

from instar import errors
from instar.conversion.rules import model
from instar.model import gojson, path

__all__ = ["Default", "Program", "Put", "Step", "Take"]

Keys = tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Take:
    """Fields of one holder and the slots for their values; holders emptied by it go, down to ``floor`` keys.

    An ``alien`` holder goes even if it was empty before: in its place the target has no object.
    """

    parents: Keys
    fields: tuple[tuple[str, int], ...]
    floor: int
    alien: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Put:
    """Fields of one holder, each with the slot of its value and the rule."""

    parents: Keys
    fields: tuple[tuple[str, int, str], ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Default:
    """A constant for a field that is not there, where its holder is."""

    parents: Keys
    name: str
    value: Any


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """A function over slots; a bare slot is one value, a tuple of slots a list of them."""

    function: model.Function
    sources: int | tuple[int, ...]
    targets: int | tuple[int, ...]
    path: str
    label: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """Called with an object (or an item), which it owns and may change; an item may become nothing, which is None."""

    name: str
    slots: int
    whole_source: int | None
    takes: tuple[Take, ...]
    steps: tuple[Step, ...]
    whole_target: int | None
    puts: tuple[Put, ...]
    defaults: tuple[Default, ...]

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, body: Any) -> Any:
        values: list[Any] = [None] * self.slots
        if type(body) is dict:
            for take in self.takes:
                _take(body, take, values)
        if self.whole_source is not None:
            values[self.whole_source], body = body, {}
        for step in self.steps:
            _run(step, values)
        if self.whole_target is not None:
            body = values[self.whole_target]
        if type(body) is dict:
            for put in self.puts:
                _put(body, put, values)
            for default in self.defaults:
                _default(body, default)
        return body


def _take(body: dict[str, Any], take: Take, values: list[Any]) -> None:
    holder = body
    for name in take.parents:
        holder = holder.get(name)  # type: ignore[assignment]  # what is no object holds no field
        if type(holder) is not dict:
            return
    was = len(holder)
    for name, slot in take.fields:
        values[slot] = holder.pop(name, None)
    if not holder and (was or take.alien):
        _drop_emptied(body, take.parents, take.floor)


def _drop_emptied(body: dict[str, Any], parents: Keys, floor: int) -> None:
    for depth in range(len(parents), floor, -1):
        above = body
        for name in parents[: depth - 1]:
            above = above[name]
        if above[parents[depth - 1]]:
            return
        del above[parents[depth - 1]]


def _run(step: Step, values: list[Any]) -> None:
    sources, targets = step.sources, step.targets
    if type(sources) is int:
        given = values[sources]
        if given is None:
            return
    else:
        given = [values[slot] for slot in sources]  # type: ignore[union-attr]  # mypy does not narrow by type()
        if not any(value is not None for value in given):
            return
    try:
        result = step.function(given)
    except errors.Unconvertible as error:
        error.place = error.place or step.label
        raise
    except Exception as error:
        _wrap(step, given, error)
    if type(targets) is int:
        values[targets] = result
    elif result is not None:
        for slot, value in zip(targets, result, strict=True):  # type: ignore[arg-type]
            values[slot] = value


def _wrap(step: Step, given: Any, error: Exception) -> NoReturn:
    """What an author's function raised, with the rule and the value."""
    wrapped = errors.Unconvertible(step.path, given, errors.raised(error))
    wrapped.place = step.label
    raise wrapped from error


def _put(body: dict[str, Any], put: Put, values: list[Any]) -> None:
    holder: dict[str, Any] | None = None
    for name, slot, label in put.fields:
        value = values[slot]
        if value is None:
            continue
        if holder is None:
            holder = _made(body, put.parents, label)
        if holder.get(name) is not None:
            _refuse("".join(map(path.field, (*put.parents, name))), holder[name], label)
        holder[name] = value


def _made(body: dict[str, Any], parents: Keys, label: str) -> dict[str, Any]:
    holder = body
    for depth, name in enumerate(parents):
        inner = holder.get(name)
        if inner is None:
            inner = holder[name] = {}
        elif type(inner) is not dict:
            _refuse("".join(map(path.field, parents[: depth + 1])), inner, label)
        holder = inner
    return holder


def _refuse(where: str, value: Any, label: str) -> NoReturn:
    error = errors.Unconvertible(where, value, "is there already, beside what the rule puts there: remove one of them")
    error.place = label
    raise error


def _default(body: dict[str, Any], default: Default) -> None:
    holder: Any = body
    for name in default.parents:
        holder = holder.get(name)
        if type(holder) is not dict:
            return
    if holder.get(default.name) is None:
        holder[default.name] = gojson.copy(default.value)
