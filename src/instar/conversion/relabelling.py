"""The conversion of a CRD with the strategy None: the API server changes the apiVersion, and nothing else.

That is right where every version has the same schema (``schema.identical``); then nothing is ever carried.
"""

from __future__ import annotations

from typing import Any

from instar.conversion import definition
from instar.model import crd as crd_model

__all__ = ["relabelling"]


def relabelling(crd: crd_model.Crd) -> definition.Conversion:
    """A conversion between all versions of the CRD, of which there are at least two, around the storage version."""
    hub = crd_model.storage_version(crd)
    spokes = tuple(
        definition.Spoke(version=version.name, to_hub=_relabelled, from_hub=_relabelled)
        for version in crd.versions
        if version.name != hub
    )
    return definition.Conversion(group=crd.group, kind=crd.kind, hub=hub, spokes=spokes)


def _relabelled(obj: dict[str, Any]) -> dict[str, Any]:
    return obj
