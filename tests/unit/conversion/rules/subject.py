"""Small CRDs of two versions, ``old`` (the spoke) and ``new`` (the hub), and rules between their specs."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

import instar.conversion as conversion
from instar.conversion import rules
from instar.model import crd as crd_model

STRING: Mapping[str, Any] = {"type": "string"}
INTEGER: Mapping[str, Any] = {"type": "integer"}
NUMBER: Mapping[str, Any] = {"type": "number"}
BOOLEAN: Mapping[str, Any] = {"type": "boolean"}
INT_OR_STRING: Mapping[str, Any] = {"x-kubernetes-int-or-string": True}


def one_of(*values: Any) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def has(*, required: Iterable[str] = (), **properties: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "properties": properties}
    return {**found, "required": list(required)} if required else found


def items(of: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    found = {"type": "array", "items": of}
    return {**found, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)} if keys else found


def keys(of: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": of}


def crd(old: Mapping[str, Any], new: Mapping[str, Any]) -> crd_model.Crd:
    def version(name: str, spec: Mapping[str, Any], storage: bool) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"spec": spec, "status": has(ready=BOOLEAN)}}
        return {"name": name, "served": True, "storage": storage, "schema": {"openAPIV3Schema": schema}}

    names = {"kind": "Thing", "plural": "things"}
    versions = [version("old", old, True), version("new", new, False)]
    return crd_model.parse(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.acme.io"},
            "spec": {"group": "acme.io", "scope": "Namespaced", "names": names, "versions": versions},
        }
    )


def define(*found: rules.Rule) -> conversion.Conversion:
    spoke = conversion.Spoke(version="old", rules=tuple(found))
    return conversion.Conversion(group="acme.io", kind="Thing", hub="new", spokes=(spoke,))


def bound(old: Mapping[str, Any], new: Mapping[str, Any], *found: rules.Rule) -> Specs:
    return Specs(conversion.bind(define(*found), crd(old, new)))


class Specs:
    """A bound conversion, asked for specs alone."""

    def __init__(self, of: conversion.Bound) -> None:
        self.of = of

    def new(self, spec: Any, **metadata: Any) -> Any:
        """An old spec at the new version, as the rules make it."""
        return self._plain(spec, "old", "new", metadata)["spec"]

    def old(self, spec: Any, **metadata: Any) -> Any:
        """A new spec at the old version."""
        return self._plain(spec, "new", "old", metadata)["spec"]

    def whole(self, spec: Any, start: str, **metadata: Any) -> dict[str, Any]:
        """A stored object, converted with what is carried."""
        return self.of.convert(thing(spec, start, metadata), "new" if start == "old" else "old")

    def comes_back(self, spec: Any, start: str) -> bool:
        """Whether a stored object is the same once it has been to the other version and back."""
        there = self.whole(spec, start)
        back = self.of.convert(there, start)
        return bool(back == {**thing(spec, start, {}), "metadata": back["metadata"]})

    def _plain(self, spec: Any, start: str, end: str, metadata: dict[str, Any]) -> Any:
        given = thing(spec, start, metadata)
        kept = copy.deepcopy(given)
        found = self.of.convert(given, end)
        assert given == kept, "the argument was changed"
        return found


def thing(spec: Any, version: str, metadata: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": f"acme.io/{version}",
        "kind": "Thing",
        "metadata": {"name": "one", "uid": "1", **metadata},
        "spec": spec,
    }
