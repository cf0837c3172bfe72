"""What strategy None may leave different between versions, and what it may not."""

from __future__ import annotations

import copy
import pathlib
from typing import Any

import pytest
import yaml

from instar.model import crd as crd_model
from instar.schema import identical

EXAMPLE = pathlib.Path(__file__).parents[3] / "examples/mcpserver/crd.yaml"


def changed(change: Any) -> tuple[identical.Difference, ...]:
    document = copy.deepcopy(yaml.safe_load(EXAMPLE.read_text()))
    first, second = document["spec"]["versions"]
    second["schema"] = copy.deepcopy(first["schema"])
    change(first["schema"]["openAPIV3Schema"]["properties"]["spec"])
    return identical.differences(crd_model.parse(document))


def test_the_example_has_one_schema() -> None:
    """A CRD with strategy None differs in the names of its versions only."""
    assert identical.differences(crd_model.parse(yaml.safe_load(EXAMPLE.read_text()))) == ()


def test_words_and_orders_decide_nothing() -> None:
    """Descriptions, titles, and the order of required fields and enum values are for people."""

    def change(spec: dict[str, Any]) -> None:
        spec["description"] = "What runs."
        spec["properties"]["transport"]["enum"].reverse()
        spec["properties"]["env"]["items"]["required"].reverse()

    assert changed(change) == ()


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (
            "args",
            {"type": "array"},
            'properties.spec.properties.args.items: {"type":"string"} at v1, nothing at v1beta1',
        ),
        ("title", {"type": "string"}, 'properties.spec.properties.title: nothing at v1, {"type":"string"} at v1beta1'),
        (
            "transport",
            {"type": "string", "default": "sse", "enum": ["stdio", "sse", "streamable-http"]},
            'properties.spec.properties.transport.default: "stdio" at v1, "sse" at v1beta1',
        ),
        (
            "image",
            {"type": "string", "minLength": True, "maxLength": 500},
            "properties.spec.properties.image.minLength: 1 at v1, true at v1beta1",
        ),
    ],
)
def test_what_decides_about_data_is_named(path: str, value: dict[str, Any], said: str) -> None:
    """A field more (even one named title), another default, another bound: each named with both sides."""
    found = [difference.message for difference in changed(lambda spec: spec["properties"].__setitem__(path, value))]
    assert said in found
