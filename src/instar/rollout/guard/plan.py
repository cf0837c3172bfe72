"""What is guarded, and what the Kubernetes it is for can do about it.

=============  ==========================  =======================================
Kubernetes     MutatingAdmissionPolicy     a write that lost the annotations is
=============  ==========================  =======================================
1.36 and on    v1, on by default           completed
1.34, 1.35     v1beta1, off by default     refused
1.30 to 1.33   alpha or none               refused
=============  ==========================  =======================================

ValidatingAdmissionPolicy is v1 since 1.30. Source: https://kep.k8s.io/3962, https://kep.k8s.io/3488
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from instar import errors
from instar.conversion import binding, entries

__all__ = ["NEWEST", "Guard", "plan"]

NEWEST = "1.37"
VALIDATING_SINCE = (1, 30)
MUTATING_SINCE = (1, 36)
LONGEST_NAME = 253
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_KUBERNETES = re.compile(r"v?(\d+)\.(\d+)(\..*)?")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Guard:
    """One kind, its versions, the prefix of its carried annotations, who is exempt, and what the cluster can do.

    ``mutating``: entries that a write lost are put back; otherwise such a write is refused. ``status``: whether its
    status is written through a subresource, so that a write of the main resource may not change it.
    """

    name: str
    group: str
    kind: str
    plural: str
    namespaced: bool
    versions: tuple[str, ...]
    prefix: str
    status: bool
    exempt: tuple[str, ...]
    mutating: bool


def plan(bound: binding.Bound, *, name: str = "", exempt: Sequence[str] = (), kubernetes: str = NEWEST) -> Guard:
    """The guard of a conversion that is bound to its CRD. Raises UsageError for a wrong name, user or version."""
    crd, version = bound.crd, _parse(kubernetes)
    name = name or f"carried.{crd.name}"
    if not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        raise errors.UsageError(f"name {name!r}: a policy's name is lower case letters, digits, '-' and '.'")
    if "" in exempt:
        raise errors.UsageError("exempt '': name a user, such as system:serviceaccount:velero:velero")
    return Guard(
        name=name,
        group=crd.group,
        kind=crd.kind,
        plural=crd.plural,
        namespaced=crd.namespaced,
        versions=bound.versions,
        prefix=entries.prefix(bound.conversion.domain),
        status=any(entry.status_subresource for entry in crd.versions),
        exempt=tuple(dict.fromkeys(exempt)),
        mutating=version >= MUTATING_SINCE,
    )


def _parse(kubernetes: str) -> tuple[int, int]:
    found = _KUBERNETES.fullmatch(kubernetes.strip())
    if not found:
        raise errors.UsageError(f"Kubernetes version {kubernetes!r}: one looks like {NEWEST}")
    version = int(found[1]), int(found[2])
    if version < VALIDATING_SINCE:
        raise errors.UsageError(
            f"Kubernetes {kubernetes} has no ValidatingAdmissionPolicy v1: "
            f"the guard needs {VALIDATING_SINCE[0]}.{VALIDATING_SINCE[1]} or later"
        )
    return version
