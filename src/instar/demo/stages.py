"""The CRD at each stage of a version's life: shipped, expanded, flipped, unserved, removed.

::

             v1alpha1          v1
    ship     served storage    -
    expand   served storage    served            the conversion webhook is in place before
    flip     served            served storage
    unserve  -                 served storage    only when nothing is stored at v1alpha1
    remove                     served storage    only when no managedFields name v1alpha1

Each stage is a merge patch of ``spec``: lists are replaced whole, everything else stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["NO_CONVERSION", "shipped", "versions", "webhook"]

NO_CONVERSION = {"spec": {"conversion": {"strategy": "None", "webhook": None}}}


def shipped(document: Mapping[str, Any], old: str) -> dict[str, Any]:
    """The CRD as it was first released: the old version alone, served and stored, no conversion."""
    spec = {key: value for key, value in document["spec"].items() if key != "conversion"}
    spec["versions"] = [_entry(document, old, served=True, storage=True)]
    metadata = {key: value for key, value in document["metadata"].items() if key != "annotations"}
    return {"apiVersion": document["apiVersion"], "kind": document["kind"], "metadata": metadata, "spec": spec}


def versions(document: Mapping[str, Any], served: Sequence[str], storage: str, known: Sequence[str]) -> dict[str, Any]:
    """A merge patch that sets the versions: ``known`` are listed, ``served`` of them served, one of them stored."""
    entries = [_entry(document, name, served=name in served, storage=name == storage) for name in known]
    return {"spec": {"versions": entries}}


def webhook(url: str, ca_bundle: str) -> dict[str, Any]:
    """A merge patch that has objects converted at ``url``; ``ca_bundle`` is base64 of the PEM."""
    client = {"url": url, "caBundle": ca_bundle}
    return {
        "spec": {
            "conversion": {
                "strategy": "Webhook",
                "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]},
            }
        }
    }


def _entry(document: Mapping[str, Any], name: str, *, served: bool, storage: bool) -> dict[str, Any]:
    entry = next(entry for entry in document["spec"]["versions"] if entry["name"] == name)
    return {**entry, "served": served, "storage": storage}
