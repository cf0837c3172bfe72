"""Paths of rules: patterns as declarations have them, and labels and annotations, ``/metadata/annotations/<key>``.

Within ``each`` a path begins at the item, and the empty path is the item itself.
"""

from __future__ import annotations

import dataclasses

from instar import errors
from instar.conversion import patterns
from instar.model import path
from instar.schema import structural

__all__ = ["WILD", "find", "keys", "level", "problem", "rooted", "wildcard"]

WILD = frozenset((patterns.ANY_ITEM, patterns.ANY_KEY))
KEYED = ("/metadata/labels", "/metadata/annotations")
CARRIED = "carried."
_TEXTS = structural.Node(additional=structural.Node(raw={"type": "string"}), raw={"type": "object"})
_METADATA = structural.Node(properties={"labels": _TEXTS, "annotations": _TEXTS}, raw={"type": "object"})


def rooted(root: structural.Node) -> structural.Node:
    """The schema of a whole object as rules see it: with its labels and annotations."""
    return dataclasses.replace(root, properties={**root.properties, "metadata": _METADATA})


def problem(text: object, *, inside: bool) -> str | None:
    """Why the text is no path of a rule (``inside`` another one); None if it is one."""
    if not isinstance(text, str):
        return f"{text!r} is no path; one looks like /spec/containers[]/image"
    try:
        steps = patterns.parse(text)
    except errors.UsageError as error:
        return error.message
    if inside:
        return None
    if not steps or steps[0] in WILD or steps[0] in ("/apiVersion", "/kind"):
        return f"{text!r}: a path starts at a field of the object that is the author's, as /spec does"
    if steps[0] == "/metadata":
        return _metadata_problem(text, steps)
    return None


def _metadata_problem(text: str, steps: tuple[str, ...]) -> str | None:
    if len(steps) != 3 or "".join(steps[:2]) not in KEYED or steps[2] in WILD:
        keys = " and ".join(f"{start}/<key>" for start in KEYED)
        return f"{text!r}: of metadata a rule may name {keys}, a / of the key written as ~1"
    if steps[2].startswith("/" + CARRIED):
        return f"{text!r}: that key holds what is carried"
    return None


def wildcard(steps: tuple[str, ...]) -> int | None:
    """How many steps there are up to and with the first wildcard; None without one."""
    return next((index + 1 for index, step in enumerate(steps) if step in WILD), None)


def level(steps: tuple[str, ...]) -> tuple[str, ...]:
    """The field that holds what the steps lead to: without the wildcard at their end."""
    return steps[:-1] if steps and steps[-1] in WILD else steps


def keys(steps: tuple[str, ...]) -> tuple[str, ...]:
    """The names of fields, unescaped, on steps without wildcards."""
    found = []
    for step in steps:
        (parsed,) = path.parse(step)
        assert isinstance(parsed, path.Field)
        found.append(parsed.name)
    return tuple(found)


def find(root: structural.Node, steps: tuple[str, ...]) -> structural.Node | None:
    """The schema at the steps; None if it has no such place."""
    node: structural.Node | None = root
    for step in steps:
        if node is None:
            return None
        if step == patterns.ANY_ITEM:
            node = node.items or (structural.ANY if node.preserve else None)
        elif step == patterns.ANY_KEY:
            node = node.additional or (structural.ANY if node.preserve else None)
        else:
            (name,) = keys((step,))
            found = structural.child(node, name)
            node = found[0] if found else None
    return node
