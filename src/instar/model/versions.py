"""The order of API versions: v2 before v1 before v1beta2 before v1beta1 before v1alpha1 before any other name.

Source: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["by_priority"]

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
