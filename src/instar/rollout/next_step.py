"""Where a CRD stands and what to do next, in plain words.

Each rule looks at what was seen and says one thing or nothing. All that is said is reported; the first one is the next
step, so the order of ``RULES`` is the order in which a person should act: what is broken, what would lose data, then
the life of a version::

    add v1, served ──> storage: true on v1 ──> migrate (stored versions: v1 alone) ──> unserve v1alpha1 ──> remove it
      newer_version       old_versions_stored                        old_version_served   old_version_left

A rule never concludes anything from an absence: what could not be seen is a finding of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from instar.model import crd as crd_model
from instar.model import versions
from instar.rollout import differences
from instar.rollout.observed import Observed

__all__ = ["RULES", "Finding", "findings", "sentence"]

FIELDS_SHOWN = 3


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that holds, and the command that deals with it (empty: none of ours does)."""

    reason: str
    message: str
    command: str = ""

    def __str__(self) -> str:
        return f"{self.message}: {self.command}" if self.command else self.message


def findings(observed: Observed) -> tuple[Finding, ...]:
    """Everything there is to say, the most urgent first."""
    return tuple(found for rule in RULES if (found := rule(observed)) is not None)


def sentence(found: Sequence[Finding]) -> str:
    """The next step in plain words."""
    return str(found[0]) if found else "nothing to do"


# --- broken -----------------------------------------------------------------------------------------------------------


def terminating(observed: Observed) -> Finding | None:
    """A CRD that is being deleted takes its objects with it."""
    if not observed.crd.terminating:
        return None
    return Finding(reason="Terminating", message="the CRD is being deleted, and its objects with it")


def not_established(observed: Observed) -> Finding | None:
    """Names that another CRD has keep this one from being served."""
    crd = observed.crd
    if crd.terminating or crd_model.condition(crd, "Established"):
        return None
    accepted = crd.conditions.get("NamesAccepted", {})
    why = f" ({accepted.get('message')})" if accepted.get("status") == "False" else ""
    return Finding(reason="NotEstablished", message=f"not established{why}", command=f"kubectl describe crd {crd.name}")


def stored_version_removed(observed: Observed) -> Finding | None:
    """Objects stored at a version that spec has no more can be neither read nor deleted."""
    crd = observed.crd
    known = {version.name for version in crd.versions}
    gone = [name for name in crd.stored_versions if name not in known]
    if not gone:
        return None
    names = _and(gone)
    return Finding(
        reason="StoredVersionRemoved",
        message=f"stored versions list {names}, which spec.versions has no more: objects stored so cannot be read; "
        f"put {names} back (served: false, storage: false), then",
        command=_migrate(observed),
    )


def unreadable(observed: Observed) -> Finding | None:
    """An object that cannot be read at a served version fails lists, watches and migrations."""
    reading = observed.reading
    if reading is None or not (reading.unreadable or reading.incomplete):
        return None
    if not reading.unreadable:
        return Finding(reason="ListIncomplete", message=f"not every object was found: {reading.incomplete}")
    objects = len({(entry.namespace, entry.name) for entry in reading.unreadable})
    at = _and(dict.fromkeys(entry.version for entry in reading.unreadable))
    rest = f"; and not every object was found: {reading.incomplete}" if reading.incomplete else ""
    return Finding(
        reason="Unreadable",
        message=f"{objects} of {reading.objects} objects cannot be read at {at}{rest}; "
        f"repair their conversion, then look again",
        command=f"instar status --check {observed.crd.name}",
    )


def unlisted(observed: Observed) -> Finding | None:
    """A version at which the objects cannot be listed fails its clients, whatever the other versions do."""
    if observed.reading is not None or not observed.unlisted:
        return None
    at, reasons = zip(*observed.unlisted, strict=True)
    return Finding(
        reason="Unlisted",
        message=f"its objects cannot be listed at {_and(at)} ({reasons[0]}); find out which",
        command=f"instar status --check {observed.crd.name}",
    )


def other_migration(observed: Observed) -> Finding | None:
    """Two migrations of one CRD would believe each other's trims."""
    if not crd_model.condition(observed.crd, "StorageMigrating"):
        return None
    return Finding(
        reason="StorageMigrating", message="the API server's own StorageVersionMigration works on it: wait for its end"
    )


def storage_not_served(observed: Observed) -> Finding | None:
    """Discovery shows nothing of a storage version that is not served, so no gate can be passed."""
    storage = crd_model.storage_version(observed.crd)
    if crd_model.version(observed.crd, storage).served:
        return None
    return Finding(reason="StorageNotServed", message=f"set served: true on {storage}, the storage version")


