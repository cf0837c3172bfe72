"""A namespace made and deleted where no controller manager runs.

Namespaces are emptied by a controller that a disposable control plane does not have: deleted there, one would stay
``Terminating`` for ever. So what is in it is deleted by kind, then its finalizer is given up as that controller would.
Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

from instar import errors
from instar.kube import client as kube_client
from instar.model import resource

__all__ = ["create", "delete"]

NAMESPACES = resource.Resource(group="", version="v1", plural="namespaces", kind="Namespace", namespaced=False)
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


async def create(client: kube_client.Client, name: str) -> None:
    """Make a namespace."""
    await client.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


async def delete(client: kube_client.Client, name: str) -> None:
    """Delete a namespace and what is in it; a kind that cannot be deleted (its webhook is gone) is left behind."""
    # Deleted first: a namespace that terminates takes no new objects.
    await client.delete(NAMESPACES, name)
    await asyncio.gather(*[_empty(client, kind, name) for kind in await _kinds(client)])
    namespace = await client.get(NAMESPACES, name)
    namespace["spec"] = {"finalizers": []}
    await client.request("PUT", resource.path(NAMESPACES, "", name, "finalize"), body=json.dumps(namespace).encode())


async def _kinds(client: kube_client.Client) -> list[resource.Resource]:
    answers = [await client.request("GET", root, accept=_DISCOVERY) for root in ("/api", "/apis")]
    return [kind for answer in answers for kind in _deletable(json.loads(answer.body))]


def _deletable(discovery: dict[str, Any]) -> Iterator[resource.Resource]:
    for group in discovery.get("items", []):
        for version in group["versions"][:1]:
            for entry in version.get("resources", []):
                if entry["scope"] == "Namespaced" and "deletecollection" in entry["verbs"]:
                    yield resource.Resource(
                        group=group["metadata"].get("name", ""),
                        version=version["version"],
                        plural=entry["resource"],
                        kind=entry["responseKind"]["kind"],
                        namespaced=True,
                    )


async def _empty(client: kube_client.Client, kind: resource.Resource, namespace: str) -> None:
    try:
        await client.request("DELETE", resource.path(kind, namespace, "", ""), params={"timeoutSeconds": "5"})
    except errors.ClusterError:
        return
