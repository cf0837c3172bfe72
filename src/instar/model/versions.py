"""Two orders of API versions, which differ where a new major version is being tried.

*Priority* is Kubernetes' own: v2 before v1 before v2alpha1 before v1beta1, and any other name last. *Age* is the order
in which versions come into the world: v1alpha1, v1beta1, v1, v2alpha1, v2; other names have none.

Source: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["by_priority", "is_older"]

_NAME = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?")
_STAGES = {None: 0, "beta": 1, "alpha": 2}


def by_priority(names: Iterable[str]) -> tuple[str, ...]:
    """The names, the one that Kubernetes prefers first."""
    return tuple(sorted(names, key=_rank))


def _rank(name: str) -> tuple[int, int, int, str]:
    if (match := _NAME.fullmatch(name)) is None:
        return (3, 0, 0, name)
    major, stage, minor = match.groups()
    return (_STAGES[stage], -int(major), -int(minor or 0), "")


def is_older(one: str, other: str) -> bool:
    """Whether the first version came before the second; False where a name does not say."""
    matches = _NAME.fullmatch(one), _NAME.fullmatch(other)
    if matches[0] is None or matches[1] is None:
        return False
    ages = [(int(match[1]), -_STAGES[match[2]], int(match[3] or 0)) for match in matches if match]
    return ages[0] < ages[1]
