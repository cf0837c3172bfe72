"""Reads every object back, three ways, and holds it against the ledger.

The bytes in etcd say what is stored, whatever an API server makes of it; lists at each version say what clients get.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import msgspec

from instar.demo import compare, ledger, tenant
from instar.kube import client as client_module
from instar.kube import etcd as etcd_module
from instar.model import resource as resource_model

__all__ = ["Verdict", "carrying", "judge"]

Objects = dict[resource_model.ObjectKey, Mapping[str, Any]]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """How many objects were compared, at which places, and every value that is not what was written."""

    compared: int
    places: tuple[str, ...]
    losses: tuple[compare.Loss, ...]


async def judge(
    client: client_module.Client,
    etcd: etcd_module.Etcd,
    resources: Mapping[str, resource_model.Resource],
    book: ledger.Ledger,
    *,
    stored: str,
) -> Verdict:
    """Compare what is stored (all of it must be at ``stored``) and what each of ``resources`` serves."""
    expected = list(book.expected())
    found = [compare.compare(_view(stored, "in etcd"), expected, await _etcd(etcd, resources[stored]))]
    for version, resource in resources.items():
        found.append(compare.compare(_view(version, "served"), expected, await _list(client, resource)))
    places = ("in etcd", *(f"at {version}" for version in resources))
    return Verdict(compared=len(expected), places=places, losses=tuple(compare.merge(*found)))


async def carrying(etcd: etcd_module.Etcd, resource: resource_model.Resource) -> int:
    """How many stored objects have annotations in which a conversion carries what their version cannot say."""
    objects = (await _etcd(etcd, resource)).values()
    return sum(any(map(tenant.is_carried, found["metadata"].get("annotations") or {})) for found in objects)


def _view(version: str, how: str) -> compare.View:
    return compare.View(
        where=f"{version} ({how})",
        expected=lambda state: tenant.expected(version, dict(state)),
        seen=tenant.seen,
        names=tenant.field,
    )


async def _etcd(etcd: etcd_module.Etcd, resource: resource_model.Resource) -> Objects:
    return {
        resource_model.ObjectKey(namespace=entry.namespace, name=entry.name): msgspec.json.decode(entry.value)
        async for entry in etcd.stored(resource)
    }


async def _list(client: client_module.Client, resource: resource_model.Resource) -> Objects:
    found: Objects = {}
    async for page in client.pages(resource):
        for item in page.items:
            document = msgspec.json.decode(item)
            metadata = document["metadata"]
            key = resource_model.ObjectKey(namespace=metadata.get("namespace", ""), name=metadata["name"])
            found[key] = document
    return found
