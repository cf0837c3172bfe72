"""Which API servers there are, and since when each of them encodes at the new storage version.

A server that missed the flip writes the old version when it wakes, so every known one is asked, over and over: one miss
and its time of being steady begins anew. Known are those that a person names; else the endpoints of the ``kubernetes``
Service; else the kubeconfig's. Where no endpoint can be reached from here (they are behind a load balancer), many fresh
connections through the kubeconfig's address stand in for them. Every API server holds an identity lease: more leases
than known servers means that one is not known.
Source: https://kubernetes.io/docs/concepts/architecture/leases/#api-server-identity
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from instar import errors
from instar.kube import client as kube_client
from instar.migration import evidence
from instar.model import crd as crd_model
from instar.model import resource as resource_model

__all__ = ["ApiServers"]

PROBE_SECONDS = 5.0
EVERY_SECONDS = 1.0
SAMPLES = 16

ENDPOINTS = "endpoints of the kubernetes Service"
SAMPLED = f"sampled: {SAMPLES} fresh connections at a time"

_SLICES = resource_model.Resource(
    group="discovery.k8s.io", version="v1", plural="endpointslices", kind="EndpointSlice", namespaced=True
)
_LEASES = resource_model.Resource(
    group="coordination.k8s.io", version="v1", plural="leases", kind="Lease", namespaced=True
)


class ApiServers:
    """Asks all known API servers for a CRD's storageVersionHash, in the background as well."""

    def __init__(self, client: kube_client.Client, named: Sequence[str]) -> None:
        self._client = client
        self._named = tuple(url.rstrip("/") for url in named) or (client.servers if len(client.servers) > 1 else ())
        self._steady: dict[str, float] = {}
        self._watching: asyncio.Task[None] | None = None
        self._answered = False

    async def ask(self, crd: crd_model.Crd, *, fresh: bool) -> evidence.ServersSeen:
        """What every known server says now; ``fresh`` forgets since when."""
        if fresh:
            await self.close()
            self._steady.clear()
        urls, source = await self._known()
        seen = await asyncio.gather(*(self._probe(url, crd) for url in urls))
        self._answered = self._answered or any(server.hash is not None for server in seen)
        if source == ENDPOINTS and not self._answered:
            urls, source = self._client.servers[:1], SAMPLED
            seen = await asyncio.gather(*(self._probe(url, crd, sampled=True) for url in urls))
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch(crd, sampled=source == SAMPLED))
        return evidence.ServersSeen(servers=tuple(seen), source=source, leases=await self._leases(source))

    async def close(self) -> None:
        """Stop asking."""
        if self._watching is not None:
            self._watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._watching
            self._watching = None

    async def _watch(self, crd: crd_model.Crd, *, sampled: bool) -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            await asyncio.gather(*(self._probe(url, crd, sampled=sampled) for url in list(self._steady)))

    async def _probe(self, url: str, crd: crd_model.Crd, *, sampled: bool = False) -> evidence.ServerSeen:
        shown: str | None = None
        error = ""
        try:
            asking = self._sample(url, crd) if sampled else self._hash(self._client, url, crd)
            shown = await asyncio.wait_for(asking, PROBE_SECONDS)
        except TimeoutError:
            error = f"no answer within {PROBE_SECONDS:.0f} s"
        except errors.ApiError as failure:
            if failure.code in (401, 403):
                raise
            error = failure.message
        except errors.UnreachableError as failure:
            error = failure.message
        if shown == crd_model.storage_version_hash(crd):
            self._steady.setdefault(url, time.monotonic())
        else:
            self._steady.pop(url, None)
        return evidence.ServerSeen(url=url, hash=shown, error=error, steady_since=self._steady.get(url))

    async def _sample(self, url: str, crd: crd_model.Crd) -> str:
        """What all of many fresh connections show; the first that differs from what is wanted, if one does."""

        async def one() -> str:
            async with kube_client.Client(self._client.config, servers=[url], connections=1) as fresh:
                return await self._hash(fresh, url, crd)

        shown = await asyncio.gather(*(one() for _ in range(SAMPLES)))
        wanted = crd_model.storage_version_hash(crd)
        return next((hash for hash in shown if hash != wanted), wanted)

    async def _hash(self, client: kube_client.Client, url: str, crd: crd_model.Crd) -> str:
        try:
            entries = await client.discover(crd.group, crd_model.storage_version(crd), server=url)
        except errors.ApiError as error:
            if error.code == 404:
                return ""
            raise
        return next((str(entry.get("storageVersionHash", "")) for entry in entries if entry["name"] == crd.plural), "")

    # --- which there are ----------------------------------------------------------------------------------------------

    async def _known(self) -> tuple[Sequence[str], str]:
        if self._named:
            return self._named, "named"
        found = await self._endpoints()
        if found:
            return found, ENDPOINTS
        return self._client.servers, "kubeconfig"

    async def _endpoints(self) -> tuple[str, ...]:
        try:
            page = await self._client.list_page(
                _SLICES, "default", params={"labelSelector": "kubernetes.io/service-name=kubernetes"}
            )
        except errors.ApiError as error:
            if error.code == 403:
                raise errors.ApiError(
                    f"{error.message}: grant `list endpointslices` in namespace default, or name each API server with "
                    "--apiserver",
                    code=error.code,
                    reason=error.reason,
                ) from error
            raise
        return tuple(dict.fromkeys(url for item in page.items for url in _addresses(msgspec.json.decode(item))))

    async def _leases(self, source: str) -> int | None:
        """How many API servers hold an identity lease; None where a person vouches for the list, or it is not ours."""
        if source in ("named", SAMPLED):
            return None
        try:
            page = await self._client.list_page(
                _LEASES, "kube-system", params={"labelSelector": "apiserver.kubernetes.io/identity=kube-apiserver"}
            )
        except errors.ApiError:
            return None
        now = datetime.datetime.now(datetime.UTC)
        return sum(_live(msgspec.json.decode(item), now) for item in page.items)


def _addresses(endpoint_slice: dict[str, Any]) -> list[str]:
    ports = [entry["port"] for entry in endpoint_slice.get("ports") or () if entry.get("name") in ("https", "", None)]
    hosts = [host for endpoint in endpoint_slice.get("endpoints") or () for host in endpoint.get("addresses") or ()]
    return [f"https://{f'[{host}]' if ':' in host else host}:{port}" for host in hosts for port in ports]


def _live(lease: dict[str, Any], now: datetime.datetime) -> bool:
    """Not expired by its own word. A paused server's lease lives on for an hour, which is as it should be here."""
    spec = lease.get("spec") or {}
    renewed = spec.get("renewTime")
    if not renewed:
        return False
    age = now - datetime.datetime.fromisoformat(renewed.replace("Z", "+00:00"))
    return age.total_seconds() < float(spec.get("leaseDurationSeconds") or 3600)
