"""The CRD at each stage of a version's life: shipped, expanded, flipped, unserved, removed.

::

             v1alpha1          v1
    ship     served storage    -
    expand   served storage    served            the conversion webhook is in place before
    flip     served            served storage
    unserve  -                 served storage    only when nothing is stored at v1alpha1
    remove                     served storage    only when no managedFields name v1alpha1

Each stage is a merge patch of ``spec``: lists are replaced whole, everything else stays. A stage has begun when
discovery says so at every version: before that, an API server may still work as it did.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from instar import errors
from instar.kube import client as client_module
from instar.model import crd as crd_model

__all__ = ["NO_CONVERSION", "change", "create", "shipped", "versions"]

NO_CONVERSION = {"spec": {"conversion": {"strategy": "None", "webhook": None}}}
EFFECT_SECONDS = 30.0
POLL_SECONDS = 0.05


def shipped(document: Mapping[str, Any], old: str) -> dict[str, Any]:
    """The CRD as it was first released: the old version alone, served and stored, no conversion."""
    spec = {key: value for key, value in document["spec"].items() if key != "conversion"}
    spec["versions"] = [_entry(document, old, served=True, storage=True)]
    return {
        "apiVersion": document["apiVersion"],
        "kind": document["kind"],
        "metadata": {"name": document["metadata"]["name"]},
        "spec": spec,
    }


def versions(document: Mapping[str, Any], known: Sequence[str], served: Sequence[str], storage: str) -> dict[str, Any]:
    """A merge patch that sets the versions: ``known`` are listed, ``served`` of them served, one of them stored."""
    entries = [_entry(document, name, served=name in served, storage=name == storage) for name in known]
    return {"spec": {"versions": entries}}


def _entry(document: Mapping[str, Any], name: str, *, served: bool, storage: bool) -> dict[str, Any]:
    entry = next(entry for entry in document["spec"]["versions"] if entry["name"] == name)
    return {**entry, "served": served, "storage": storage}


async def create(client: client_module.Client, document: Mapping[str, Any]) -> crd_model.Crd:
    """Create the CRD and wait until it is served."""
    return await _begun(client, await client.create(crd_model.RESOURCE, document))


async def change(client: client_module.Client, name: str, patch: Mapping[str, Any]) -> crd_model.Crd:
    """Merge a patch into the CRD and wait until discovery shows it."""
    return await _begun(client, await client.patch(crd_model.RESOURCE, name, patch))


async def _begun(client: client_module.Client, document: Mapping[str, Any]) -> crd_model.Crd:
    wanted = crd_model.parse(document)
    until = asyncio.get_running_loop().time() + EFFECT_SECONDS
    while not all([await _shows(client, wanted, version.name) for version in wanted.versions]):
        if asyncio.get_running_loop().time() > until:
            raise errors.FindingError(f"CRD {wanted.name}: discovery shows no change within {EFFECT_SECONDS:.0f} s")
        await asyncio.sleep(POLL_SECONDS)
    return crd_model.parse(await client.get(crd_model.RESOURCE, wanted.name))


async def _shows(client: client_module.Client, wanted: crd_model.Crd, version: str) -> bool:
    try:
        entries = await client.discover(wanted.group, version)
    except errors.ApiError as error:
        if error.code not in (404, 503):
            raise
        entries = []
    hashes = [entry.get("storageVersionHash") for entry in entries if entry["name"] == wanted.plural]
    served = version in crd_model.served_versions(wanted)
    return hashes == ([crd_model.storage_version_hash(wanted)] if served else [])
