"""Which revisions are known to be current, in eight bytes each: memory must stay flat however many objects there are.

A resourceVersion of a custom resource is the revision of the etcd transaction that wrote it, and no two writes share
one, so a set of numbers says which writes are known without naming the objects.
Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
"""

from __future__ import annotations

import array
import bisect

__all__ = ["NEVER", "Revisions", "parse"]

NEVER = 2**63 - 1
"""Stands for a resourceVersion that is no number: newer than everything, so that it is always looked at again."""


def parse(resource_version: str) -> int:
    """The revision as a number; NEVER for what is none."""
    return int(resource_version) if resource_version.isascii() and resource_version.isdigit() else NEVER


class Revisions:
    """A set of revisions that only grows."""

    __slots__ = ("_sorted", "_values")

    def __init__(self) -> None:
        self._values = array.array("Q")
        self._sorted = True

    def add(self, revision: int) -> None:
        """Remember one; NEVER is not remembered, since it stands for no revision."""
        if revision == NEVER:
            return
        if self._values and revision < self._values[-1]:
            self._sorted = False
        self._values.append(revision)

    def __contains__(self, revision: object) -> bool:
        if not isinstance(revision, int):
            return False
        if not self._sorted:
            self._values = array.array("Q", sorted(self._values))
            self._sorted = True
        at = bisect.bisect_left(self._values, revision)
        return at < len(self._values) and self._values[at] == revision

    def __len__(self) -> int:
        return len(self._values)
