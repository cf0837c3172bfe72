"""The stored format of entries, byte by byte, and what is refused in it."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from instar import errors
from instar.conversion import entries
from instar.conversion.entries import Digest, Entry, Items
from instar.conversion.leaves import ABSENT

WRITTEN = [
    (Entry("/spec/gpus", 4), '["Tenant","/spec/gpus",[4]]'),
    (Entry("/spec/gpus", None), '["Tenant","/spec/gpus",[null]]'),
    (Entry("/spec/quota", "a", "b"), '["Tenant","/spec/quota",["a"],["b"]]'),
    (Entry("/spec/quota", "a", None), '["Tenant","/spec/quota",["a"],[null]]'),
    (Entry("/spec/tier", ABSENT, "bronze"), '["Tenant","/spec/tier",[],["bronze"]]'),
    (Entry("/spec/o[name=b]/role", "x", ABSENT, 1), '["Tenant","/spec/o[name=b]/role",["x"],1]'),
    (Entry("/spec/n", 1e21, Digest("0" * 32)), f'["Tenant","/spec/n",[1e+21],"{"0" * 32}"]'),
    (Entry("/spec/a", 1, 2, 0, "f" * 32), f'["Tenant","/spec/a",[1],[2],"{"f" * 32}"]'),
    (Entry("/spec/l", [1, 2], Items(("a" * 16, "b" * 16))), f'[2,"Tenant","/spec/l",[[1,2]],"{"a" * 16},{"b" * 16}"]'),
    (
        Entry("/spec/l", [1], Items(("a" * 16,)), 0, "f" * 32),
        f'[2,"Tenant","/spec/l",[[1]],"{"a" * 16}","{"f" * 32}"]',
    ),
    (Entry("/spec/a", 1, ABSENT, 0, "f" * 32), f'["Tenant","/spec/a",[1],0,"{"f" * 32}"]'),
]


def tail(where: str) -> str:
    return hashlib.sha256(where.encode()).hexdigest()[:16]


@pytest.mark.parametrize(("entry", "text"), WRITTEN)
def test_the_format(entry: Entry, text: str) -> None:
    """This is what stands in etcd, for years."""
    assert entries.write(entry, "Tenant") == text
    assert entries.read(text, tail(entry.path), "Tenant") == entry


def test_keys_and_views() -> None:
    """By hand: sha256sum of the path, and of the canonical object without metadata beside its entries."""
    assert entries.prefix("platform.acme.io") + entries.key("v1", "/spec/resources/replicas") == (
        "carried.platform.acme.io/v1.c7689d5969f27caa"
    )
    obj = {"kind": "Widget", "metadata": {"x": 1}, "spec": {"size": "small"}, "apiVersion": "platform.acme.io/v1alpha1"}
    assert entries.view(obj, {"c7689d5969f27caa": "[]"}) == "1c5775bd0d7149178c5ae66d12f6031d"


def test_long_bases_are_digests() -> None:
    """64 bytes of JSON are written out, 65 are not."""
    assert entries.shortened("x" * 62) == "x" * 62
    assert entries.shortened("x" * 63) == Digest(hashlib.sha256(b'"' + b"x" * 63 + b'"').hexdigest()[:32])
    assert entries.shortened(ABSENT) is ABSENT


def test_bases_of_lists() -> None:
    """By hand: of a list as long as the value each item has 16 hex of sha256; else the list has one digest."""
    long = ["x" * 40, "y" * 40]
    first, second = (hashlib.sha256(f'"{letter * 40}"'.encode()).hexdigest()[:16] for letter in "xy")
    assert entries.itemised([1, 2], long) == Items((first, second))
    assert entries.itemised([1, 2], ["x", "y"]) == ["x", "y"]
    assert isinstance(entries.itemised([1], long), Digest)


PATH = "/spec/a"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (5, "not text"),
        ("", "not JSON"),
        ("[1e999]", "not JSON"),
        ("[" * 3000, "not JSON|nested"),
        ("{}", "not a list"),
        ("[]", "not a list"),
        ('["Tenant"]', "not an entry"),
        ('["Tenant","/spec/a",[1],[2],"x","y"]', "not an entry"),
        ('["Widget","/spec/a",[1]]', "of another kind"),
        ('[null,"/spec/a",[1]]', "of another kind"),
        ('["Tenant","/spec/b",[1]]', "its path does not hash to its key"),
        ('["Tenant",7,[1]]', "its path does not hash to its key"),
        ('["Tenant","/spec/a",1]', "not a value"),
        ('["Tenant","/spec/a",[1,2]]', "not a value"),
        ('["Tenant","/spec/a",{"new":1}]', "not a value"),
        ('["Tenant","/spec/a",[]]', "neither value nor base"),
        ('["Tenant","/spec/a",[1],[]]', "not a base"),
        ('["Tenant","/spec/a",[1],-1]', "not a base"),
        ('["Tenant","/spec/a",[1],true]', "not a base"),
        ('["Tenant","/spec/a",[1],"abc"]', "not a base"),
        ('["Tenant","/spec/a",[1],[1],"abc"]', "not a group"),
        ('[1,"Tenant","/spec/a",[1]]', "not an entry"),
        ('[2,"Widget","/spec/a",[1]]', "not an entry"),
        ('[2,"Tenant","/spec/b",[1]]', "its path does not hash to its key"),
        ("[2]", "not an entry"),
        ('[2,"Tenant","/spec/a",[[1]]]', "not a base"),
        ('[2,"Tenant","/spec/a",[[1]],[1]]', "not a base"),
        ('[2,"Tenant","/spec/a",[[1]],"ABCDEF0123456789"]', "not a base"),
        ('[2,"Tenant","/spec/a",[[1]],"0123456789abcdef,0123456789abcdef"]', "no list as long as its value"),
        ('[2,"Tenant","/spec/a",[7],"0123456789abcdef"]', "no list as long as its value"),
    ],
)
def test_malformed(text: Any, reason: str) -> None:
    """Anything that is not exactly an entry is dropped with a reason."""
    with pytest.raises(entries.Malformed, match=reason):
        entries.read(text, tail(PATH), "Tenant")


@pytest.mark.parametrize("where", ["spec", "/spec/a[", "/a[b=01]"])
def test_a_path_has_one_spelling(where: str) -> None:
    """A text that is no canonical path is malformed, though it hashes to its key."""
    with pytest.raises(entries.Malformed, match="not a path"):
        entries.read(f'["Tenant","{where}",[1]]', tail(where), "Tenant")


def test_a_later_format_is_an_error() -> None:
    """What a later release wrote is never dropped silently."""
    with pytest.raises(errors.ConversionError, match="format 3, and this release reads 2"):
        entries.read('[3,"Tenant","/spec/a",{"any":"thing"},7]', tail(PATH), "Tenant")
