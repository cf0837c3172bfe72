"""One migration of a CRD at a time: a Lease, renewed while the run lives, taken over when its holder is dead.

Whether a holder is alive is judged by whether the lease changes while one looks, never by comparing clocks of two
machines. A run that was killed leaves its lease behind; the next one waits for the lease's duration and goes on.
Source: https://kubernetes.io/docs/concepts/architecture/leases/
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import os
import secrets
import socket
from typing import Any

from instar import errors
from instar.kube import client as kube_client
from instar.model import resource as resource_model

__all__ = ["Lease"]

_LEASES = resource_model.Resource(
    group="coordination.k8s.io", version="v1", plural="leases", kind="Lease", namespaced=True
)


class Lease:
    """The lease of one CRD (by uid, so that a re-created one has its own)."""

    def __init__(self, client: kube_client.Client, namespace: str, uid: str, seconds: float) -> None:
        self._client = client
        self._namespace = namespace
        self._name = f"instar-migrate-{uid}"
        self._seconds = seconds
        self.identity = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self._held: dict[str, Any] | None = None
        self._renewing: asyncio.Task[None] | None = None

    async def take(self) -> str:
        """Empty if the lease is ours now; else who holds it."""
        try:
            found = await self._read()
            if found is None:
                return await self._create()
            holder = _holder(found)
            if holder and await self._alive(found):
                return holder
            return await self._write(found)
        except errors.ApiError as error:
            if error.code in (401, 403):
                message = f"{error.message}: grant get, create and update of leases in namespace {self._namespace}"
                raise errors.ApiError(message, code=error.code, reason=error.reason) from error
            raise

    async def check(self) -> bool:
        """Whether the lease is still ours, as etcd has it."""
        found = await self._read()
        return found is not None and _holder(found) == self.identity

    async def release(self) -> None:
        """Hand it back, so that the next run need not wait."""
        if self._renewing is None:
            return
        self._renewing.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._renewing
        self._renewing = None
        with contextlib.suppress(errors.InstarError):
            found = await self._read()  # a renewal that was under way may have changed it
            if found is not None and _holder(found) == self.identity:
                await self._client.delete(_LEASES, self._name, self._namespace, body=_precondition(found))

    async def _read(self) -> dict[str, Any] | None:
        try:
            return await self._client.get(_LEASES, self._name, self._namespace)
        except errors.ApiError as error:
            if error.code == 404:
                return None
            raise

    async def _create(self) -> str:
        body = {
            "apiVersion": _LEASES.api_version,
            "kind": "Lease",
            "metadata": {"name": self._name, "namespace": self._namespace},
            "spec": self._spec(),
        }
        try:
            self._keep(await self._client.create(_LEASES, body, self._namespace))
        except errors.ApiError as error:
            if error.code == 409:
                return "it took the lease at this very moment"
            raise
        return ""

    async def _alive(self, found: dict[str, Any]) -> bool:
        """Whether the holder renews it within its duration."""
        left = float((found.get("spec") or {}).get("leaseDurationSeconds") or self._seconds)
        while left > 0:
            pause = min(left, max(self._seconds / 10, 0.1))
            await asyncio.sleep(pause)
            left -= pause
            now = await self._read()
            if now is None or not _holder(now):
                found.clear()
                found.update(now or {})
                return False
            if now["metadata"]["resourceVersion"] != found["metadata"]["resourceVersion"]:
                return True
        return False

    async def _write(self, found: dict[str, Any]) -> str:
        if not found:
            return await self._create()
        try:
            body = {**found, "spec": self._spec()}
            self._keep(await self._client.update(_LEASES, body, self._name, self._namespace))
        except errors.ApiError as error:
            if error.code in (404, 409):
                return "it took the lease at this very moment"
            raise
        return ""

    def _keep(self, held: dict[str, Any]) -> None:
        self._held = held
        self._renewing = asyncio.create_task(self._renew())

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._seconds / 4)
            try:
                body = {**(self._held or {}), "spec": self._spec()}
                self._held = await self._client.update(_LEASES, body, self._name, self._namespace)
            except errors.ApiError as error:
                if error.code in (404, 409):
                    return
            except errors.UnreachableError:
                continue

    def _spec(self) -> dict[str, Any]:
        now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        seconds = max(1, round(self._seconds))
        return {"holderIdentity": self.identity, "leaseDurationSeconds": seconds, "renewTime": now, "acquireTime": now}


def _holder(lease: dict[str, Any]) -> str:
    return str((lease.get("spec") or {}).get("holderIdentity") or "")


def _precondition(held: dict[str, Any] | None) -> dict[str, Any]:
    metadata = (held or {}).get("metadata") or {}
    options = {"uid": metadata.get("uid"), "resourceVersion": metadata.get("resourceVersion")}
    return {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": options}
