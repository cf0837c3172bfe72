"""What becomes of each carried leaf of one object: carried, restored or dropped at each version, and why."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import instar.conversion as conversion_module
from instar import errors
from instar.conversion import entries, leaves
from instar.testing import blaming, cases, twin

__all__ = ["UNKNOWN", "Line", "explain"]

Document = dict[str, Any]
Found = Mapping[tuple[str, str], entries.Entry]
"""Entries by version and path."""
UNKNOWN: Any = object()
"""The value of what has none: a broken entry, an object that cannot be converted."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """What becomes of one leaf when the object is read at a version; ``of`` is the version that the leaf belongs to."""

    at: str
    path: str
    of: str
    what: str
    value: Any = UNKNOWN
    absent: bool = False
    by: str = ""
    why: str = ""


def explain(document: Document, bound: conversion_module.Bound) -> tuple[Line, ...]:
    """Each leaf that is not simply converted, for each other version."""
    of = twin.Twin(bound)
    version = cases.version_of(document)
    if version not in bound.versions:
        known = ", ".join(bound.versions)
        raise errors.UsageError(f"{bound.conversion.kind} has no version {version!r}; it has {known}")
    return tuple(line for target in of.others(version) for line in _at(of, document, version, target))


def _at(of: twin.Twin, document: Document, version: str, target: str) -> Iterator[Line]:
    try:
        outcome = of.outcome(document, target)
    except errors.ConversionError as error:
        yield Line(at=target, path=error.path or "/", of=version, what="fails", why=error.message)
        return
    brought, written = _entries(of, document), _entries(of, outcome.object)
    yield from _restored(of, document, outcome.restored, brought, target)
    yield from (_dropped(of, drop, brought, version, target) for drop in outcome.dropped)
    yield from _carried(of, outcome.carried, written, version, target)
    if not (outcome.restored or outcome.dropped or outcome.carried):
        yield Line(at=target, path="-", of="-", what="nothing", why=f"{target} says all that {version} says")


def _entries(of: twin.Twin, document: Document) -> Found:
    """Every entry on an object that can be read."""
    notes = (document.get("metadata") or {}).get("annotations") or {}
    found = {}
    for key, text in notes.items():
        version, tail = entries.split(key.removeprefix(of.prefix))
        if key.startswith(of.prefix) and tail != entries.VIEW:
            try:
                entry = entries.read(text, tail, of.bound.conversion.kind)
            except (entries.Malformed, errors.ConversionError):
                continue
            found[version, entry.path] = entry
    return found


def _one(found: Found, path: str, *versions: str) -> tuple[str, entries.Entry | None]:
    """The entry for a path, and its version; spokes convert through the hub, whose entries count too."""
    for version in versions:
        if (version, path) in found:
            return version, found[version, path]
    return versions[0], None


def _restored(of: twin.Twin, document: Document, paths: tuple[str, ...], brought: Found, target: str) -> Iterator[Line]:
    untouched = _untouched(of, document, target)
    why = "nothing was edited since it was carried" if untouched else "no edit touched it"
    for path in paths:
        version, entry = _one(brought, path, target, of.bound.conversion.hub)
        yield _line(of, target, path, version, "restored", entry, why, cases.version_of(document))


def _untouched(of: twin.Twin, document: Document, target: str) -> bool:
    """Whether the object is the one on which its entries were put, with its defaults or without."""
    notes = (document.get("metadata") or {}).get("annotations") or {}
    start = f"{of.prefix}{target}."
    carried = {key[len(start) :]: text for key, text in notes.items() if key.startswith(start)}
    view = carried.pop(entries.VIEW, None)
    return view in (entries.view(document, carried), entries.view(of.written(document), carried))


def _dropped(of: twin.Twin, drop: conversion_module.Drop, brought: Found, source: str, target: str) -> Line:
    version, entry = _one(brought, drop.path, target, of.bound.conversion.hub)
    if entry is None:
        return Line(at=target, path=drop.path, of=version, what="dropped", why=f"not an entry that fits: {drop.reason}")
    return _line(of, target, drop.path, version, "dropped", entry, drop.reason, source)


def _carried(of: twin.Twin, paths: tuple[str, ...], written: Found, source: str, target: str) -> Iterator[Line]:
    for path in paths:
        version, entry = _one(written, path, source, of.bound.conversion.hub)
        yield _line(of, target, path, version, "carried", entry, _because(entry, version, target), source)


def _because(entry: entries.Entry | None, version: str, target: str) -> str:
    if entry is None:
        return f"{target} cannot say it"
    if entry.path.endswith("[]"):
        return f"{target} does not keep the order"
    if isinstance(entry.base, entries.Digest | entries.Items):
        return f"coming back from {target} it would be something else"
    if entry.base is leaves.ABSENT:
        return f"{target} has no place for it"
    if entry.value is leaves.ABSENT:
        return f"coming back from {target} it would be {entry.base!r:.60}, and {version} does not have it"
    return f"coming back from {target} it would be {entry.base!r:.60}"


def _line(
    of: twin.Twin, at: str, path: str, version: str, what: str, entry: entries.Entry | None, why: str, source: str
) -> Line:
    finding = cases.Finding(law="", path=path, place="", problem="", source=source, target=at)
    value = UNKNOWN if entry is None else entry.value
    absent = value is leaves.ABSENT
    return Line(
        at=at,
        path=path,
        of=version,
        what=what,
        value=UNKNOWN if absent else value,
        absent=absent,
        by=", ".join(map(str, blaming.blame(of, finding))),
        why=why,
    )
