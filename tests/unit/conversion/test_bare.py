"""The contract between the framework and a converter, and the one line that says who broke it."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
from tests.unit.conversion import subject

import instar.conversion as conversion

ANY = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
TENANT = subject.example("tenant")


def converting(function: Any) -> conversion.Bound:
    bound: conversion.Bound = subject.bound({"old": ANY, "new": ANY}, function, lambda obj: obj)
    return bound


def raises(error: BaseException) -> Any:
    def convert(obj: dict[str, Any]) -> dict[str, Any]:
        raise error

    return convert


def deep() -> Any:
    value: Any = {}
    for _ in range(2000):
        value = {"a": value}
    return value


def cycle() -> Any:
    value: dict[str, Any] = {}
    value["a"] = value
    return value


META = {"name": "x", "namespace": "default"}


@pytest.mark.parametrize(
    ("function", "words", "path"),
    [
        (raises(KeyError("quota")), r"KeyError: 'quota' \(convert, test_bare.py:\d+\)", ""),
        (raises(ValueError("cpu is empty")), r"cpu is empty \(convert, test_bare.py:\d+\)", ""),
        (raises(ValueError()), r"ValueError \(convert, test_bare.py:\d+\)", ""),
        (raises(TypeError()), r"TypeError \(convert, test_bare.py:\d+\)", ""),
        (
            raises(conversion.Unconvertible("spec.quota", "cpu=,mem=1Gi", "cpu is empty")),
            r'spec.quota: "cpu=,mem=1Gi": cpu is empty \(convert, test_bare.py:\d+\)',
            "/spec/quota",
        ),
        (lambda obj: None, r"<lambda>, test_bare.py:\d+ returned a NoneType, not an object", ""),
        (lambda obj: [obj], "returned a list, not an object", ""),
        (lambda obj: {**obj, "kind": "Other"}, "returned kind 'Other', not 'Thing'", "/kind"),
        (lambda obj: {**obj, "apiVersion": "acme.io/v9"}, "apiVersion 'acme.io/v9', not 'acme.io/new'", "/apiVersion"),
        (lambda obj: {"spec": {}}, "returned kind None", "/kind"),
        (lambda obj: {**obj, "metadata": {**META, "name": "y"}}, "metadata.name 'y', not 'x'", "/metadata/name"),
        (
            lambda obj: {**obj, "metadata": {"name": "x"}},
            "metadata.namespace None, not 'default'",
            "/metadata/namespace",
        ),
        (lambda obj: {**obj, "metadata": {**META, "uid": "u"}}, "metadata.uid 'u', not '1'", "/metadata/uid"),
        (lambda obj: {**obj, "metadata": None}, "returned no metadata", "/metadata"),
        (lambda obj: {**obj, "spec": {"a": [math.nan]}}, "nan is no number in JSON", "/spec/a[0]"),
        (lambda obj: {**obj, "spec": {"a": -math.inf}}, "-inf is no number in JSON", "/spec/a"),
        (lambda obj: {**obj, "spec": {"a": {1, 2}}}, "a set is no JSON value", "/spec/a"),
        (lambda obj: {**obj, "spec": {1: 2}}, "the key 1 is a int, not a string", "/spec"),
        (lambda obj: {**obj, "spec": {"a": 10**400}}, "does not fit a float64", "/spec/a"),
        (lambda obj: {**obj, "spec": deep()}, "nested deeper than 200 levels", ""),
        (lambda obj: {**obj, "spec": cycle()}, "nested deeper than 200 levels", ""),
    ],
)
def test_what_a_converter_may_not_do(function: Any, words: str, path: str) -> None:
    """One line: the object, both versions, what is wrong, the function; with the path where it is known."""
    with pytest.raises(conversion.ConversionError, match="^Thing default/x old -> new: .*" + words) as caught:
        converting(function).convert(subject.thing("old", {"a": 1}), "new")
    assert caught.value.path == path
    assert "\n" not in caught.value.message


def test_the_line_of_the_specification() -> None:
    """As spec/webhook.md writes it, for the example of this repository."""
    obj = {
        "apiVersion": "platform.acme.io/v1alpha1",
        "kind": "Tenant",
        "metadata": {"name": "acme", "namespace": "default"},
        "spec": {"quota": "cpu=,mem=1Gi"},
    }
    words = (
        r'^Tenant default/acme v1alpha1 -> v1: spec.quota: "cpu=,mem=1Gi": cpu is empty \(to_v1, conversion.py:\d+\)$'
    )
    with pytest.raises(conversion.ConversionError, match=words) as caught:
        TENANT.convert(obj, "v1")
    assert caught.value.path == "/spec/quota"


def test_a_reverse_that_raises_is_an_error_of_the_object() -> None:
    """Without the way back nothing can be carried, so nothing is answered."""
    bound = subject.bound({"old": ANY, "new": ANY}, lambda obj: obj, raises(ValueError("no way")))
    with pytest.raises(conversion.ConversionError, match=r"^Thing default/x old -> new: and back to old: no way"):
        bound.convert(subject.thing("old", {}), "new")


def test_a_converter_owns_its_argument() -> None:
    """It may tear it to pieces; the caller's object stays as it was."""

    def greedy(obj: dict[str, Any]) -> dict[str, Any]:
        obj["spec"]["a"].append(3)
        obj["metadata"]["labels"].clear()
        return obj

    obj = subject.thing("old", {"a": [1]})
    obj["metadata"]["labels"] = {"l": "1"}
    before = copy.deepcopy(obj)
    answer = converting(greedy).convert(obj, "new")
    assert obj == before
    assert answer["spec"] == {"a": [1, 3]}
    assert answer["metadata"]["labels"] == {"l": "1"}


