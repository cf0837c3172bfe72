"""One version's way to the API server: requests that are tried again where the answer says so, and are counted.

409 means that somebody else wrote in between: read again, and write again. 429 and 503 mean that the server did not
take the request: wait as long as it says. Nothing else is ever sent twice, so an acknowledged write is one write.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from instar import errors
from instar.kube import client as client_module
from instar.model import resource as resource_model

__all__ = ["Caller"]

TRY_AGAIN = (429, 503)
WAIT_SECONDS = 1.0
CONTENT_TYPES = {
    "json": "application/json-patch+json",
    "patch": "application/merge-patch+json",
    "apply": "application/apply-patch+yaml",
}


class Caller:
    """Requests about one resource at one version; ``retried`` counts answers that asked to try again, by code."""

    def __init__(
        self,
        client: client_module.Client,
        resource: resource_model.Resource,
        *,
        manager: str,
        patience_seconds: float = 60.0,
    ) -> None:
        self.resource = resource
        self.manager = manager
        self.retried: Counter[str] = Counter()
        self._client = client
        self._patience_seconds = patience_seconds

    async def get(self, key: resource_model.ObjectKey) -> dict[str, Any]:
        """One object, read by name: the API server reads etcd for it."""
        return await self._send("GET", key)

    async def create(self, namespace: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """POST; answers to writes are the object's metadata as it was stored."""
        place = resource_model.ObjectKey(namespace=namespace, name="")
        return await self._send("POST", place, body, fieldManager=self.manager)

    async def update(self, key: resource_model.ObjectKey, body: Mapping[str, Any]) -> dict[str, Any]:
        """PUT of what was read, changed; guarded by its resource version, so 409 is for the caller."""
        return await self._send("PUT", key, body, fieldManager=self.manager)

    async def patch(self, key: resource_model.ObjectKey, patch: Any) -> dict[str, Any]:
        """Merge patch."""
        return await self._send("PATCH", key, patch, "patch", fieldManager=self.manager)

    async def apply(self, key: resource_model.ObjectKey, body: Mapping[str, Any]) -> dict[str, Any]:
        """Server-side apply that takes over what others own."""
        return await self._send("PATCH", key, body, "apply", fieldManager=f"{self.manager}-apply", force="true")

    async def delete(self, key: resource_model.ObjectKey) -> None:
        """DELETE by name."""
        await self._send("DELETE", key)

    async def _send(
        self, method: str, key: resource_model.ObjectKey, body: Any = None, kind: str = "", **params: str
    ) -> dict[str, Any]:
        path = resource_model.path(self.resource, key.namespace, key.name)
        encoded = msgspec.json.encode(body) if body is not None else None
        until = asyncio.get_running_loop().time() + self._patience_seconds
        while True:
            try:
                answer = await self._client.request(
                    method,
                    path,
                    params=params or None,
                    body=encoded,
                    content_type=CONTENT_TYPES.get(kind, "application/json"),
                    accept=client_module.METADATA if method != "GET" else "application/json",
                    retry=False,
                )
                decoded: dict[str, Any] = msgspec.json.decode(answer.body)
                return decoded
            except errors.ApiError as error:
                if error.code in (409, *TRY_AGAIN):
                    self.retried[str(error.code)] += 1
                if error.code not in TRY_AGAIN or asyncio.get_running_loop().time() > until:
                    raise
                await asyncio.sleep(error.retry_after_seconds or WAIT_SECONDS)
