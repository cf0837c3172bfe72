"""The members of a project file: one model, from which the file is checked and the JSON Schema for editors is made.

``python -m instar.cli.project_members > instar.schema.json`` prints the schema.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any, Literal, NoReturn

__all__ = ["PROJECT", "Member", "check", "schema"]

LAWS = tuple(f"L{number}" for number in range(1, 13))
Where = tuple[str | int, ...]
Complain = Callable[[Where, str], NoReturn]


@dataclasses.dataclass(frozen=True, slots=True)
class Member:
    """One member of a mapping: what it is for, and what may stand there."""

    says: str
    shape: Literal["text", "paths", "list"] = "text"
    needed: bool = False
    beside: str = ""
    """The member that it means nothing without."""
    choices: tuple[str, ...] = ()
    items: Mapping[str, Member] = dataclasses.field(default_factory=dict)
    """Of a list: the members of each item; a list that is needed has one item at least."""


_ALLOWANCE = {
    "from": Member("The version converted from; any if left out."),
    "to": Member("The version converted to; any if left out."),
    "path": Member("The place: findings at it or below it.", needed=True),
    "reason": Member("Why this is right for now.", needed=True),
    "expires": Member("The day on which it ends, 2027-06-30.", needed=True),
}
_WAIVER = {"law": Member("The law whose findings are waived.", needed=True, choices=LAWS), **_ALLOWANCE}
_MUTANT = {
    "mutant": Member("The mutant, as `instar prove --mutants` prints it.", needed=True),
    "reason": Member("Why it changes nothing.", needed=True),
}
_CONVERSION = {
    "conversion": Member(
        "conversion.yaml, conversion.py, conversion.py:name or package.module:name; "
        "left out, the strategy is None and all versions must have the same schema."
    ),
    "crd": Member("The manifest of its CustomResourceDefinition.", needed=True),
    "corpus": Member("Files or folders of real objects.", "paths", beside="conversion"),
    "golden": Member("A folder of golden pairs: what the converter is for.", beside="conversion"),
    "carried": Member("The snapshot of carried paths; `instar prove --update` writes it.", beside="conversion"),
    "losses": Member("What may be lost.", "list", beside="conversion", items=_ALLOWANCE),
    "waivers": Member("Other findings that are known.", "list", beside="conversion", items=_WAIVER),
    "equivalent": Member("Mutants that change nothing.", "list", beside="conversion", items=_MUTANT),
}
PROJECT: Mapping[str, Member] = {
    "apiVersion": Member("", needed=True, choices=("instar.dev/v1alpha1",)),
    "kind": Member("", needed=True, choices=("Project",)),
    "conversions": Member("What there is to prove.", "list", needed=True, items=_CONVERSION),
}
"""The whole file."""


# --- a document -------------------------------------------------------------------------------------------------------


def check(found: Any, members: Mapping[str, Member], complain: Complain, where: Where = ()) -> None:
    """Calls ``complain`` with the place of the first thing that is wrong."""
    needed = sorted(name for name, member in members.items() if member.needed)
    if not isinstance(found, dict):
        complain(where, f"expected {', '.join(needed)}, and it is {found!r:.60}")
    for name in found:
        if name not in members:
            complain((*where, name), f"{name!r} is none of {', '.join(sorted(members))}")
    if missing := [name for name in needed if name not in found]:
        complain(where, f"{', '.join(missing)} is missing")
    for name, value in found.items():
        beside = members[name].beside
        if beside and beside not in found:
            complain((*where, name), f"{name}: there is no {beside} that it could be of")
        _check_value(name, value, members[name], complain, (*where, name))


def _check_value(name: str, value: Any, member: Member, complain: Complain, where: Where) -> None:
    if member.shape == "list":
        if (not isinstance(value, list) and (member.needed or value is not None)) or (member.needed and not value):
            complain(where, f"{name}: expected a list, and it is {value!r:.60}")
        for index, item in enumerate(value or ()):
            check(item, member.items, complain, (*where, index))
    elif member.shape == "paths":
        paths = value if isinstance(value, list) else [value]
        if any(not isinstance(path, str) or not path.strip() for path in paths):
            complain(where, f"{name}: expected a path or a list of them, and it is {value!r:.60}")
    elif not isinstance(value, str) or not value.strip():
        complain(where, f"{name}: expected text, and it is {value!r:.60}")
    elif member.choices and value not in member.choices:
        wanted = "not" if len(member.choices) == 1 else "which is none of"
        complain(where, f"{name} is {value!r}, {wanted} {', '.join(member.choices)}")


# --- its schema -------------------------------------------------------------------------------------------------------


def schema() -> dict[str, Any]:
    """A draft 2020-12 schema."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Project"}
    return {**head, "description": "What `instar prove` proves, and by what.", **_mapping(PROJECT)}


def _mapping(members: Mapping[str, Member]) -> dict[str, Any]:
    beside = {name: [member.beside] for name, member in members.items() if member.beside}
    return {
        "type": "object",
        "properties": {name: _described(member) for name, member in members.items()},
        "required": [name for name, member in members.items() if member.needed],
        **({"dependentRequired": beside} if beside else {}),
        "additionalProperties": False,
    }


def _described(member: Member) -> dict[str, Any]:
    return {**({"description": member.says} if member.says else {}), **_shape(member)}


def _shape(member: Member) -> dict[str, Any]:
    text = {"type": "string", "pattern": r"\S"}
    if member.shape == "list":
        whole = {"type": "array", "minItems": 1} if member.needed else {"type": ["array", "null"]}
        return {**whole, "items": _mapping(member.items)}
    if member.shape == "paths":
        return {"anyOf": [text, {"type": "array", "items": text}]}
    return {"enum": list(member.choices)} if member.choices else text


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=2) + "\n")
