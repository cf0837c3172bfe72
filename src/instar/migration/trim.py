"""The one step that cannot be taken back: taking versions out of ``status.storedVersions``.

The API server checks nothing there (measured: a list that drops the storage version, names nonsense or repeats itself
is taken with 200), so the patch carries its own locks: it lands only on the CRD with this uid, this generation and this
old list. A false ``test`` is answered 422 and nothing is written.
Source: https://datatracker.ietf.org/doc/html/rfc6902#section-4.6
"""

from __future__ import annotations

from typing import Any

from instar.migration import evidence
from instar.model import crd as crd_model

__all__ = ["patch", "sound", "target"]


def target(crd: crd_model.Crd) -> tuple[str, ...]:
    """The list after the trim: the storage version, which is all that was proved to be present."""
    return (crd_model.storage_version(crd),)


def sound(crd: crd_model.Crd, new: tuple[str, ...], proved_absent: frozenset[str]) -> evidence.Verdict:
    """Whether the new list may be written; every objection is named."""
    known = {entry.name for entry in crd.versions}
    removed = [name for name in dict.fromkeys(crd.stored_versions) if name not in new]
    objections = []
    if not new:
        objections.append("it would be empty")
    if crd_model.storage_version(crd) not in new:
        objections.append(f"it lacks the storage version {crd_model.storage_version(crd)}")
    if len(set(new)) != len(new):
        objections.append("it names a version twice")
    objections += [f"{name} is not in spec.versions" for name in new if name not in known]
    objections += [f"{name} was not proved absent" for name in removed if name not in proved_absent]
    reason = f"{crd.name}: status.storedVersions {list(new)}: " + ", ".join(objections) if objections else ""
    return evidence.Verdict(fact="trim_sound", holds=not objections, reason=reason)


def patch(crd: crd_model.Crd, new: tuple[str, ...]) -> list[dict[str, Any]]:
    """The JSON patch of ``/status`` with its locks."""
    return [
        {"op": "test", "path": "/metadata/uid", "value": crd.uid},
        {"op": "test", "path": "/metadata/generation", "value": crd.generation},
        {"op": "test", "path": "/status/storedVersions", "value": list(crd.stored_versions)},
        {"op": "replace", "path": "/status/storedVersions", "value": list(new)},
    ]
