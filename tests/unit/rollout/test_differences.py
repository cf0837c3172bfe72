"""Which fields a trip through the other schema loses."""

from __future__ import annotations

from typing import Any

import pytest

from instar.rollout import differences

TEXT = {"type": "string"}


def nested(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


CASES: dict[str, tuple[Any, Any, tuple[str, ...]]] = {
    "equal": (nested(a=TEXT), nested(a=TEXT), ()),
    "descriptions and limits do not lose": (nested(a=TEXT), nested(a={**TEXT, "maxLength": 3, "description": "d"}), ()),
    "both ways": (nested(spec=nested(a=TEXT)), nested(spec=nested(b=TEXT)), ("spec.a", "spec.b")),
    "the parent stands for its children": (nested(spec=nested(a=TEXT)), nested(), ("spec",)),
    "type": (nested(a=TEXT), nested(a={"type": "integer"}), ("a",)),
    "int or string": (nested(a=TEXT), nested(a={"x-kubernetes-int-or-string": True}), ("a",)),
    "in a list": (
        nested(l={"type": "array", "items": nested(a=TEXT)}),
        nested(l={"type": "array", "items": nested()}),
        ("l[].a",),
    ),
    "in a map": (
        nested(m={"type": "object", "additionalProperties": nested(a=TEXT)}),
        nested(m={"type": "object", "additionalProperties": nested(b=TEXT)}),
        ("m{}.a", "m{}.b"),
    ),
    "map or struct": (
        nested(m={"type": "object", "additionalProperties": TEXT}),
        nested(m=nested(a=TEXT)),
        ("m",),
    ),
    "unknown fields are kept": (nested(a=TEXT), {"type": "object", "x-kubernetes-preserve-unknown-fields": True}, ()),
    "metadata and type are every object's": (nested(metadata={"type": "object"}, kind=TEXT), nested(), ()),
    "no schema at all": ({}, {}, ()),
}


@pytest.mark.parametrize("case", CASES)
def test_between(case: str) -> None:
    """Differences are found at their path, and are the same seen from either side."""
    one, other, expected = CASES[case]
    assert differences.between(one, other) == expected
    assert differences.between(other, one) == expected
