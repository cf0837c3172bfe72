"""Frameworks that break one law each, so that the law can be seen to find it."""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping
from typing import Any

import instar.conversion as conversion
from instar import errors
from instar.conversion import hop
from instar.testing import twin

Document = dict[str, Any]


class CarriesNothing(conversion.Bound):
    """The author's functions alone."""

    def outcome(self, obj: Mapping[str, Any], to: str) -> hop.Outcome:
        if str(obj["apiVersion"]).endswith("/" + to):
            return hop.Outcome(object=dict(obj))
        made = twin.Twin(conversion.Bound(conversion=self.conversion, crd=self.crd, hops=self.hops)).bare(obj, to)
        return hop.Outcome(object={**made, "metadata": dict(obj.get("metadata") or {})})


class DropsAfterEdits(conversion.Bound):
    """Carries, and forgets all of it at the first edit: the restores-too-little that no exactness law sees."""

    def outcome(self, obj: Mapping[str, Any], to: str) -> hop.Outcome:
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

    def outcome(self, obj: Mapping[str, Any], to: str) -> hop.Outcome:
        found = conversion.Bound.outcome(self, obj, to)
        spec = found.object.get("spec")
        if to == "new" and found.dropped and isinstance(spec, dict):
            return hop.Outcome(object={**found.object, "spec": {**spec, "a": 99}})
        return found


class Touches(conversion.Bound):
    """Changes a label."""

    def outcome(self, obj: Mapping[str, Any], to: str) -> hop.Outcome:
        found = copy.deepcopy(conversion.Bound.outcome(self, obj, to).object)
        found["metadata"].setdefault("labels", {})["touched"] = "yes"
        return hop.Outcome(object=found)


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
    """Fails from its second object on."""

    def convert(self, obj: Mapping[str, Any], to: str) -> Document:
        if obj["metadata"].get("name") == "second":
            raise errors.ConversionError("not this one")
        return self.outcome(obj, to).object


def as_(kind: type[conversion.Bound], bound: conversion.Bound) -> conversion.Bound:
    return kind(conversion=bound.conversion, crd=bound.crd, hops=bound.hops)
