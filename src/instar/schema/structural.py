"""A version's schema, compiled once: what pruning, defaults, validation and leaves need of each node.

A node is read by the shape of the *value* as well as by the schema, because the API server does so: an object where the
schema says string is emptied, not refused. Nodes under ``x-kubernetes-preserve-unknown-fields`` without a schema are
maps by key and atomic lists, as server-side apply deduces them (``ANY``).
Source: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, Literal

from instar import errors
from instar.model import gojson, path

__all__ = ["ANY", "META", "MISSING", "NOTHING", "Node", "child", "compile_schema", "find", "place"]

META = frozenset(("apiVersion", "kind", "metadata"))


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()
"""No default. (``default: null`` is none either, as in the API server.)"""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Node:
    """One place of a schema; ``raw`` is the schema as it was written, for value checks."""

    properties: Mapping[str, Node] = dataclasses.field(default_factory=dict)
    additional: Node | None = None
    items: Node | None = None
    preserve: bool = False
    embedded: bool = False
    nullable: bool = False
    default: Any = MISSING
    defaulted: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    list_type: Literal["atomic", "set", "map"] = "atomic"
    map_keys: tuple[str, ...] = ()
    atomic: bool = False
    raw: Mapping[str, Any] = dataclasses.field(default_factory=dict)


NOTHING = Node(nullable=True)
"""No schema: every field below is unknown and goes."""
ANY = Node(nullable=True, preserve=True)
"""Unknown and kept: maps are granular, lists are atomic."""


def compile_schema(schema: Mapping[str, Any]) -> Node:
    """The root node of one version's ``openAPIV3Schema``, without apiVersion, kind and metadata."""
    properties = {name: value for name, value in (schema.get("properties") or {}).items() if name not in META}
    return _compile({**schema, "properties": properties}, "")


def child(node: Node, name: str) -> tuple[Node, bool] | None:
    """The node of a field and whether it is a map key (not a declared field); None: an unknown field."""
    known = node.properties.get(name)
    if known is not None:
        return known, False
    if node.additional is not None:
        return node.additional, True
    return (ANY, True) if node.preserve else None


@functools.lru_cache(maxsize=8192)
def place(root: Node, where: str) -> Node | None:
    """The same by the text of the path: many objects have the same places. Raises UsageError where it is none."""
    return find(root, path.parse(where))


def find(root: Node, steps: tuple[path.Step, ...]) -> Node | None:
    """The node at a path; None if the schema has no such place, or no way to one item of such a list."""
    node = root
    for step in steps:
        found = _next(node, step)
        if found is None:
            return None
        node = found
    return node


def _next(node: Node, step: path.Step) -> Node | None:
    if isinstance(step, path.Field):
        found = None if node.atomic else child(node, step.name)
        return found[0] if found else None
    if isinstance(step, path.Item):
        fits = node.list_type == "map" and tuple(key for key, _ in step.keys) == tuple(sorted(node.map_keys))
        return node.items if fits else None
    return node.items if node.list_type == "set" else None


def _compile(schema: Mapping[str, Any], where: str) -> Node:
    if not isinstance(schema, Mapping):
        raise errors.DefinitionError(f"schema at {where or '/'}: {schema!r:.60} is no schema")
    properties = {
        name: _compile(inner, where + path.field(name)) for name, inner in (schema.get("properties") or {}).items()
    }
    items = _compile(schema["items"], where + "[]") if schema.get("items") is not None else None
    default = schema.get("default")
    return Node(
        properties=properties,
        additional=_additional(schema, where),
        items=items,
        preserve=bool(schema.get("x-kubernetes-preserve-unknown-fields")),
        embedded=bool(schema.get("x-kubernetes-embedded-resource")),
        nullable=bool(schema.get("nullable")),
        default=MISSING if default is None else gojson.normal(default),
        defaulted={name: node.default for name, node in properties.items() if node.default is not MISSING},
        list_type=schema.get("x-kubernetes-list-type") or "atomic",
        map_keys=tuple(schema.get("x-kubernetes-list-map-keys") or ()),
        atomic=schema.get("x-kubernetes-map-type") == "atomic",
        raw=schema,
    )


def _additional(schema: Mapping[str, Any], where: str) -> Node | None:
    additional = schema.get("additionalProperties")
    if additional is True:
        return NOTHING
    return _compile(additional, where + path.field("*")) if additional else None
