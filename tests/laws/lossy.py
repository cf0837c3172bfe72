"""Random conversions that lose: small schemas of two versions, built of pieces whose dependencies are known.

A piece owns some fields of one container at both versions and converts them with nothing else in sight. So of every
field it is known, apart from the framework, on which fields of the other version it depends: those of its piece.
Containers (objects, keyed lists, free maps) stand at both versions, under names of their own.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import strategies as st
from tests.laws import kinds
from tests.laws.piece import Convert, Fields, Piece, is_text, is_whole

GROUP, KIND, PLURAL = "laws.example.com", "Thing", "things"
DOMAIN = GROUP


@dataclasses.dataclass(frozen=True, kw_only=True)
class Node:
    """A container's pieces and the containers in it: ``(kind, name at one, name at two, node)``."""

    pieces: tuple[Piece, ...]
    below: tuple[tuple[str, str, str, Node], ...] = ()


def schema(node: Node, side: str) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for piece in node.pieces:
        properties |= piece.one if side == "one" else piece.two
    for kind, one, two, inner in node.below:
        properties[one if side == "one" else two] = _container(kind, schema(inner, side))
    return {"type": "object", "properties": properties}


def _container(kind: str, inner: dict[str, Any]) -> dict[str, Any]:
    if kind == "map":
        return {"type": "object", "additionalProperties": inner}
    if kind == "list":
        keyed = {**inner, "properties": {**inner["properties"], "key": {"type": "string"}}, "required": ["key"]}
        return {
            "type": "array",
            "items": keyed,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["key"],
        }
    return inner


def convert(node: Node, side: str, fields: Any) -> Any:
    """The author's converter of a container: each piece alone, each container within; other types are let go."""
    if not isinstance(fields, dict):
        return {}
    converted: Fields = {}
    for piece in node.pieces:
        names, function = (piece.one, piece.to_two) if side == "one" else (piece.two, piece.to_one)
        converted |= function({name: fields[name] for name in names if name in fields})
    for kind, one, two, inner in node.below:
        here, there = (one, two) if side == "one" else (two, one)
        if here in fields:
            converted |= _convert_container(kind, there, inner, side, fields[here])
    return converted


def _convert_container(kind: str, there: str, inner: Node, side: str, value: Any) -> Fields:
    if kind == "map" and isinstance(value, dict):
        return {there: {name: convert(inner, side, item) for name, item in value.items()}}
    if kind == "list" and isinstance(value, list):
        kept = [item for item in value if isinstance(item, dict)]
        keys = [{"key": item["key"]} if "key" in item else {} for item in kept]
        return {there: [{**convert(inner, side, item), **key} for item, key in zip(kept, keys, strict=True)]}
    if kind in ("object", "quiet") and isinstance(value, dict):
        converted = convert(inner, side, value)
        return {there: converted} if converted or kind == "object" else {}
    return {}


Place = tuple[tuple[str, str], ...]


def instances(node: Node, side: str, fields: Any, place: Place = ()) -> Iterator[tuple[Place, Piece, Fields]]:
    """Each piece of an object, at the place named as version ``one`` names it, with the fields that it owns."""
    if not isinstance(fields, dict):
        return
    for piece in node.pieces:
        names = piece.one if side == "one" else piece.two
        yield place, piece, {name: fields[name] for name in names if name in fields}
    for kind, one, two, inner in node.below:
        value = fields.get(one if side == "one" else two)
        for step, item in _items(kind, value):
            yield from instances(inner, side, item, (*place, (one, step)))


def _items(kind: str, value: Any) -> Iterator[tuple[str, Any]]:
    if kind == "map" and isinstance(value, dict):
        yield from value.items()
    elif kind == "list" and isinstance(value, list):
        yield from ((item.get("key"), item) for item in value)
    elif kind in ("object", "quiet") and isinstance(value, dict):
        yield "", value


