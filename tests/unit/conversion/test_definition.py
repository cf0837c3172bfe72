"""A conversion checks itself, and names the exact place."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.unit.conversion import subject

import instar.conversion as conversion


def same(obj: dict[str, Any]) -> dict[str, Any]:
    return obj


async def later(obj: dict[str, Any]) -> dict[str, Any]:
    return obj


def spoke(version: str, to_hub: Any = same, from_hub: Any = same) -> conversion.Spoke:
    return conversion.Spoke(version=version, to_hub=to_hub, from_hub=from_hub)


def define(**changes: Any) -> conversion.Conversion:
    fields: dict[str, Any] = {"group": "acme.io", "kind": "Thing", "hub": "new", "spokes": (spoke("old"),), **changes}
    return conversion.Conversion(**fields)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"spokes": (spoke("old", to_hub=None),)}, r"spokes\[0\].to_hub: the direction of old is missing: None"),
        (
            {"spokes": (conversion.Spoke(version="old", to_hub=same),)},
            r"\[0\].from_hub: the direction of old is missing",
        ),
        ({"spokes": (spoke("old", to_hub=later),)}, r"spokes\[0\].to_hub: is async"),
        ({"spokes": None}, "spokes: is empty"),
        ({"group": None}, "group: None is no DNS name"),
        ({"spokes": (spoke("old", from_hub=3),)}, r"spokes\[0\].from_hub: the direction of old is missing: 3"),
        ({"spokes": (spoke("old"), spoke("old"))}, r"spokes\[1\].version: old is there twice"),
        ({"spokes": (spoke("old"), spoke("new"))}, r"spokes\[1\].version: new is the hub; the hub is no spoke"),
        ({"spokes": ()}, "spokes: is empty"),
        ({"spokes": ("old",)}, r"spokes\[0\]: is a str, not a Spoke"),
        ({"spokes": (spoke("v" * 47),)}, r"spokes\[0\].version: 'v+' has 47 characters, more than 46"),
        ({"hub": "v" * 47, "spokes": (spoke("old"),)}, "hub: 'v+' has 47 characters"),
        ({"hub": "V1"}, "hub: 'V1' is no name of a version"),
        ({"kind": ""}, "kind: is empty"),
        ({"group": "Acme"}, "group: 'Acme' is no DNS name"),
        ({"domain": "a_b"}, "domain: 'a_b' is no DNS name"),
        ({"domain": "x." * 123 + "io"}, "domain: .* at most 245 characters"),
        (
            {"groups": (conversion.Group(version="v9", paths=("/spec/a", "/spec/b")),)},
            r"groups\[0\].version: 'v9' is no version of this conversion \(new, old\)",
        ),
        ({"groups": (conversion.Group(version="new", paths=("/spec/a",)),)}, r"groups\[0\].paths: .* at least two"),
        (
            {"sensitive": (conversion.Sensitive(version="new", path="spec.a"),)},
            r"sensitive\[0\]: 'spec.a' is no pattern",
        ),
        (
            {"sensitive": (conversion.Sensitive(version="new", path="/metadata/labels/a"),)},
            r"sensitive\[0\]: '/metadata/labels/a': .* never in its metadata",
        ),
        (
            {"normalised": (conversion.Normalised(version="new", path="/spec/a", by="x"),)},
            r"normalised\[0\].by: 'x' is no function",
        ),
        (
            {"droppable": (conversion.Droppable(version="new", path="/spec/a", reason="", expires=""),)},
            r"droppable\[0\]: a droppable leaf needs a reason",
        ),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], words: str) -> None:
    """DefinitionError: the conversion, the place, the value, what to do."""
    with pytest.raises(conversion.DefinitionError, match="^conversion of .*" + words):
        define(**changes)


def test_the_longest_version_is_served() -> None:
    """46 characters fill the name of an annotation key to its last of 63."""
    version = "v" * 46
    bound = conversion.bind(
        define(spokes=(spoke(version, from_hub=lambda obj: {**obj, "spec": {}}),), hub="v" * 45 + "a"),
        subject.crd({version: PLAIN, "v" * 45 + "a": PLAIN}),
    )
    there = bound.convert(subject.thing("v" * 45 + "a", {"a": 1}), version)
    assert {len(key.partition("/")[2]) for key in subject.notes(there)} == {63, 46 + len(".view")}


PLAIN = {"type": "object", "properties": {"a": {"type": "integer"}}}


def test_a_conversion_is_a_value() -> None:
    """Frozen, and the domain is the group's unless it is said."""
    whole = define()
    assert whole.domain == "acme.io"
    assert whole.versions == ("new", "old")
    with pytest.raises(dataclasses.FrozenInstanceError):
        whole.hub = "x"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("crd", "words"),
    [
        (subject.crd({"old": PLAIN, "new": PLAIN, "v3": PLAIN}), "version v3 of the CRD things.acme.io has no spoke"),
        (subject.crd({"new": PLAIN, "v3": PLAIN}), "has no spoke; version old is not in spec.versions"),
        (
            subject.crd({"old": PLAIN, "new": PLAIN}, stored=("old", "v0")),
            "version v0 is in status.storedVersions of the CRD things.acme.io and has no spoke",
        ),
        (subject.crd({"old": PLAIN, "new": PLAIN}, kind="Other"), "the CRD things.acme.io is Other.acme.io"),
    ],
)
def test_bind_covers_every_version(crd: Any, words: str) -> None:
    """Each version of spec.versions and of status.storedVersions is one of the conversion's."""
    with pytest.raises(conversion.DefinitionError, match=words):
        conversion.bind(define(), crd)


@pytest.mark.parametrize("pattern", ["/spec/zzz", "/spec/a/b", "/spec[]", "/spec/*"])
def test_bind_knows_declared_paths(pattern: str) -> None:
    """A declared leaf that the schema does not have is a mistake in the declaration."""
    whole = define(sensitive=(conversion.Sensitive(version="new", path=pattern),))
    with pytest.raises(conversion.DefinitionError, match="version new has no such field"):
        conversion.bind(whole, subject.crd({"old": PLAIN, "new": PLAIN}))


def test_public_names() -> None:
    """What __all__ names is there and has a docstring; nothing else is public."""
    for name in conversion.__all__:
        assert getattr(conversion, name).__doc__ or name == "Converter"
    assert sorted(conversion.__all__) == list(conversion.__all__)
