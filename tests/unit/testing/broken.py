"""Frameworks that break one law each, so that the law can be seen to find it."""

from __future__ import annotations

import copy
import dataclasses
import random
from collections.abc import Mapping
from typing import Any

import instar.conversion as conversion
from instar import errors
from instar.testing import twin

Document = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Answer:
    """An outcome, as far as a law looks at one."""

    object: Document
    carried: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    dropped: tuple[conversion.Drop, ...] = ()


class CarriesNothing(conversion.Bound):
    """The author's functions alone."""

    def outcome(self, obj: Mapping[str, Any], to: str) -> Any:
        if str(obj["apiVersion"]).endswith("/" + to):
            return Answer(object=dict(obj))
        made = twin.Twin(conversion.Bound(conversion=self.conversion, crd=self.crd, hops=self.hops)).bare(obj, to)
        return Answer(object={**made, "metadata": dict(obj.get("metadata") or {})})


class DropsAfterEdits(conversion.Bound):
    """Carries, and forgets all of it at the first edit: the restores-too-little that no exactness law sees."""

    def outcome(self, obj: Mapping[str, Any], to: str) -> Any:
        found = conversion.Bound.outcome(self, obj, to)
        if not found.restored:
            return found
        version = str(obj["apiVersion"]).rpartition("/")[2]
        back = conversion.Bound.outcome(self, found.object, version).object
        if back == obj:
            return found
        notes = {"annotations": {}}
        return conversion.Bound.outcome(self, {**obj, "metadata": {**obj["metadata"], **notes}}, to)


class WantsTheirWay(conversion.Bound):
    """Puts the carried value over an edit."""

    def outcome(self, obj: Mapping[str, Any], to: str) -> Any:
        found = conversion.Bound.outcome(self, obj, to)
        spec = found.object.get("spec")
        if to == "new" and found.dropped and isinstance(spec, dict):
            return Answer(object={**found.object, "spec": {**spec, "a": 99}})
        return found


class Touches(conversion.Bound):
    """Changes a label."""

    def outcome(self, obj: Mapping[str, Any], to: str) -> Any:
        found = copy.deepcopy(conversion.Bound.outcome(self, obj, to).object)
        found["metadata"].setdefault("labels", {})["touched"] = "yes"
        return Answer(object=found)


class Changes(conversion.Bound):
    """Changes its argument."""

    def convert(self, obj: Mapping[str, Any], to: str) -> Document:
        found = self.outcome(obj, to).object
        if isinstance(obj, dict):
            obj["changed"] = True
        return found


class Wavers(conversion.Bound):
    """Answers by chance."""

    def convert(self, obj: Mapping[str, Any], to: str) -> Document:
        found = copy.deepcopy(self.outcome(obj, to).object)
        found["metadata"].setdefault("annotations", {})["chance"] = str(random.random())
        return found


class KnowsTheOthers(conversion.Bound):
    """Refuses an object that it has seen before."""

    def outcome(self, obj: Mapping[str, Any], to: str) -> Any:
        place = (id(self), to, str(obj["metadata"].get("name")))
        if place in _SEEN and obj["metadata"].get("name") == "second":
            raise errors.ConversionError("not again")
        _SEEN.add(place)
        return conversion.Bound.outcome(self, obj, to)

    def convert(self, obj: Mapping[str, Any], to: str) -> Document:
        found: Document = self.outcome(obj, to).object
        return found


_SEEN: set[tuple[int, str, str]] = set()


def as_(kind: type[conversion.Bound], bound: conversion.Bound) -> conversion.Bound:
    return kind(conversion=bound.conversion, crd=bound.crd, hops=bound.hops)
