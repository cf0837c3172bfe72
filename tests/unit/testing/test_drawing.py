"""What is drawn is what the schema allows, the same for the same seed, and reaches every place."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
import yaml
from tests.unit.conversion import subject

from instar.model import crd as crd_model
from instar.model import gojson
from instar.schema import structural, validation
from instar.testing import cases, changing, making, parting, places, spanning, spoiling, texts

EXAMPLES = ("tenant", "widget", "mcpserver")


def roots(name: str) -> list[structural.Node]:
    crd = crd_model.parse(yaml.safe_load((subject.ROOT / "examples" / name / "crd.yaml").read_text()))
    return [structural.compile_schema(version.schema) for version in crd.versions]


def bodies(root: structural.Node, seed: int, number: int = 60) -> list[dict[str, Any]]:
    chance = random.Random(seed)
    return [making.Maker(chance=chance, density=chance.choice((0.2, 0.6, 1.0))).body(root) for _ in range(number)]


@pytest.mark.parametrize("name", EXAMPLES)
def test_bodies_are_valid_and_the_same_for_a_seed(name: str) -> None:
    for root in roots(name):
        drawn = bodies(root, 1)
        assert [validation.problem(body, root) for body in drawn if validation.problem(body, root)] == []
        assert gojson.encode(drawn) == gojson.encode(bodies(root, 1)) != gojson.encode(bodies(root, 2))


@pytest.mark.parametrize("name", EXAMPLES)
def test_spanning_bodies_have_every_leaf_alone_and_every_enum_value(name: str) -> None:
    """Chance may miss a leaf; these do not."""
    for root in roots(name):
        met = [dict(places.found(body, root)) for body in spanning.bodies(root, {})]
        for place in places.places(root):
            with_it = [body for body in met if place.pattern in body]
            assert with_it, place.pattern
            for value in place.node.raw.get("enum") or ():
                assert any(body[place.pattern] == value for body in with_it), (place.pattern, value)


PATTERNS = (
    r"^( *cpu *= *[0-9]{1,6}(\.[0-9]{1,3}|m)?)$",
    r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    r"^([0-9]+(\.[0-9]+)?(h|m|s|ms))+$",
    r"^(?:a|b{2,}|[^c-z])\d\w\s?.$",
    r"x",
)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_texts_match_their_pattern(pattern: str) -> None:
    drawn = {texts.matching(pattern, random.Random(seed)) for seed in range(30)}
    assert None not in drawn
    assert all(re.search(pattern, str(text)) for text in drawn)
    assert len(drawn) > 3 or pattern == "x"


@pytest.mark.parametrize("pattern", [r"\p{L}+", r"(?=a)b", r"(a)\1", "("])
def test_a_pattern_that_cannot_be_drawn_gives_nothing(pattern: str) -> None:
    assert texts.matching(pattern, random.Random(1)) is None


@pytest.mark.parametrize("name", EXAMPLES)
def test_changes_change_and_mostly_stay_valid(name: str) -> None:
    """A change is made where it says, and the schema allows most of them: else edits would prove nothing."""
    for root in roots(name):
        chance, made, valid = random.Random(3), 0, 0
        for body in bodies(root, 4):
            change = changing.draw(body, root, "v1", making.Maker(chance=chance))
            if change is not None:
                changed = cases.changed(body, change)
                assert changed is not None
                made += 1
                valid += validation.problem(changed, root) is None
        assert made > 40
        assert valid > 0.6 * made


def test_a_change_whose_place_is_gone_is_none() -> None:
    """A smaller object may have no place for a change: the case is dropped, not an error."""
    change = cases.Change(version="v1", path=("spec", "list", 3), value=1)
    assert cases.changed({"spec": {"list": [1]}}, change) is None
    assert cases.changed({"spec": 1}, change) is None
    gone = cases.Change(version="v1", path=("spec", "a"), value=cases.GONE)
    assert cases.changed({"spec": {"a": 1, "b": 2}}, gone) == {"spec": {"b": 2}}
    assert cases.changed({"spec": {}}, gone) is None


def test_a_part_is_part_and_keeps_the_keys_of_items() -> None:
    """Server-side apply's fragments: a name, some fields, items with their keys; keyless lists whole."""
    root = roots("tenant")[1]
    for seed, body in enumerate(bodies(root, 5)):
        whole = {"apiVersion": "g/v1", "kind": "K", "metadata": {"name": "n", "uid": "1", "labels": {}}, **body}
        part = parting.part(whole, root, seed)
        assert part["metadata"] == {"name": "n"}
        assert within(part["spec"], body["spec"]) if "spec" in part else True
        owners = part.get("spec", {}).get("owners", [])
        assert all("name" in owner for owner in owners)


def within(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return all(name in whole and within(value, whole[name]) for name, value in part.items())
    if isinstance(part, list):
        return all(any(within(item, other) for other in whole) for item in part)
    return bool(part == whole)


def test_the_part_of_a_smaller_object_is_its_share_of_the_same_part() -> None:
    """So that an object can be made smaller and its part with it."""
    root = roots("tenant")[1]
    whole = {"apiVersion": "g/v1", "kind": "K", "metadata": {"name": "n"}, **bodies(root, 6, 1)[0]}
    for salt in range(20):
        part = parting.part(whole, root, salt)
        for name in whole["spec"]:
            smaller = {**whole, "spec": {key: value for key, value in whole["spec"].items() if key != name}}
            expected = {key: value for key, value in part.get("spec", {}).items() if key != name}
            assert parting.part(smaller, root, salt).get("spec", {}) == expected


def test_spoilt_objects_differ_and_keep_their_head() -> None:
    root = roots("tenant")[1]
    for seed, body in enumerate(bodies(root, 7)):
        document = {"apiVersion": "g/v1", "kind": "K", "metadata": {"name": "n"}, **body}
        spoilt = spoiling.spoilt(document, random.Random(seed))
        assert {name: spoilt[name] for name in structural.META} == {name: document[name] for name in structural.META}
