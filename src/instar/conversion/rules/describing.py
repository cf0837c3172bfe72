"""The JSON Schema of a file of rules, made from the rules themselves, so that editors complete and check it."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from instar.conversion import definition, rules
from instar.conversion.rules import decoding, model

__all__ = ["schema"]

_REF = "#/$defs/{name}"
_FUNCTION = {
    "type": "string",
    "pattern": "^[^:]+:[A-Za-z_][A-Za-z0-9_]*$",
    "description": "module:function or file.py:function",
}
_DECLARED = (definition.Group, definition.Normalised, definition.Sensitive, definition.Droppable)


def schema() -> dict[str, Any]:
    """A draft 2020-12 schema; what a kind is for is its description."""
    types = (*rules.KINDS, model.Pair, *_DECLARED)
    _, found = msgspec.json.schema_components(types, schema_hook=lambda _: dict(_FUNCTION), ref_template=_REF)
    components = {of.__name__: _closed(of, found[of.__name__]) for of in types}
    components["Rule"] = {
        "description": "One rule: a mapping with one key, its kind.",
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": False,
        "properties": {kind.kind: {"$ref": _REF.format(name=kind.__name__)} for kind in rules.KINDS},
    }
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_document(), "$defs": components}


def _closed(of: type, component: Mapping[str, Any]) -> dict[str, Any]:
    """With the members' names of the file, and no others."""
    known = {field.name: name for name, field in decoding.members(of).items()}
    properties = {known[name]: value for name, value in component["properties"].items() if name in known}
    if "rules" in properties:
        properties["rules"] = _list("Rule")
    needed = [known[name] for name in component.get("required", ()) if name in known]
    return {
        "description": inspect.cleandoc(of.__doc__ or "").replace("``", "`"),
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": False,
    }


def _document() -> dict[str, Any]:
    text = {"type": "string"}
    declared = {name: _list(of.__name__) for name, of in zip(_names(), _DECLARED, strict=True)}
    spoke = {
        "type": "object",
        "properties": {"version": text, "rules": _list("Rule")},
        "required": ["version", "rules"],
        "additionalProperties": False,
    }
    return {
        "title": "Conversion",
        "description": "All versions of one kind around a hub, as rules.",
        "type": "object",
        "properties": {
            "apiVersion": {"const": decoding.API_VERSION},
            "kind": {"const": decoding.KIND},
            **dict.fromkeys(("group", "for", "hub", "domain"), text),
            "spokes": {"type": "array", "minItems": 1, "items": spoke},
            **declared,
        },
        "required": ["apiVersion", "kind", "group", "for", "hub", "spokes"],
        "additionalProperties": False,
    }


def _names() -> Iterable[str]:
    fields = {field.name for field in dataclasses.fields(definition.Conversion)}
    return [name for name in ("groups", "normalised", "sensitive", "droppable") if name in fields]


def _list(name: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": _REF.format(name=name)}}
