"""Conversions by random rules over random schemas: there and back is exact in both directions, for objects of either.

Each part of a schema is one kind of rule over fields of its own, with texts that the rule can read; the parts are
drawn, put together in one spec (some within items of a list or below an object), and bound. Objects come from the
schemas.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import hypothesis
from hypothesis import strategies
from tests.unit.conversion.rules import subject
from tests.unit.conversion.rules.subject import BOOLEAN, INTEGER, STRING, has, items, keys, one_of

import instar.conversion as conversion
from instar.conversion import bare, rules
from instar.schema import settling
from instar.testing import objects

Schema = Mapping[str, Any]
SMALL = {"type": "integer", "minimum": -1000, "maximum": 1000}
WORD = {"type": "string", "pattern": "^[a-z0-9]{1,5}$"}


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """Fields of either spec and the rules between them; ``#`` in names and paths is the part's number."""

    old: Mapping[str, Schema]
    new: Mapping[str, Schema]
    rules: tuple[rules.Rule, ...]


def at(of: type[rules.Rule], spoke: str = "/o#", hub: str = "/n#", **more: Any) -> rules.Rule:
    return of(spoke=spoke, hub=hub, **more)


def one(old: Schema, new: Schema, *found: rules.Rule) -> Part:
    return Part({"o#": old}, {"n#": new}, found)


LARGE_AND_SMALL = (
    rules.Pair(spoke="s", hub="small"),
    rules.Pair(spoke="l", hub="large"),
    rules.Pair(spoke="l", hub="xl"),
)
SPANS = {"type": "string", "pattern": "^[0-9]{1,3}(h|m|s|ms)$"}
AMOUNTS = {"type": "string", "pattern": "^[0-9]{1,3}(m|Ki|Mi|k|M)?$"}
PARTS = (
    one(STRING, STRING, at(rules.Move)),
    one(has(x=STRING, y=items(INTEGER)), has(x=STRING, y=items(INTEGER)), at(rules.Move)),
    one(STRING, has(x=STRING, y=STRING), at(rules.Move, hub="/n#/x"), rules.Only(hub="/n#/y")),
    Part({"s#": STRING}, {"s#": has(x=STRING)}, (at(rules.Move, "/s#", "/s#/x"),)),
    Part({"o#": STRING}, {}, (rules.Only(spoke="/o#"),)),
    Part({}, {"n#": STRING}, (rules.Only(hub="/n#", default="made"),)),
    one(one_of("s", "l"), one_of("small", "large", "xl"), at(rules.Map, values=LARGE_AND_SMALL)),
    one(BOOLEAN, one_of("On", "Off"), at(rules.Map, values={True: "On", False: "Off"})),
    one(STRING, items(STRING), at(rules.Single, hub="/n#[]")),
    one(items(has(x=STRING, y=STRING), "x"), has(x=STRING, y=STRING), at(rules.Single, spoke="/o#[]")),
    one(keys(SMALL), items(has(k=STRING, v=SMALL), "k"),
        at(rules.Keyed, "/o#/*", "/n#[]", key="k", rules=(rules.Move(spoke="", hub="/v"),))),
    one(items(has(k=STRING, v=STRING)), keys(has(v=STRING)), at(rules.Keyed, "/o#[]", "/n#/*", key="k")),
    one(items(has(x=STRING, z=SMALL)), items(has(y=STRING, z=SMALL)),
        at(rules.Each, "/o#[]", "/n#[]", rules=(rules.Move(spoke="/x", hub="/y"),))),
    one(items(STRING), items(has(x=STRING, y=STRING), "x"),
        at(rules.Each, "/o#[]", "/n#[]", rules=(rules.Move(spoke="", hub="/x"), rules.Only(hub="/y")))),
    one({"type": "string", "pattern": "^ ?a ?= ?[0-9]{1,3}( ?, ?b ?= ?[0-9]{1,3})?$"}, has(a=SMALL, b=WORD),
        at(rules.Template, hub={"a": "/n#/a", "b": "/n#/b"}, text="a={a},b={b}", separator=",")),
    one({"type": "string", "pattern": "^[a-z]{1,3}:[0-9]{1,3}$"}, has(a=WORD, b=SMALL),
        at(rules.Template, hub={"a": "/n#/a", "b": "/n#/b"}, text="{a}:{b}")),
    one({"type": "string", "pattern": "^-?[0-9]{1,4}$"}, INTEGER, at(rules.Type)),
    one({"x-kubernetes-int-or-string": True}, STRING, at(rules.Type)),
    one({"type": "number"}, {"type": "string", "pattern": "^-?[0-9]{1,4}(\\.[0-9]{1,3})?$"}, at(rules.Type)),
    one(AMOUNTS, SMALL, at(rules.Quantity, unit="Mi")),
    one(AMOUNTS, AMOUNTS, at(rules.Quantity)),
    one(SPANS, SMALL, at(rules.Duration, forms=rules.Pair(spoke="go", hub="seconds"))),
    one(SPANS, {"type": "string", "pattern": "^PT[0-9]{1,3}(H|M|S)$"},
        at(rules.Duration, forms=rules.Pair(spoke="go", hub="iso8601"))),
    one(SMALL, SMALL, at(rules.Scale, factor="1/60")),
)  # fmt: skip


