"""Edits as people and controllers make them: set, delete, add, append, remove, reorder, replace a map, rename a key.

An edit is a value: where, and what stands there afterwards. It keeps to the schema's bounds, required fields and
unique list keys, so that the API server would take it; other rules of the schema are the caller's to filter.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from instar.testing import objects, scalars

__all__ = ["ABSENT", "Edit", "apply", "apply_all", "several", "single"]

Path = tuple[str | int, ...]
_Offer = tuple[str, st.SearchStrategy["Edit"]]


class _Absent:
    """The value of a field that is not there."""

    def __repr__(self) -> str:
        return "ABSENT"

    def __deepcopy__(self, memo: dict[int, Any]) -> _Absent:
        return self


ABSENT: Any = _Absent()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """What ``kind`` of edit was made at ``path``, and the ``value`` that stands there afterwards (or ABSENT)."""

    kind: str
    path: Path
    value: Any


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    path: Path
    schema: Mapping[str, Any]
    value: Any
    required: bool


def apply(document: Mapping[str, Any], edit: Edit) -> dict[str, Any]:
    """A copy of ``document`` with the edit made; KeyError or IndexError where its path leads nowhere."""
    edited: Any = copy.deepcopy(dict(document))
    inner = edited
    for step in edit.path[:-1]:
        inner = inner[step]
    if edit.value is ABSENT:
        del inner[edit.path[-1]]
    else:
        inner[edit.path[-1]] = copy.deepcopy(edit.value)
    return edited  # type: ignore[no-any-return]


def apply_all(document: Mapping[str, Any], edits: Sequence[Edit]) -> dict[str, Any]:
    """A copy of ``document`` with all edits made in order."""
    edited = copy.deepcopy(dict(document))
    for edit in edits:
        edited = apply(edited, edit)
    return edited


@st.composite
def single(
    draw: st.DrawFn, document: Mapping[str, Any], schema: Mapping[str, Any], *, below: Sequence[str] = ("spec",)
) -> Edit | None:
    """One edit of ``document`` under the top-level fields ``below``; None where the schema leaves nothing to edit."""
    offers: dict[str, list[st.SearchStrategy[Edit]]] = {}
    for place in _places(document, schema, below):
        for kind, offer in _offers(place):
            offers.setdefault(kind, []).append(offer)
    if not offers:
        return None
    kind = draw(st.sampled_from(sorted(offers)))  # first the kind, or reorders would drown in additions
    return draw(draw(st.sampled_from(offers[kind])))


@st.composite
def several(
    draw: st.DrawFn,
    document: Mapping[str, Any],
    schema: Mapping[str, Any],
    *,
    below: Sequence[str] = ("spec",),
    most: int = 3,
) -> list[Edit]:
    """One to ``most`` edits, each made on what the one before left."""
    made: list[Edit] = []
    for _ in range(draw(st.integers(1, most))):
        edit = draw(single(apply_all(document, made), schema, below=below))
        if edit is not None:
            made.append(edit)
    return made


def _places(document: Mapping[str, Any], schema: Mapping[str, Any], below: Sequence[str]) -> Iterator[_Place]:
    properties, required = schema.get("properties", {}), schema.get("required", ())
    for name in below:
        if name in properties:
            value = document.get(name, ABSENT)
            yield from _walk(_Place(path=(name,), schema=properties[name], value=value, required=name in required))


def _walk(place: _Place) -> Iterator[_Place]:
    yield place
    if isinstance(place.value, dict):
        yield from _walk_map(place)
    elif isinstance(place.value, list):
        for index, item in enumerate(place.value):
            item_schema = place.schema.get("items", {})
            inner = _Place(path=(*place.path, index), schema=item_schema, value=item, required=True)
            walked = _walk(inner)
            next(walked)  # the item as a whole is edited by its list, which knows what must be unique
            keys = place.schema.get("x-kubernetes-list-map-keys", ())
            yield from (found for found in walked if found.path[len(place.path) + 1] not in keys)


def _walk_map(place: _Place) -> Iterator[_Place]:
    properties, required = place.schema.get("properties", {}), place.schema.get("required", ())
    for name, below in properties.items():
        value = place.value.get(name, ABSENT)
        yield from _walk(_Place(path=(*place.path, name), schema=below, value=value, required=name in required))
    free = place.schema.get("additionalProperties")
    for name, value in place.value.items():
        if name not in properties and isinstance(free, Mapping):
            yield from _walk(_Place(path=(*place.path, name), schema=free, value=value, required=False))


def _offers(place: _Place) -> Iterator[_Offer]:
    """The edits that can be made at a place: kind and strategy."""
    fresh = objects.values(place.schema)
    if place.value is ABSENT:
        yield _made("add", place.path, fresh)
        return
    yield _made("replace" if isinstance(place.value, (dict, list)) else "set", place.path, fresh)
    if not place.required:
        yield _made("delete", place.path, st.just(ABSENT))
    if isinstance(place.value, list):
        yield from _list_offers(place)
    if isinstance(place.value, dict) and isinstance(place.schema.get("additionalProperties"), Mapping):
        yield from _map_offers(place)


def _list_offers(place: _Place) -> Iterator[_Offer]:
    items, key = place.value, objects.item_key(place.schema)
    fresh = objects.values(place.schema.get("items", {}))
    length, low, high = len(items), place.schema.get("minItems", 0), place.schema.get("maxItems")
    if high is None or length < high:
        yield _made("append", place.path, _unlike(fresh, items, key).map(lambda item: [*items, item]))
    if length > low:
        index = st.integers(0, length - 1)
        yield _made("remove", place.path, index.map(lambda at: [*items[:at], *items[at + 1 :]]))
    if length > 1:
        yield _made("reorder", place.path, st.permutations(items))
    if length:
        yield _made("set item", place.path, st.integers(0, length - 1).flatmap(lambda at: _with_item(place, at)))


def _with_item(place: _Place, at: int) -> st.SearchStrategy[list[Any]]:
    before, after = place.value[:at], place.value[at + 1 :]
    fresh = _unlike(objects.values(place.schema.get("items", {})), [*before, *after], objects.item_key(place.schema))
    return fresh.map(lambda item: [*before, item, *after])


def _map_offers(place: _Place) -> Iterator[_Offer]:
    fields = place.value
    names = scalars.keys().filter(lambda name: name not in fields and name not in place.schema.get("properties", {}))
    fresh = objects.values(place.schema["additionalProperties"])
    high = place.schema.get("maxProperties")
    if high is None or len(fields) < high:
        yield _made("add key", place.path, st.builds(lambda name, value: {**fields, name: value}, names, fresh))
    free = [name for name in fields if name not in place.schema.get("properties", {})]
    if free:
        yield _made(
            "rename key",
            place.path,
            st.builds(
                lambda old, new: {(new if name == old else name): value for name, value in fields.items()},
                st.sampled_from(free),
                names,
            ),
        )


def _unlike(
    fresh: st.SearchStrategy[Any], others: Sequence[Any], key: Callable[[Any], str] | None
) -> st.SearchStrategy[Any]:
    if key is None:
        return fresh
    taken = {key(other) for other in others}
    return fresh.filter(lambda item: key(item) not in taken)


def _made(kind: str, path: Path, value: st.SearchStrategy[Any]) -> _Offer:
    return kind, st.builds(Edit, kind=st.just(kind), path=st.just(path), value=value)