def crd(node: Node, storage: str = "two", kind: str = KIND) -> dict[str, Any]:
    """The CRD document; the whole of the random schema stands under ``spec``."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"plural": PLURAL, "singular": "thing", "kind": kind, "listKind": f"{kind}List"},
            "versions": [_version(node, name, storage) for name in ("one", "two")],
        },
    }


def _version(node: Node, name: str, storage: str) -> dict[str, Any]:
    properties = {"spec": schema(node, name)}
    root = {"type": "object", "properties": properties}
    return {"name": name, "served": True, "storage": name == storage, "schema": {"openAPIV3Schema": root}}


def function(node: Node, side: str, to: str = "") -> Convert:
    """What an operator's author would have written: a whole object from version ``side`` to the other."""
    other = to or ("two" if side == "one" else "one")

    def converter(document: Fields) -> Fields:
        converted = {**document, "apiVersion": f"{GROUP}/{other}"}
        converted.pop("spec", None)
        if "spec" in document:
            converted["spec"] = convert(node, side, document["spec"])
        return converted

    return converter


# The pieces: each a way in which real converters lose; more of them in kinds.py.


def rename(n: str, kind: Mapping[str, Any], other: Mapping[str, Any]) -> Piece:
    """The same value under another name; the versions may disagree on its default and on null."""
    return Piece(
        kind="rename",
        one={n: kind},
        two={f"{n}Two": other},
        to_two=lambda f: {f"{n}Two": f[n]} if n in f else {},
        to_one=lambda f: {n: f[f"{n}Two"]} if f"{n}Two" in f else {},
    )


def dropped(n: str, kind: Mapping[str, Any], other: Mapping[str, Any]) -> Piece:
    """A field that each version has and the other has not."""
    return Piece(
        kind="dropped", one={f"{n}Old": kind}, two={f"{n}New": other}, to_two=lambda f: {}, to_one=lambda f: {}
    )


def bucket(n: str) -> Piece:
    """Many numbers, two words: replicas and size."""
    return Piece(
        kind="bucket",
        one={n: {"type": "integer"}},
        two={n: {"type": "string", "enum": ["small", "large"]}},
        to_two=lambda f: {n: "small" if f[n] < 5 else "large"} if is_whole(f.get(n)) else {},
        to_one=lambda f: {n: 1 if f[n] == "small" else 10} if is_text(f.get(n)) else {},
    )


def template(n: str) -> Piece:
    """One string with two values in it, spelled in many ways; what cannot be parsed is let go."""

    def parse(fields: Fields) -> Fields:
        found = re.fullmatch(r"\s*x=([^,]*),\s*y=([^,]*?)\s*", fields[n]) if is_text(fields.get(n)) else None
        return {n: {"x": found[1], "y": found[2]}} if found else {}

    def write(fields: Fields) -> Fields:
        inner = fields.get(n)
        parts = [inner.get("x", ""), inner.get("y", "")] if isinstance(inner, dict) else []
        return {n: f"x={parts[0]},y={parts[1]}"} if parts and all(map(is_text, parts)) else {}

    inner = {
        "type": "object",
        "properties": {"x": {"type": "string"}, "y": {"type": "string"}, "z": {"type": "integer"}},
    }
    spelled = {"type": "string", "enum": ["x=1,y=2", " x=1, y=2 ", "x=,y=", "y=2,x=1", "", "x=1,y=2,z=3"]}
    return Piece(kind="template", one={n: spelled}, two={n: inner}, to_two=parse, to_one=write)


def clamp(n: str) -> Piece:
    """A number that the other version bounds."""
    return Piece(
        kind="clamp",
        one={n: {"type": "integer", "minimum": -1000, "maximum": 1000}},
        two={n: {"type": "integer", "minimum": 0, "maximum": 100}},
        to_two=lambda f: {n: min(max(f[n], 0), 100)} if is_whole(f.get(n)) else {},
        to_one=lambda f: {n: f[n]} if is_whole(f.get(n)) else {},
    )


def cast(n: str) -> Piece:
    """A number as a string; the strings that are no plain number are let go."""
    return Piece(
        kind="cast",
        one={n: {"type": "integer"}},
        two={n: {"type": "string"}},
        to_two=lambda f: {n: str(f[n])} if is_whole(f.get(n)) else {},
        to_one=lambda f: {n: int(f[n])} if is_text(f.get(n)) and re.fullmatch(r"0*[0-9]{1,18}", f[n], re.ASCII) else {},
    )


