"""The annotations of an object, told apart: everybody's, and ours by the version they are for.

Only our keys come and go; entries for third versions pass as they are, those for the source are stale and go.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from instar.conversion import entries, named
from instar.conversion.hop import Hop
from instar.model import gojson

__all__ = ["Sorted", "added", "framed", "shown", "sort"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Sorted:
    """The annotations of an object: everybody's, ours for third versions, ours for the target by tail."""

    others: dict[str, Any]
    third: dict[str, Any]
    mine: dict[str, Any]


def shown(metadata: Mapping[str, Any], found: Sorted) -> dict[str, Any]:
    """The metadata that a converter sees: without managedFields and without our annotations."""
    seen = {name: value for name, value in metadata.items() if name != "managedFields"}
    if found.third or found.mine:
        seen["annotations"] = found.others
    return seen


def sort(hop: Hop, annotations: Any) -> Sorted:
    others: dict[str, Any] = {}
    third: dict[str, Any] = {}
    mine: dict[str, Any] = {}
    for key, text in annotations.items() if type(annotations) is dict else ():
        if not key.startswith(hop.prefix):
            others[key] = text
            continue
        version, tail = entries.split(key[len(hop.prefix) :])
        if version == hop.target.version:
            mine[tail] = text
        elif version != hop.source.version and tail:
            third[key] = text
    return Sorted(others=others, third=third, mine=mine)


def framed(metadata: Mapping[str, Any], found: Sorted, names: named.Names, taken: Any) -> dict[str, Any]:
    """The object's own metadata without our keys for these versions, and with what rules named as they left it."""
    result: dict[str, Any] = gojson.copy(metadata)
    if type(result.get("annotations")) is dict:
        annotations = {**found.others, **found.third}
        if annotations or not metadata["annotations"]:
            result["annotations"] = annotations
        else:
            del result["annotations"]
    return named.join(names, result, taken)


def added(metadata: dict[str, Any], written: Mapping[str, str]) -> dict[str, Any]:
    """The metadata with the entries that were written."""
    if written:
        there = metadata.get("annotations")
        metadata["annotations"] = {**(there if type(there) is dict else {}), **written}
    return metadata
