"""Which edits a place of an object takes: each has a name, and is made with the choices of a source.

An offer keeps to the schema's bounds, required fields and unique list keys. It may find no room for what it wants (all
keys are taken): then there is no edit.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from instar.testing import objects, sources

__all__ = ["ABSENT", "NO_ROOM", "Offer", "Path", "Place", "offers", "places"]

Path = tuple[str | int, ...]
Offer = tuple[str, Callable[[sources.Source], Any]]
TRIES = 12


class _Absent:
    """The value of a field that is not there."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def __deepcopy__(self, memo: dict[int, Any]) -> _Absent:
        return self

    def __copy__(self) -> _Absent:
        return self


ABSENT: Any = _Absent("ABSENT")
NO_ROOM: Any = _Absent("NO_ROOM")
"""What an offer gives that found nothing to put there."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where an edit can be made, and what stands there now (or ABSENT)."""

    path: Path
    schema: Mapping[str, Any]
    value: Any
    required: bool


def places(document: Mapping[str, Any], schema: Mapping[str, Any], below: Sequence[str]) -> Iterator[Place]:
    """Every place under these top-level fields."""
    properties, required = schema.get("properties", {}), schema.get("required", ())
    for name in below:
        if name in properties:
            value = document.get(name, ABSENT)
            yield from _walk(Place(path=(name,), schema=properties[name], value=value, required=name in required))


def _walk(place: Place) -> Iterator[Place]:
    yield place
    if isinstance(place.value, dict):
        yield from _walk_map(place)
    elif isinstance(place.value, list):
        for index, item in enumerate(place.value):
            item_schema = place.schema.get("items", {})
            inner = Place(path=(*place.path, index), schema=item_schema, value=item, required=True)
            walked = _walk(inner)
            next(walked)  # the item as a whole is edited by its list, which knows what must be unique
            keys = _map_keys(place)
            yield from (found for found in walked if found.path[len(place.path) + 1] not in keys)


def _walk_map(place: Place) -> Iterator[Place]:
    properties, required = place.schema.get("properties", {}), place.schema.get("required", ())
    for name, below in properties.items():
        value = place.value.get(name, ABSENT)
        yield from _walk(Place(path=(*place.path, name), schema=below, value=value, required=name in required))
    free = place.schema.get("additionalProperties")
    for name, value in place.value.items():
        if name not in properties and isinstance(free, Mapping):
            yield from _walk(Place(path=(*place.path, name), schema=free, value=value, required=False))


def _map_keys(place: Place) -> Sequence[str]:
    keys: Sequence[str] = place.schema.get("x-kubernetes-list-map-keys", ())
    return keys


def offers(place: Place) -> Iterator[Offer]:
    """The edits that can be made at a place: a name, and how the value that stands there afterwards is chosen."""
    if place.value is ABSENT:
        yield "add", lambda source: source.value(place.schema)
        return
    whole = "replace" if isinstance(place.value, (dict, list)) else "set"
    yield whole, lambda source: source.value(place.schema)
    if not place.required:
        yield "delete", lambda source: ABSENT
    if isinstance(place.value, list):
        yield from _list_offers(place)
    if isinstance(place.value, dict):
        yield from _map_offers(place)


def _list_offers(place: Place) -> Iterator[Offer]:
    length, low, high = len(place.value), place.schema.get("minItems", 0), place.schema.get("maxItems")
    if high is None or length < high:
        yield "append", lambda source: _with_item(source, place, length, length)
        yield "insert", lambda source: _with_item(source, place, at := source.pick(range(length + 1)), at)
    if length > low:
        yield "remove", lambda source: _without(place.value, source.pick(range(length)))
    if length and low == 0:
        yield "clear", lambda source: []
    if length > 1:
        yield "reorder", lambda source: source.order(place.value)
    if length:
        yield "set item", lambda source: _with_item(source, place, at := source.pick(range(length)), at + 1)
    if length and _map_keys(place):
        yield "rename item", lambda source: _renamed(source, place, keep=False)
    if length and _copies(place) and (high is None or length < high):
        yield "duplicate", lambda source: _duplicated(source, place)


def _copies(place: Place) -> bool:
    return bool(_map_keys(place)) or objects.item_key(place.schema) is None


def _without(items: Sequence[Any], at: int) -> list[Any]:
    return [*items[:at], *items[at + 1 :]]


def _with_item(source: sources.Source, place: Place, start: int, stop: int) -> Any:
    """A fresh item in the place of those from ``start`` to before ``stop``."""
    before, after = place.value[:start], place.value[stop:]
    item = _unlike(source, place, [*before, *after])
    return NO_ROOM if item is NO_ROOM else [*before, item, *after]


def _unlike(source: sources.Source, place: Place, others: Sequence[Any]) -> Any:
    """A fresh item that may stand beside the others."""
    key = objects.item_key(place.schema)
    taken = {key(other) for other in others} if key else set()
    for _ in range(TRIES):
        item = source.value(place.schema.get("items", {}))
        if key is None or key(item) not in taken:
            return item
    return NO_ROOM


def _renamed(source: sources.Source, place: Place, *, keep: bool) -> Any:
    """An item of a keyed list under another key; the one that it was made from is kept or not."""
    at = source.pick(range(len(place.value)))
    fresh = _unlike(source, place, place.value)
    if fresh is NO_ROOM:
        return NO_ROOM
    keys = {name: fresh[name] for name in _map_keys(place) if name in fresh}
    rest = {name: copy.deepcopy(value) for name, value in place.value[at].items() if name not in _map_keys(place)}
    return [*place.value[: at + keep], {**keys, **rest}, *place.value[at + 1 :]]


def _duplicated(source: sources.Source, place: Place) -> Any:
    """An item twice; in a keyed list the second has a key of its own."""
    if _map_keys(place):
        return _renamed(source, place, keep=True)
    at = source.pick(range(len(place.value)))
    return [*place.value[: at + 1], copy.deepcopy(place.value[at]), *place.value[at + 1 :]]


def _map_offers(place: Place) -> Iterator[Offer]:
    fields, low = place.value, place.schema.get("minProperties", 0)
    if fields and not low and not place.schema.get("required"):
        yield "clear", lambda source: {}
    free = place.schema.get("additionalProperties")
    if not isinstance(free, Mapping):
        return
    high = place.schema.get("maxProperties")
    if high is None or len(fields) < high:
        yield "add key", lambda source: _with_key(source, place, free)
    named = [name for name in fields if name not in place.schema.get("properties", {})]
    if named:
        yield "rename key", lambda source: _with_renamed_key(source, place, source.pick(named))


def _with_key(source: sources.Source, place: Place, free: Mapping[str, Any]) -> Any:
    name = _new_key(source, place)
    return NO_ROOM if name is None else {**place.value, name: source.value(free)}


def _with_renamed_key(source: sources.Source, place: Place, old: str) -> Any:
    new = _new_key(source, place)
    if new is None:
        return NO_ROOM
    return {(new if name == old else name): value for name, value in place.value.items()}


def _new_key(source: sources.Source, place: Place) -> str | None:
    for _ in range(TRIES):
        name = source.key()
        if name not in place.value and name not in place.schema.get("properties", {}):
            return name
    return None