def scaled(n: str) -> Piece:
    """Thousandths against units, as floats: 1500 <-> 1.5; large integers lose their last digits."""
    return Piece(
        kind="scaled",
        one={n: {"type": "integer"}},
        two={n: {"type": "number"}},
        to_two=lambda f: {n: f[n] / 1000} if is_whole(f.get(n)) else {},
        to_one=lambda f: {n: round(f[n] * 1000)} if isinstance(f.get(n), (int, float)) and abs(f[n]) < 9e15 else {},
    )


def first(n: str, list_type: str) -> Piece:
    """A list against its first item."""
    many = {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": list_type}
    return Piece(
        kind=f"first of {list_type}",
        one={n: many},
        two={n: {"type": "string"}},
        to_two=lambda f: {n: f[n][0]} if isinstance(f.get(n), list) and f[n] and is_text(f[n][0]) else {},
        to_one=lambda f: {n: [f[n]]} if is_text(f.get(n)) else {},
    )


def listed(n: str) -> Piece:
    """A keyed list against a map; the order of the list and the fields that the map has not are lost."""
    item = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "value": {"type": "integer"},
            "old": {"type": "boolean"},
        },
    }
    keyed = {"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    slim = {"type": "object", "properties": {"value": {"type": "integer"}, "new": {"type": "string"}}}

    def to_map(fields: Fields) -> Fields:
        items = fields.get(n)
        if not isinstance(items, list):
            return {}
        named = [one for one in items if isinstance(one, dict) and is_text(one.get("name"))]
        return {n: {one["name"]: {"value": one["value"]} if "value" in one else {} for one in named}}

    def to_list(fields: Fields) -> Fields:
        mapped = fields.get(n)
        if not isinstance(mapped, dict):
            return {}
        pairs = [(name, one if isinstance(one, dict) else {}) for name, one in sorted(mapped.items())]
        return {n: [{"name": name} | ({"value": one["value"]} if "value" in one else {}) for name, one in pairs]}

    two = {"type": "object", "additionalProperties": slim}
    items = (lambda f: {i["name"]: i for i in f.get(n, ()) if "name" in i}, lambda f: f.get(n, {}))
    return Piece(kind="listed", one={n: keyed}, two={n: two}, to_two=to_map, to_one=to_list, items=items)


def lowered(n: str) -> Piece:
    """Spelling that one version does not keep."""
    return Piece(
        kind="lowered",
        one={n: {"type": "string"}},
        two={n: {"type": "string"}},
        to_two=lambda f: {n: f[n].lower()} if is_text(f.get(n)) else {},
        to_one=lambda f: {n: f[n].lower()} if is_text(f.get(n)) else {},
    )


def filled(n: str) -> Piece:
    """A converter that says aloud what one version leaves unsaid."""
    return Piece(
        kind="filled",
        one={n: {"type": "string"}},
        two={n: {"type": "string"}},
        to_two=lambda f: {n: f.get(n, "unset")},
        to_one=lambda f: {} if f.get(n, "unset") == "unset" else {n: f[n]},
    )


def unemptied(n: str, kind: Mapping[str, Any]) -> Piece:
    """Empty lists and maps that a converter takes for nothing."""
    return Piece(
        kind="unemptied",
        one={n: kind},
        two={n: kind},
        to_two=lambda f: {n: f[n]} if f.get(n) else {},
        to_one=lambda f: {n: f[n]} if f.get(n) else {},
    )


def trimmed(n: str, list_type: str) -> Piece:
    """Lists in another order, or a struct of which one member is lost."""
    many = {"type": "array", "items": {"type": "integer"}, "x-kubernetes-list-type": list_type}
    inner = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}}
    if list_type == "atomic":
        inner = {**inner, "x-kubernetes-map-type": "atomic"}
    fields = {n: many, f"{n}Struct": inner}

    def cut(given: Fields) -> Fields:
        kept: Fields = {}
        if isinstance(given.get(n), list):
            kept[n] = sorted(given[n], key=repr)
        if isinstance(given.get(f"{n}Struct"), dict):
            kept[f"{n}Struct"] = {name: value for name, value in given[f"{n}Struct"].items() if name == "a"}
        return kept

    return Piece(kind=f"trimmed {list_type}", one=fields, two=fields, to_two=cut, to_one=cut)


