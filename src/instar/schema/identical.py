"""Whether versions of a CRD have the same schema: with the strategy None nothing but the apiVersion may differ.

The API server relabels an object and prunes it with the schema of the version asked for (measured on 1.37.2): a field
that one version lacks is gone at the next write. What people read (descriptions, examples) may differ; what decides
about data may not, and an order that has no meaning (``required``, ``enum``, ``type`` beside ``properties``) is none.
Source: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from instar.model import crd as crd_model
from instar.model import gojson

__all__ = ["Difference", "differences"]

WORDS = frozenset(("description", "title", "example", "externalDocs"))
"""Members of a schema that are for people."""
UNORDERED = frozenset(("required", "enum"))
NAMED = frozenset(("properties", "patternProperties", "definitions", "dependencies"))
"""Members whose keys are names of fields, so that a field called ``title`` is no title."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """One place where two versions differ; ``left`` and ``right`` are None where a side has nothing there."""

    versions: tuple[str, str]
    path: str
    left: Any
    right: Any

    @property
    def message(self) -> str:
        """For people: the place in the schema and what stands there at each version."""
        one, other = self.versions
        return f"{self.path}: {_said(self.left)} at {one}, {_said(self.right)} at {other}"


def differences(crd: crd_model.Crd) -> tuple[Difference, ...]:
    """Where the other versions differ from the storage version, in the order of the schema's paths."""
    first = next(version for version in crd.versions if version.storage)
    found: list[Difference] = []
    for other in crd.versions:
        if other is not first:
            places = _compare(first.schema, other.schema, "", names=False)
            found += [
                Difference(versions=(first.name, other.name), path=path, left=left, right=right)
                for path, left, right in places
            ]
    return tuple(found)


def _compare(left: Any, right: Any, path: str, *, names: bool) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for name in sorted(left.keys() | right.keys()):
            if names or name not in WORDS:
                yield from _member(left.get(name), right.get(name), f"{path}.{name}".lstrip("."), name, names)
    elif not gojson.equal(left, right):
        yield path, left, right


def _member(left: Any, right: Any, path: str, name: str, names: bool) -> Iterator[tuple[str, Any, Any]]:
    if not names and name in UNORDERED and isinstance(left, list) and isinstance(right, list):
        left, right = sorted(left, key=gojson.encode), sorted(right, key=gojson.encode)
    if not names and name in ("default", "enum"):
        if not gojson.equal(left, right):
            yield path, left, right
    else:
        yield from _compare(left, right, path, names=not names and name in NAMED)


def _said(value: Any) -> str:
    return "nothing" if value is None else gojson.encode(value).decode()[:200]
