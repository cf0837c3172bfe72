"""The patch that makes one document of another: as merge patch (RFC 7386) and as JSON patch (RFC 6902).

A merge patch says removal by null: a document in which null is a value cannot be reached by one (``mergeable``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from instar.testing import objects

__all__ = ["json_patch", "merge_patch", "mergeable"]


def merge_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What to merge into ``before`` so that it is ``after``; lists go whole."""
    patch: dict[str, Any] = {name: None for name in before if name not in after}
    for name, value in after.items():
        old = before.get(name)
        if name in before and objects.identity(old) == objects.identity(value):
            continue
        patch[name] = merge_patch(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return patch


def mergeable(value: Any) -> bool:
    """Whether a merge patch can say this value: no null is in a map of it."""
    if isinstance(value, Mapping):
        return all(below is not None and mergeable(below) for below in value.values())
    return True


def json_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Operations that make ``after`` of ``before``; lists go whole."""
    return list(_operations(before, after, ""))


def _operations(before: Mapping[str, Any], after: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    for name in sorted({*before, *after}):
        path = f"{where}/{name.replace('~', '~0').replace('/', '~1')}"
        if name not in after:
            yield {"op": "remove", "path": path}
        elif name not in before:
            yield {"op": "add", "path": path, "value": after[name]}
        elif isinstance(before[name], dict) and isinstance(after[name], dict):
            yield from _operations(before[name], after[name], path)
        elif objects.identity(before[name]) != objects.identity(after[name]):
            yield {"op": "replace", "path": path, "value": after[name]}