def numbered(part: Part, number: int) -> Part:
    """The part with its number in the names of its fields and in its paths."""

    def text(value: str) -> str:
        return value.replace("#", str(number))

    def paths(side: Any) -> Any:
        return {name: text(path) for name, path in side.items()} if isinstance(side, dict) else side and text(side)

    made = (dataclasses.replace(rule, spoke=paths(rule.spoke), hub=paths(rule.hub)) for rule in part.rules)  # type: ignore[attr-defined,call-arg]
    return Part(
        {text(name): schema for name, schema in part.old.items()},
        {text(name): schema for name, schema in part.new.items()},
        tuple(made),
    )


def below(parts: Sequence[Part], start: str) -> tuple[rules.Rule, ...]:
    """The rules of parts whose fields are below a place that both versions have."""

    def paths(side: Any) -> Any:
        return {name: start + path for name, path in side.items()} if isinstance(side, dict) else side and start + side

    found = (rule for part in parts for rule in part.rules)
    return tuple(dataclasses.replace(rule, spoke=paths(rule.spoke), hub=paths(rule.hub)) for rule in found)  # type: ignore[attr-defined,call-arg]


def fields(parts: Sequence[Part], side: str) -> dict[str, Any]:
    return has(same=STRING, **{name: schema for part in parts for name, schema in getattr(part, side).items()})


@strategies.composite
def bounds(draw: strategies.DrawFn) -> conversion.Bound:
    """A conversion by rules over a schema drawn for it: parts in the spec, in an object and in items of it."""
    chosen = draw(strategies.lists(strategies.sampled_from(PARTS), min_size=1, max_size=5))
    parts = [numbered(part, number) for number, part in enumerate(chosen)]
    place = draw(
        strategies.sampled_from(["/spec", "/spec/deep/er", "/spec/list[]", "/spec/map/*", "/spec/list[]/map/*"])
    )
    found = below(parts, place)
    old, new = (wrapped(place, fields(parts, side)) for side in ("old", "new"))
    return conversion.bind(subject.define(*found), subject.crd(old, new))


def wrapped(place: str, schema: Schema) -> Any:
    """A spec that has the schema at the place."""
    steps = place.removeprefix("/spec").replace("[]", "/[]").split("/")[1:]
    for step in reversed(steps):
        schema = items(schema) if step == "[]" else keys(schema) if step == "*" else has(same=STRING, **{step: schema})
    return schema


@hypothesis.given(bound=bounds(), data=strategies.data())
def test_there_and_back_is_exact(bound: conversion.Bound, data: strategies.DataObject) -> None:
    """Whatever a rule cannot say is carried: spelling, order, the second item, what is absent."""
    version, other = data.draw(strategies.sampled_from([("old", "new"), ("new", "old")]))
    drawn = data.draw(objects.custom_resources(bound.crd, version))
    drawn["metadata"]["uid"] = "1"
    first = bound.convert(bound.convert(drawn, other), version)
    again = bound.convert(bound.convert(first, other), version)
    assert {**first, "metadata": None} == {**bound_at(bound, drawn, version), "metadata": None}
    assert again == first


@hypothesis.given(bound=bounds(), data=strategies.data())
def test_what_the_other_version_shows_stands(bound: conversion.Bound, data: strategies.DataObject) -> None:
    """Without anything carried: what the rules made of an object, taken back, becomes the same again.

    So a value that a rule writes is one that it reads as what it wrote it for, in either direction.
    """
    version, other = data.draw(strategies.sampled_from([("old", "new"), ("new", "old")]))
    hop = bound.hops[version, other]
    drawn = bound_at(bound, data.draw(objects.custom_resources(bound.crd, version)), version)
    body = {name: value for name, value in drawn.items() if name not in ("apiVersion", "kind", "metadata")}
    there = bare.convert(hop.forward, body, {})
    back = bare.convert(hop.reverse, there, {})
    assert bare.convert(hop.forward, back, {}) == there


def bound_at(bound: conversion.Bound, drawn: dict[str, Any], version: str) -> dict[str, Any]:
    """The object as the API server stores it at its own version."""
    body = {name: value for name, value in drawn.items() if name not in ("apiVersion", "kind", "metadata")}
    other = next(name for name in bound.versions if name != version)
    settled = settling.settle(body, bound.hops[version, other].source.node, defaults=True)
    return {"apiVersion": drawn["apiVersion"], "kind": drawn["kind"], **settled}