def crossed(n: str) -> Piece:
    """Every field depends on every other, and nothing comes back as it was: the enemy."""

    def mix(salt: int) -> Convert:
        def mixed(fields: Fields) -> Fields:
            seen = repr(sorted(fields.items()))
            code = sum((index + salt) * ord(letter) for index, letter in enumerate(seen))
            found: Fields = {}
            if code % 3:
                found[n] = code % 7
            if code % 5 > 1:
                found[f"{n}Word"] = ("a", "b", fields.get(f"{n}Word", "c"))[code % 3]
            return found

        return mixed

    fields = {n: {"type": "integer"}, f"{n}Word": {"type": "string"}}
    return Piece(kind="crossed", one=fields, two=fields, to_two=mix(1), to_one=mix(2))


KINDS: tuple[Mapping[str, Any], ...] = (
    {"type": "string"},
    {"type": "string", "nullable": True},
    {"type": "string", "default": "d"},
    {"type": "integer"},
    {"type": "integer", "default": 3},
    {"type": "number"},
    {"type": "boolean", "default": True},
    {"x-kubernetes-int-or-string": True},
    {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    {"type": "object", "additionalProperties": {"type": "string"}},
    {"type": "object", "additionalProperties": {"type": "integer"}, "default": {"a": 1}},
    {"type": "object", "properties": {"p": {"type": "integer"}, "q": {"type": "string", "default": "q"}}},
    {"type": "object", "properties": {"p": {"type": "integer"}}, "x-kubernetes-map-type": "atomic"},
    {"type": "array", "items": {"type": "string"}},
    {"type": "array", "items": {"type": "integer"}, "x-kubernetes-list-type": "set"},
    {"type": "array", "items": {"type": "object", "properties": {"p": {"type": "integer"}, "q": {"type": "string"}}}},
)
"""What a field may be; the pairs of ``rename`` differ only in default and null, or the API server would not agree."""


def _twin(kind: Mapping[str, Any]) -> st.SearchStrategy[Mapping[str, Any]]:
    without = {name: value for name, value in kind.items() if name not in ("default", "nullable")}
    return st.sampled_from([kind, without, {**without, "nullable": True}])


def pieces(n: str) -> st.SearchStrategy[Piece]:
    fields = st.sampled_from(KINDS)
    return st.one_of(
        fields.flatmap(lambda kind: st.builds(rename, st.just(n), st.just(kind), _twin(kind))),
        st.builds(dropped, st.just(n), fields, fields),
        st.sampled_from([bucket(n), template(n), clamp(n), cast(n), scaled(n), listed(n), lowered(n), filled(n)]),
        st.sampled_from([first(n, "atomic"), first(n, "set"), trimmed(n, "atomic"), trimmed(n, "set"), crossed(n)]),
        st.builds(unemptied, st.just(n), st.sampled_from([kind for kind in KINDS if "default" not in kind])),
        st.sampled_from(kinds.ALL).map(lambda made: made(n)),
        st.sampled_from(kinds.ALL).map(lambda made: made(n)),
    )


@st.composite
def nodes(draw: st.DrawFn, depth: int = 2, prefix: str = "f") -> Node:
    """A container of one to three pieces and, down to ``depth``, up to two containers."""
    count = draw(st.integers(1, 3))
    own = tuple(draw(pieces(f"{prefix}{index}")) for index in range(count))
    below = []
    for index in range(draw(st.integers(0, 2)) if depth else 0):
        kind = draw(st.sampled_from(("object", "quiet", "list", "map")))
        name = f"{prefix}{'xyz'[index]}"
        other = name if draw(st.booleans()) else f"{name}Two"
        below.append((kind, name, other, draw(nodes(depth=depth - 1, prefix=f"{name}_"))))
    return Node(pieces=own, below=tuple(below))
