"""A body that C proves to be settled is what the walk over it gives: one answer, nulls and oddities included."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws import lossy, model, subject

from instar.schema import settled, settling, structural
from instar.testing import objects


@pytest.mark.parametrize("defaults", [True, False])
@subject.many(150)
@given(st.data())
def test_a_proof_and_a_walk_agree(defaults: bool, data: st.DataObject) -> None:
    """Over random schemas, with nulls where the API server drops them."""
    schema = {"type": "object", "properties": {"spec": lossy.schema(data.draw(lossy.nodes(depth=1)), "two")}}
    body = data.draw(objects.values(schema, nulls=True)) or {}
    node = structural.compile_schema(schema)
    found = settled.settle(copy.deepcopy(body), node, defaults=defaults).value
    assert model.same(found, settling.settle(body, node, defaults=defaults))


@pytest.mark.parametrize("nullable", [True, False])
@pytest.mark.parametrize("defaults", [True, False])
def test_null_where_anything_else_may_stand(defaults: bool, nullable: bool) -> None:
    """A field of unknown fields takes any value, and null only if it is nullable."""
    free: dict[str, Any] = {"x-kubernetes-preserve-unknown-fields": True, "nullable": nullable}
    node = structural.compile_schema({"type": "object", "properties": {"free": free}})
    found = settled.settle({"free": None}, node, defaults=defaults).value
    assert found == ({"free": None} if nullable else {})
    odd = {"free": {"a": None, "b": [None, 1.5, 2**70]}}
    assert settled.settle(odd, node, defaults=defaults).value == settling.settle(odd, node, defaults=defaults)
