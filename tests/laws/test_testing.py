"""What instar.testing draws is what it promises: the model of the API server judges it."""

from __future__ import annotations

import copy

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.laws import lossy, model

from instar.model import crd as crd_model
from instar.testing import edits, objects

SLOW = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
RICH = {
    "type": "object",
    "required": ["count"],
    "properties": {
        "count": {"type": "integer", "minimum": 1, "maximum": 9, "exclusiveMaximum": True},
        "small": {"type": "integer", "format": "int32"},
        "ratio": {"type": "number", "minimum": 0, "maximum": 1},
        "step": {"type": "number", "multipleOf": 0.5, "minimum": -3},
        "phase": {"type": "string", "enum": ["", "Ready"]},
        "cpu": {"type": "string", "pattern": "^[0-9]+m?$", "maxLength": 6},
        "name": {"type": "string", "minLength": 2, "maxLength": 4},
        "when": {"type": "string", "format": "date-time"},
        "note": {"type": "string", "nullable": True},
        "port": {"x-kubernetes-int-or-string": True},
        "tags": {
            "type": "array",
            "items": {"type": "string"},
            "x-kubernetes-list-type": "set",
            "minItems": 1,
            "maxItems": 3,
        },
        "free": {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2},
        "raw": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "properties": {"a": {"type": "string"}},
        },
        "items": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["host", "port"],
            "items": {
                "type": "object",
                "required": ["host"],
                "properties": {
                    "host": {"type": "string"},
                    "port": {"type": "integer", "default": 80},
                    "on": {"type": "boolean"},
                },
            },
        },
    },
}
ROOT = {"type": "object", "properties": {"spec": RICH}, "required": ["spec"]}


@SLOW
@given(objects.values(ROOT))
def test_values_keep_to_their_schema(value: dict) -> None:
    """Every value drawn is valid, and is stored as it was drawn (no 1.0, no -0, nothing to prune)."""
    assert list(model.problems(ROOT, value)) == []
    assert model.same(model.pruned(ROOT, value), value)


@SLOW
@given(objects.values(ROOT, nulls=True))
def test_with_nulls_only_null_is_wrong(value: dict) -> None:
    """With ``nulls`` the only thing that the API server has to mend is null."""
    assert all(": null" in line for line in model.problems(ROOT, value)) or value is None


@SLOW
@given(st.data())
def test_edits_keep_to_their_schema(data: st.DataObject) -> None:
    """An edited object is still valid, the original is not touched, and an edit is applied where it says."""
    value = data.draw(objects.values(ROOT))
    before = copy.deepcopy(value)
    made = data.draw(edits.several(value, ROOT))
    edited = edits.apply_all(value, made)
    assert list(model.problems(ROOT, edited)) == []
    assert model.same(value, before)
    assert made


@SLOW
@given(st.data())
def test_fragments_are_part_of_their_object(data: st.DataObject) -> None:
    """Every leaf of a fragment is a leaf of the object, and keyed items keep their keys."""
    value = data.draw(objects.values(ROOT))
    part = data.draw(
        objects.fragments({"apiVersion": "g/v", "kind": "K", "metadata": {"name": "n", "uid": "u"}} | value, ROOT)
    )
    assert part["metadata"] == {"name": "n"}
    assert all(
        item["host"] in {one["host"] for one in value["spec"]["items"]}
        for item in part.get("spec", {}).get("items", ())
    )
    for name, below in part.get("spec", {}).items():
        if name not in ("items", "raw", "free"):
            assert model.same(below, value["spec"][name])


@SLOW
@given(st.data())
def test_every_random_conversion_is_total(data: st.DataObject) -> None:
    """The random converters themselves never raise, and what they give is their own schema's after pruning."""
    node = data.draw(lossy.nodes())
    crd = crd_model.parse(lossy.crd(node))
    for side in ("one", "two"):
        document = data.draw(objects.custom_resources(crd, side))
        schema = crd_model.version(crd, side).schema
        assert list(model.problems(schema, model.settle(schema, document))) == []
        lossy.function(node, side)(model.wire(document))
