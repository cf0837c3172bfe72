"""A converter's next release: objects that the one release carried are read by the other, both ways.

A release changes how pieces convert: another spelling, another value for what is not there, another constant, a field
that is passed on from now on, or no longer. Both serve under one CRD, as during a rollout and a rollback. Nothing that
was carried is lost on objects not written since, and an edit wins under whichever release. What a piece gives is known
apart from the framework: what was carried is as it was, all else as the release that reads converts it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st
from tests.laws import lossy, model, subject
from tests.laws.piece import Convert, Fields, Piece

import instar.conversion as conversion
from instar.testing import edits

CHANGES = ("spelling", "default", "constant", "dropped", "added")
SIDES = pytest.mark.parametrize("side", ["one", "two"])
WAYS = pytest.mark.parametrize("way", ["upgrade", "rollback"])
Leaf = tuple[str, ...]


def released(piece: Piece, change: str) -> Piece:
    """The piece as the next release converts it, between the same fields; the piece itself where that cannot differ."""
    if change == "spelling":
        return _each(piece, lambda name, value, schema: value.swapcase() if plain(schema, "string") else value)
    if change == "constant":
        return _each(piece, lambda name, value, schema: 7 if plain(schema, "integer") and value == 1 else value)
    if change == "dropped":
        return dataclasses.replace(piece, to_two=lambda f: dict(list(piece.to_two(f).items())[1:]))
    if change == "default":
        absent = {name: "new" for name, schema in piece.two.items() if plain(schema, "string")}
        return dataclasses.replace(piece, to_two=lambda f: {**absent, **piece.to_two(f)})
    shared = [name for name in piece.one if name in piece.two and model.same(piece.one[name], piece.two[name])]
    return dataclasses.replace(
        piece,
        to_two=lambda f: {**piece.to_two(f), **{name: f[name] for name in shared if name in f}},
        to_one=lambda f: {**piece.to_one(f), **{name: f[name] for name in shared if name in f}},
    )


def plain(schema: Mapping[str, Any], kind: str) -> bool:
    return schema.get("type") == kind and not {"enum", "maxLength", "minimum", "maximum"} & schema.keys()


def _each(piece: Piece, change: Any) -> Piece:
    """Each field of version two changed where it is a value of its type."""
    kinds = {"string": str, "integer": int}

    def to_two(fields: Fields) -> Fields:
        return {
            name: change(name, value, piece.two[name])
            if type(value) is kinds.get(piece.two[name].get("type"))
            else value
            for name, value in piece.to_two(fields).items()
        }

    return dataclasses.replace(piece, to_two=to_two)


@st.composite
def next_release(draw: st.DrawFn, node: lossy.Node) -> tuple[lossy.Node, set[lossy.Place]]:
    """The node of the next release, and at which places of which pieces it converts otherwise."""
    pieces, changed = [], set()
    for piece in node.pieces:
        change = draw(st.sampled_from((*CHANGES, "")))
        pieces.append(released(piece, change) if change else piece)
        if change:
            changed.add(tuple(piece.one))
    below = []
    for kind, one, two, inner in node.below:
        following, within = draw(next_release(inner))
        below.append((kind, one, two, following))
        changed |= within
    return lossy.Node(pieces=tuple(pieces), below=tuple(below)), changed


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rollout:
    """An object, what the ``first`` release stored of it at the other version, and the ``other`` release."""

    first: subject.Subject
    other: subject.Subject
    nodes: tuple[lossy.Node, lossy.Node]
    changed: set[Any]
    before: Any
    stored: Any


def rollout(data: st.DataObject, side: str, way: str) -> Rollout:
    node = data.draw(lossy.nodes())
    following, changed = data.draw(next_release(node))
    nodes = (node, following) if way == "upgrade" else (following, node)
    first, other = map(subject.of_node, nodes)
    before = first.drawn(data, side)
    event("a changed piece" if changed else "nothing changed")
    stored = first.move(before, subject.other(first, side))
    return Rollout(first=first, other=other, nodes=nodes, changed=changed, before=before, stored=stored)


def pieces(node: lossy.Node, side: str, document: Any) -> Iterator[tuple[Any, Any]]:
    for place, piece, fields in lossy.instances(node, side, document.get("spec")):
        yield (place, tuple(piece.one), piece.kind), fields


def leaves(value: Any, path: Leaf = ()) -> dict[Leaf, Any]:
    """Values by path through objects; a list is one, and so is an empty object."""
    if not isinstance(value, dict) or (not value and path):
        return {path: value}
    return {where: leaf for name, inner in value.items() for where, leaf in leaves(inner, (*path, name)).items()}


@SIDES
@WAYS
@subject.many(60)
@given(st.data())
def test_nothing_is_lost_on_objects_not_written_since(way: str, side: str, data: st.DataObject) -> None:
    """What was carried is what it was; what was not is what the release that reads makes of it."""
    told = rollout(data, side, way)
    back, alone = told.other.move(told.stored, side), told.first.bare(told.stored, side)
    reads = dict(pieces(told.nodes[1], side, told.other.bare(told.stored, side)))
    came, by_first = dict(pieces(told.nodes[1], side, back)), dict(pieces(told.nodes[0], side, alone))
    for name, own in pieces(told.nodes[0], side, told.before):
        if name[1] not in told.changed:
            assert model.same(came.get(name), own), name
            continue
        mine, once, now, found = map(leaves, (own, by_first.get(name, {}), reads.get(name, {}), came.get(name, {})))
        for path in mine:
            carried = path not in once or not model.same(mine[path], once[path])
            wanted = mine[path] if carried else now.get(path)
            assert model.same(found.get(path), wanted), (name, path)


@SIDES
@WAYS
@subject.many(60)
@given(st.data())
def test_an_edit_wins_under_the_other_release(way: str, side: str, data: st.DataObject) -> None:
    """What a client writes where the other release serves is what it reads again; unchanged pieces lose nothing."""
    told = rollout(data, side, way)
    away = subject.version_of(told.stored)
    made = data.draw(edits.several(told.stored, told.other.schema(away)))
    changed = told.other.write(edits.apply_all(told.stored, made))
    assume(list(model.problems(told.other.schema(away), changed)) == [])
    after = told.other.move(changed, side)
    told.other.assert_same(told.other.move(after, away), changed)
    was, now = (dict(pieces(told.nodes[0], away, document)) for document in (told.stored, changed))
    own, left = (dict(pieces(told.nodes[0], side, document)) for document in (told.before, after))
    for name in was.keys() & now.keys() & own.keys():
        if name[1] not in told.changed and model.same(was[name], now[name]):
            assert model.same(own[name], left.get(name, {})), name


# Tenant, by hand: the next release spells the quota with a space, makes new owners editors, and passes the cost centre
# on to a field that v1 has from now on.

GROUP = "platform.acme.io"


def tenant_releases() -> tuple[subject.Subject, subject.Subject]:
    """The example's release, and the next one; both under the CRD of the next one."""
    example = subject.of_example("tenant")
    crd = with_cost_centre(example.crd)
    to_v1, from_v1 = example.functions["v1alpha1", "v1"], example.functions["v1", "v1alpha1"]

    def next_to_v1(tenant: Fields) -> Fields:
        cost = (tenant.get("spec") or {}).get("costCentre")
        tenant = to_v1(tenant)
        spec = tenant.get("spec") or {}
        for owner in spec.get("owners") or ():
            owner.setdefault("role", "editor")
        if cost is not None:
            spec["costCentre"] = cost
        return tenant

    def next_from_v1(tenant: Fields) -> Fields:
        cost = (tenant.get("spec") or {}).get("costCentre")
        tenant = from_v1(tenant)
        spec = tenant.get("spec") or {}
        if "quota" in spec:
            spec["quota"] = spec["quota"].replace(",", ", ")
        if cost is not None:
            spec["costCentre"] = cost
        return tenant

    return bound(crd, to_v1, from_v1), bound(crd, next_to_v1, next_from_v1)


