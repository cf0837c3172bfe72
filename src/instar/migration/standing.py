"""What a CRD's own state says before anything is done: whether there is something to do, and whether it may be.

The API server lets anybody write anything into ``status.storedVersions``, so nothing is read from it but "a version
other than the storage version stands here, or the storage version does not".
"""

from __future__ import annotations

from instar import errors
from instar.migration import evidence
from instar.model import crd as crd_model
from instar.model import versions

__all__ = ["check_retire", "going", "nothing_to_do", "obstacle", "stripped"]


def obstacle(crd: crd_model.Crd) -> evidence.Verdict | None:
    """Why this CRD cannot be migrated now; None if it can."""
    storage = crd_model.storage_version(crd)
    if crd.terminating:
        return _no("crd_stays", f"{crd.name} is being deleted, and its objects with it: nothing was changed")
    if not crd_model.condition(crd, "Established"):
        accepted = crd.conditions.get("NamesAccepted", {})
        why = f": {accepted.get('message', '')}" if accepted.get("status") == "False" else ""
        return _no("crd_established", f"{crd.name} is not Established{why}: nothing was changed")
    if crd_model.condition(crd, "StorageMigrating"):
        return _no(
            "no_other_migration",
            f"{crd.name} has condition StorageMigrating=True: the in-tree StorageVersionMigration works on it; "
            "wait until it ends or delete it, then run again",
        )
    if not crd_model.version(crd, storage).served:
        return _no(
            "storage_version_served",
            f"{crd.name}: storage version {storage} is not served, so no API server shows that it knows of it: "
            f"set served: true on {storage}, then run again",
        )
    return None


def _no(fact: str, reason: str) -> evidence.Verdict:
    return evidence.Verdict(fact=fact, holds=False, reason=reason)


def going(crd: crd_model.Crd, retire: tuple[str, ...]) -> frozenset[str]:
    """The versions whose managedFields entries are rewritten: those that the caller names, and those not served.

    While a version is served, its clients would write new entries at once.
    """
    unserved = {entry.name for entry in crd.versions if not entry.served and not entry.storage}
    return frozenset(unserved | set(retire))


def stripped(crd: crd_model.Crd, retire: tuple[str, ...]) -> frozenset[str]:
    """The versions of which nothing is carried any more: those that the caller names, once they are not served."""
    return frozenset(retire) - {entry.name for entry in crd.versions if entry.served}


def check_retire(crd: crd_model.Crd, retire: tuple[str, ...]) -> None:
    """UsageError if the caller calls the storage version one that is about to go."""
    storage = crd_model.storage_version(crd)
    if storage in retire:
        raise errors.UsageError(f"{crd.name}: {storage} is the storage version and cannot be retired")


def nothing_to_do(crd: crd_model.Crd, retire: tuple[str, ...]) -> str:
    """The line that says so; empty if there is something to do."""
    storage = crd_model.storage_version(crd)
    if crd.stored_versions != (storage,) or going(crd, retire):
        return ""
    if len(crd.versions) == 1:
        return f"{crd.name}: nothing to do: {storage} is its only version"
    best = versions.by_priority(crd_model.served_versions(crd))[0]
    newer = f"; to store objects at {best}, set storage: true on {best} first" if _newer(best, storage) else ""
    return f"{crd.name}: nothing to do: status.storedVersions is [{storage}] already{newer}"


def _newer(version: str, than: str) -> bool:
    return version != than and versions.by_priority((version, than))[0] == version
