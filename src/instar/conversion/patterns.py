"""Patterns over paths of leaves, as declarations use them: ``/spec/containers[]/image``, ``/spec/limits/*``.

A step is a field, ``[]`` (any item of a keyed list or a set) or ``/*`` (any map key). A leaf belongs to a pattern when
it lies at it or below it; what the wildcards stood for is the *binding*, so that a group in a list has one instance for
each item.
"""

from __future__ import annotations

import functools
import re

from instar import errors
from instar.model import path
from instar.schema import structural

__all__ = ["above", "binding", "names_item", "parse", "problem", "reaches"]

_STEP = re.compile(r"\[\]|/[^/\[\]]*")
ANY_ITEM, ANY_KEY = "[]", "/*"


def problem(text: str) -> str | None:
    """Why the text is no pattern; None if it is one."""
    try:
        steps = parse(text)
    except errors.UsageError as error:
        return error.message
    if not steps or steps[0] in ("/metadata", "/apiVersion", "/kind", ANY_ITEM, ANY_KEY):
        return f"{text!r}: a pattern starts at a field of the object, and never in its metadata"
    return None


@functools.lru_cache(maxsize=1024)
def parse(text: str) -> tuple[str, ...]:
    """The steps; UsageError if it is no pattern."""
    steps = _STEP.findall(text)
    if "".join(steps) != text:
        raise errors.UsageError(f"{text!r} is no pattern of leaves; one looks like /spec/containers[]/image")
    for step in steps:
        if step not in (ANY_ITEM, ANY_KEY):
            path.parse(step)
    return tuple(steps)


def binding(pattern: tuple[str, ...], steps: tuple[path.Step, ...]) -> tuple[str, ...] | None:
    """What the wildcards stand for where the path lies at or below the pattern; else None."""
    return _bind(pattern, steps) if len(steps) >= len(pattern) else None


def above(pattern: tuple[str, ...], steps: tuple[path.Step, ...]) -> bool:
    """Whether the pattern lies at or below the path: a value at this path may hold such a leaf."""
    return len(steps) <= len(pattern) and _bind(pattern[: len(steps)], steps) is not None


def reaches(pattern: tuple[str, ...], root: structural.Node) -> bool:
    """Whether a schema has a place for the pattern."""
    return _place(pattern, root) is not None


def names_item(pattern: tuple[str, ...], root: structural.Node) -> bool:
    """Whether the pattern is a key of a keyed list: paths of leaves name it."""
    if len(pattern) < 2 or pattern[-2] != ANY_ITEM:
        return False
    node = _place(pattern[:-2], root)
    return node is not None and pattern[-1] in {path.field(key) for key in node.map_keys}


def _place(pattern: tuple[str, ...], root: structural.Node) -> structural.Node | None:
    node: structural.Node | None = root
    for step in pattern:
        if node is None:
            return None
        if step == ANY_ITEM:
            node = node.items if node.list_type != "atomic" else None
        elif step == ANY_KEY:
            node = node.additional or (structural.ANY if node.preserve else None)
        else:
            node = structural.find(node, path.parse(step))
    return node


def _bind(pattern: tuple[str, ...], steps: tuple[path.Step, ...]) -> tuple[str, ...] | None:
    bound = []
    for wanted, step in zip(pattern, steps, strict=False):
        wildcard = ANY_KEY if isinstance(step, path.Field) else ANY_ITEM
        if wanted == wildcard:
            bound.append(step.text)
        elif wanted != step.text:
            return None
    return tuple(bound)
