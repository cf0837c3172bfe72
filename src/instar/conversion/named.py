"""The labels and annotations that rules name: they are values of the object as those of its spec are.

Everything else in metadata is outside of conversion: it stays as it came. What rules name is lifted into the body, at
the place where it stands (``/metadata/annotations/example.com~1cpu``), and so it is converted, compared, carried and
restored as all leaves are; only strings are valid there. Names count at both versions of a pair: what a rule moves to
an annotation was at the other version somebody's own annotation, or none.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from instar.model import path
from instar.schema import structural

__all__ = ["Names", "join", "node", "parse", "take"]

Names = tuple[tuple[str, str], ...]
"""``("labels", key)`` and ``("annotations", key)``."""

MEMBERS = ("annotations", "labels")
_RAW: dict[str, Any] = {
    "annotations": {"type": "string"},
    "labels": {
        "type": "string",
        "maxLength": 63,
        "pattern": "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
    },
}


def parse(paths: Iterable[str]) -> Names:
    """The names in paths of leaves, ``/metadata/labels/<key>``."""
    found = set()
    for text in paths:
        _, member, key = (step.name for step in path.parse(text) if isinstance(step, path.Field))
        found.add((member, key))
    return tuple(sorted(found))


def node(root: structural.Node, names: Names) -> structural.Node:
    """The schema of bodies in which these names have their place."""
    if not names:
        return root
    members = {
        member: structural.Node(
            properties={key: structural.Node(raw=_RAW[member]) for of, key in names if of == member},
            raw={"type": "object"},
        )
        for member in MEMBERS
    }
    metadata = structural.Node(properties=members, raw={"type": "object"})
    return dataclasses.replace(root, properties={**root.properties, "metadata": metadata})


def take(names: Names, metadata: Any) -> dict[str, dict[str, Any]]:
    """What metadata says at these names; both members are always there, for whether they are is nobody's value."""
    found: dict[str, dict[str, Any]] = {member: {} for member in MEMBERS}
    for member, key in names:
        values = metadata.get(member) if isinstance(metadata, Mapping) else None
        if isinstance(values, Mapping) and type(values.get(key)) is str:
            found[member][key] = values[key]
    return found


def join(names: Names, metadata: dict[str, Any], taken: Mapping[str, Mapping[str, Any]] | None) -> dict[str, Any]:
    """Metadata, the caller's own, that says at these names what was taken, and nothing where nothing was."""
    for member in MEMBERS if names else ():
        there = metadata.get(member)
        kept = there if type(there) is dict else {}
        said = {key: value for key, value in kept.items() if (member, key) not in names}
        said.update((taken or {}).get(member, {}))
        if said or (member in metadata and not kept):
            metadata[member] = said
        else:
            metadata.pop(member, None)
    return metadata