def fields_lost(observed: Observed) -> Finding | None:
    """Without conversion every write prunes what the version written through, or the storage version, does not know."""
    crd = observed.crd
    if crd.strategy != "None":
        return None
    storage = crd_model.version(crd, crd_model.storage_version(crd))
    for version in crd.versions:
        if version.storage or not (version.served or version.name in crd.stored_versions):
            continue
        if lost := differences.between(version.schema, storage.schema):
            shown = _and(lost[:FIELDS_SHOWN]) + (f" and {len(lost) - FIELDS_SHOWN} more" if lost[FIELDS_SHOWN:] else "")
            return Finding(
                reason="FieldsLost",
                message=f"{version.name} and {storage.name} differ in {shown}, and without a conversion any write "
                f"drops what the other version has: set spec.conversion to a webhook before anything else",
                command="instar serve",
            )
    return None


# --- the life of a version --------------------------------------------------------------------------------------------


def storage_not_listed(observed: Observed) -> Finding | None:
    """The API server always lists the storage version; if it is missing, somebody wrote the list by hand."""
    crd = observed.crd
    storage = crd_model.storage_version(crd)
    if storage in crd.stored_versions:
        return None
    return Finding(
        reason="StorageVersionNotListed",
        message=f"stored versions do not list {storage}, the storage version: the list was written by hand and says "
        f"nothing; prove what is stored",
        command=_migrate(observed),
    )


def old_versions_stored(observed: Observed) -> Finding | None:
    """While an old version is listed, objects may be stored at it, and it cannot be removed."""
    crd = observed.crd
    known = {version.name for version in crd.versions}
    old = [name for name in crd.stored_versions if name in known and name != crd_model.storage_version(crd)]
    if not old or crd.terminating:
        return None
    return Finding(
        reason="OldVersionsStored", message=f"stored versions list {_and(old)} too", command=_migrate(observed)
    )


def newer_version(observed: Observed) -> Finding | None:
    """A preferred version that is served, while objects are stored at a lesser one."""
    crd = observed.crd
    storage = crd_model.storage_version(crd)
    best = next(iter(versions.by_priority(crd_model.served_versions(crd))), storage)
    if best == storage or versions.by_priority((best, storage))[0] == storage:
        return None
    return Finding(
        reason="NewerVersionServed",
        message=f"objects are stored at {storage} although {best} is served: set storage: true on {best}, then",
        command=_migrate(observed),
    )


def old_version_served(observed: Observed) -> Finding | None:
    """Nothing is stored at it any more: only clients keep it."""
    old = [version.name for version in _settled(observed) if version.served]
    if not old:
        return None
    are = "is" if len(old) == 1 else "are"
    return Finding(
        reason="OldVersionServed",
        message=f"stored at {crd_model.storage_version(observed.crd)} only, {_and(old)} {are} still served: when no "
        f"client needs it, set served: false",
        command=f"kubectl edit crd {observed.crd.name}",
    )


def old_version_left(observed: Observed) -> Finding | None:
    """Neither stored nor served; but managedFields that name it would break server-side apply once it is gone."""
    old = [version.name for version in _settled(observed) if not version.served]
    if not old:
        return None
    are = "is" if len(old) == 1 else "are"
    return Finding(
        reason="OldVersionLeft",
        message=f"{_and(old)} {are} neither stored nor served: clear managedFields of it, then remove it from "
        f"spec.versions",
        command=_migrate(observed),
    )


def forbidden(observed: Observed) -> Finding | None:
    """Objects that may not be seen are not zero objects; last, because it hides nothing that the CRD itself says."""
    if not observed.forbidden:
        return None
    return Finding(reason="Forbidden", message="this account may not list its objects: ask for list and get of them")


def _settled(observed: Observed) -> tuple[crd_model.Version, ...]:
    """The older versions of a CRD whose stored versions are exactly the storage version."""
    crd = observed.crd
    storage = crd_model.storage_version(crd)
    if crd.stored_versions != (storage,) or crd.terminating:
        return ()
    return tuple(version for version in crd.versions if versions.is_older(version.name, storage))


def _migrate(observed: Observed) -> str:
    return f"instar migrate {observed.crd.name}"


def _and(names: Sequence[str] | dict[str, None]) -> str:
    *first, last = list(names)
    return f"{', '.join(first)} and {last}" if first else last


RULES: tuple[Callable[[Observed], Finding | None], ...] = (
    terminating,
    not_established,
    stored_version_removed,
    unreadable,
    unlisted,
    other_migration,
    storage_not_served,
    fields_lost,
    storage_not_listed,
    old_versions_stored,
    newer_version,
    old_version_served,
    old_version_left,
    forbidden,
)