def with_cost_centre(crd: Any) -> Any:
    schema = {version.name: version.schema for version in crd.versions}
    spec = schema["v1"]["properties"]["spec"]
    old = schema["v1alpha1"]["properties"]["spec"]["properties"]["costCentre"]
    fields = {**spec, "properties": {**spec["properties"], "costCentre": old}}
    new = {**schema["v1"], "properties": {**schema["v1"]["properties"], "spec": fields}}
    versions = tuple(
        dataclasses.replace(version, schema=new) if version.name == "v1" else version for version in crd.versions
    )
    return dataclasses.replace(crd, versions=versions)


def bound(crd: Any, to_v1: Convert, from_v1: Convert) -> subject.Subject:
    spoke = conversion.Spoke(version="v1alpha1", to_hub=to_v1, from_hub=from_v1)
    whole = conversion.Conversion(group=GROUP, kind="Tenant", hub="v1", spokes=(spoke,))
    functions = {("v1alpha1", "v1"): to_v1, ("v1", "v1alpha1"): from_v1}
    return subject.Subject(crd=crd, bound=conversion.bind(whole, crd), domain=GROUP, functions=functions)


def tenant(judged: subject.Subject, version: str, **spec: Any) -> Fields:
    document = {"apiVersion": f"{GROUP}/{version}", "kind": "Tenant", "metadata": {"name": "acme"}, "spec": spec}
    return judged.write(document)