def test_a_converter_may_return_its_own_constants() -> None:
    """What it returns is copied: defaults and restored leaves never land in the author's constant."""
    constant = {"p": {}}
    schema = {
        "type": "object",
        "properties": {"p": {"type": "object", "properties": {"d": {"type": "integer", "default": 1}}}},
    }
    bound = subject.bound({"old": schema, "new": schema}, lambda obj: {**obj, "spec": constant}, lambda obj: obj)
    assert bound.convert(subject.thing("old", {"p": {}}), "new")["spec"] == {"p": {"d": 1}}
    assert constant == {"p": {}}


def test_a_converter_sees_no_key_of_ours() -> None:
    """Neither managedFields nor carried annotations; all other metadata."""
    seen: list[dict[str, Any]] = []

    def spy(obj: dict[str, Any]) -> dict[str, Any]:
        seen.append(copy.deepcopy(obj["metadata"]))
        return obj

    ours = {"carried.acme.io/new.0123456789abcdef": "x", "carried.acme.io/v9.view": "x", "note": "n"}
    obj = subject.thing("old", {}, ours)
    obj["metadata"]["managedFields"] = [{"manager": "m"}]
    answer = converting(spy).convert(obj, "new")
    assert seen == [{"name": "x", "namespace": "default", "uid": "1", "annotations": {"note": "n"}}]
    assert answer["metadata"]["managedFields"] == [{"manager": "m"}]


FRAGMENTS: list[dict[str, Any]] = [
    {},
    {"metadata": {}},
    {"metadata": None},
    {"metadata": {"name": "x"}},
    {"metadata": {"name": "x"}, "spec": {}},
    {"metadata": {"name": "x"}, "spec": None},
    {"metadata": {"name": "x"}, "status": {"phase": "Active"}},
    {"metadata": {"name": "x"}, "spec": {"owners": [{"name": "a"}], "quota": {"limits": [{"name": "pods"}]}}},
    {"metadata": {"name": "x"}, "spec": {"owners": [], "quota": {}, "network": None}},
    {"metadata": {"name": "x", "annotations": None, "labels": {}}, "spec": {"suspended": True}},
    {"metadata": {"generateName": "x-"}, "spec": {"labels": {"a/b": ""}, "network": {"egress": []}}},
]


@pytest.mark.parametrize("fragment", FRAGMENTS)
def test_fragments_are_converted_like_every_object(fragment: dict[str, Any]) -> None:
    """Without spec, metadata, name, uid; lists of keys only; nulls: exact, and metadata is always an object."""
    obj = {"apiVersion": "platform.acme.io/v1", "kind": "Tenant", **fragment}
    there = TENANT.convert(obj, "v1alpha1")
    assert isinstance(there["metadata"], dict)
    back = TENANT.convert(there, "v1")
    wanted = {key: value for key, value in obj.items() if value is not None}
    wanted["metadata"] = {key: value for key, value in (fragment.get("metadata") or {}).items() if value is not None}
    back["metadata"] = {key: value for key, value in back["metadata"].items() if value is not None}
    assert back == wanted


@pytest.mark.parametrize(
    ("obj", "to", "words"),
    [
        ({**subject.thing("old", {}), "kind": "Other"}, "new", "Other default/x: 'acme.io/old' is no version of Thing"),
        ({**subject.thing("old", {}), "apiVersion": "acme.io/v9"}, "new", r"no version of Thing.acme.io \(new, old\)"),
        ({**subject.thing("old", {}), "apiVersion": None}, "new", "Thing default/x: None is no version"),
        (subject.thing("old", {}), "v9", "Thing default/x old -> v9: no such version; there are new, old"),
        (subject.thing("old", {"a": math.nan}), "new", "nan is no number in JSON"),
    ],
)
def test_objects_that_are_not_ours(obj: dict[str, Any], to: str, words: str) -> None:
    """Another kind, group or version is said so, and never guessed."""
    with pytest.raises(conversion.ConversionError, match=words):
        converting(lambda obj: obj).convert(obj, to)


def test_the_same_version_is_a_copy() -> None:
    """Nothing to convert: the object as it is, and nothing shared."""
    obj = subject.thing("old", {"a": [1]}, {"carried.acme.io/new.view": "x"})
    answer = converting(lambda obj: obj).convert(obj, "old")
    assert answer == obj
    assert answer["spec"]["a"] is not obj["spec"]["a"]
