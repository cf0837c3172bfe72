"""managedFields that name a version which is about to go, rewritten to the storage version.

Once a version is out of ``spec.versions``, every server-side apply of an object with an entry at it fails with 500 for
ever (kubernetes/kubernetes#111937), while other writes pass and keep the entry, so nothing cures itself. The rewrite
changes ``apiVersion`` only: an entry's paths stay as its manager owned them. Two entries of one manager that become the
same entry are joined, since the API server keeps one of two and forgets what the other owned.
Source: https://kubernetes.io/docs/reference/using-api/server-side-apply/#custom-resources-and-server-side-apply
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

__all__ = ["names_any", "rewrite"]

Entry = dict[str, Any]


def names_any(entries: Sequence[Entry], group: str, going: Collection[str]) -> bool:
    """Whether an entry names one of the versions that go."""
    return any(_goes(entry, group, going) for entry in entries)


def _goes(entry: Entry, group: str, going: Collection[str]) -> bool:
    entry_group, _, version = str(entry.get("apiVersion", "")).rpartition("/")
    return entry_group == group and version in going


def rewrite(entries: Sequence[Entry], group: str, going: Collection[str], api_version: str) -> list[Entry]:
    """The entries with every version that goes replaced by ``api_version``; order kept, twins joined."""
    result: dict[tuple[Any, ...], Entry] = {}
    for entry in entries:
        new = {**entry, "apiVersion": api_version} if _goes(entry, group, going) else dict(entry)
        key = (new.get("manager"), new.get("operation"), new.get("apiVersion"), new.get("subresource"))
        result[key] = _join(result[key], new) if key in result else new
    return list(result.values())


def _join(one: Entry, other: Entry) -> Entry:
    times = [entry["time"] for entry in (one, other) if "time" in entry]
    joined = {**one, "fieldsV1": _union(one.get("fieldsV1") or {}, other.get("fieldsV1") or {})}
    return {**joined, "time": max(times)} if times else joined


def _union(one: Entry, other: Entry) -> Entry:
    both = {key: _union(one[key], other[key]) for key in one.keys() & other.keys()}
    return {**one, **other, **both}