OLD_SPEC = {"title": "Acme", "class": "standard", "quota": "mem=32Gi,cpu=8", "owners": ["zoe"], "costCentre": "0047"}
NEW_SPEC = {
    "displayName": "Acme",
    "tier": "dedicated",
    "suspended": True,
    "quota": {"cpu": "8", "memory": "32Gi", "storage": "1Ti"},
    "owners": [{"name": "zoe", "role": "admin", "email": "zoe@acme.io"}],
}


@WAYS
@pytest.mark.parametrize(("version", "spec"), [("v1alpha1", OLD_SPEC), ("v1", NEW_SPEC)])
def test_a_tenant_not_written_since(way: str, version: str, spec: Fields) -> None:
    """Spelling, cost centre, storage, role and email are what they were, whichever release carried them."""
    first, other = tenant_releases() if way == "upgrade" else reversed(tenant_releases())
    away = "v1" if version == "v1alpha1" else "v1alpha1"
    stored = first.move(tenant(first, version, **spec), away)
    assert other.move(stored, version)["spec"] == spec


def test_a_tenant_of_v1alpha1_edited_at_v1_after_the_upgrade() -> None:
    """The edit wins, and costs nothing: the cost centre and, as the amounts stand, their spelling are there."""
    first, other = tenant_releases()
    stored = first.move(tenant(first, "v1alpha1", **OLD_SPEC), "v1")
    stored["spec"]["displayName"] = "Acme Inc"
    assert other.move(stored, "v1alpha1")["spec"]["title"] == "Acme Inc"
    assert other.move(stored, "v1alpha1")["spec"]["costCentre"] == "0047"


def test_a_tenant_of_v1_edited_at_v1alpha1_after_the_upgrade() -> None:
    """The edit wins; what the next release would fill in otherwise (the role) was carried, and its base is gone."""
    first, other = tenant_releases()
    stored = first.move(tenant(first, "v1", **NEW_SPEC), "v1alpha1")
    stored["spec"]["title"] = "Acme Inc"
    assert other.move(stored, "v1")["spec"] == {
        **NEW_SPEC,
        "displayName": "Acme Inc",
        "owners": [{"name": "zoe", "role": "editor", "email": "zoe@acme.io"}],
    }
