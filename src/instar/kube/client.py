"""The verbs of the Kubernetes API over one transport: objects are dicts, items of lists stay the bytes they were.

A list item goes back as it came: ``list_page`` gives each one as ``msgspec.Raw``, a slice of the answer, so that a
writer neither pays for decoding nor changes a number's spelling. ``metadata_only`` asks for PartialObjectMetadata.
Source: https://kubernetes.io/docs/reference/using-api/api-concepts/
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
import orjson

from instar import errors
from instar.kube import bodies, failures, kubeconfig, transport
from instar.model import resource as resource_model

__all__ = ["Client", "Event", "Page"]

JSON = "application/json"
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
PATCH_TYPES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "apply": "application/apply-patch+yaml",
}
FIELD_MANAGER = "instar"
WATCH_SECONDS = 600

Page = bodies.Page
Resource = resource_model.Resource


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """A watch event: ADDED, MODIFIED, DELETED or BOOKMARK."""

    type: str
    object: dict[str, Any]


class Client:
    """One cluster; an async context manager that holds one session to its API servers.

    ``servers`` are base URLs of API servers of that cluster (the kubeconfig's by default); requests go to the first
    unless ``server`` says otherwise. ``connections`` bounds the requests in flight, ``deadline_seconds`` one request
    with all its waiting. Raises ApiError, UnreachableError and KubeconfigError, nothing else.
    """

    def __init__(
        self,
        config: kubeconfig.Config,
        *,
        servers: Sequence[str] = (),
        connections: int = 64,
        deadline_seconds: float = 60.0,
    ) -> None:
        self.config = config
        self._transport = transport.Transport(config, servers, connections, deadline_seconds)
        self.servers = self._transport.servers
        self.request = self._transport.request

    async def __aenter__(self) -> Client:
        await self._transport.__aenter__()
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._transport.__aexit__(*failure)

    # --- reads --------------------------------------------------------------------------------------------------------

    async def get(
        self,
        resource: Resource,
        name: str,
        namespace: str = "",
        *,
        subresource: str = "",
        metadata_only: bool = False,
        params: Mapping[str, Any] | None = None,
        server: str | None = None,
    ) -> dict[str, Any]:
        """One object; without ``resourceVersion`` in ``params`` the API server reads etcd for it."""
        path = resource_model.path(resource, namespace, name, subresource)
        accept = METADATA if metadata_only else JSON
        return self._decode(await self.request("GET", path, params=params, accept=accept, server=server), server)

    async def list_page(
        self,
        resource: Resource,
        namespace: str = "",
        *,
        limit: int = 500,
        continue_token: str = "",
        metadata_only: bool = False,
        params: Mapping[str, Any] | None = None,
        server: str | None = None,
        retry: bool = True,
    ) -> Page:
        """One page of a list (all namespaces if ``namespace`` is empty); its items as the bytes they were.

        Beware: on a warm API server a list comes from the watch cache, not from etcd.
        """
        query: dict[str, Any] = {"limit": limit} | dict(params or {})
        if continue_token:
            query["continue"] = continue_token
        path = resource_model.path(resource, namespace)
        accept = METADATA_LIST if metadata_only else JSON
        answer = await self.request("GET", path, params=query, accept=accept, server=server, retry=retry)
        try:
            return bodies.decode_page(answer.body)
        except msgspec.DecodeError as error:
            raise self._no_json(server, "no list", error) from error

    async def pages(
        self,
        resource: Resource,
        namespace: str = "",
        *,
        limit: int = 500,
        metadata_only: bool = False,
        params: Mapping[str, Any] | None = None,
        server: str | None = None,
    ) -> AsyncIterator[Page]:
        """Every page of a list, one after the other; a token that expired midway raises ApiError 410."""
        token = ""
        while True:
            page = await self.list_page(
                resource,
                namespace,
                limit=limit,
                continue_token=token,
                metadata_only=metadata_only,
                params=params,
                server=server,
            )
            yield page
            if not (token := page.continue_token):
                return

    async def watch(
        self,
        resource: Resource,
        namespace: str = "",
        *,
        resource_version: str,
        metadata_only: bool = False,
        bookmarks: bool = True,
        timeout_seconds: int | None = None,
        params: Mapping[str, Any] | None = None,
        server: str | None = None,
    ) -> AsyncIterator[Event]:
        """Events after ``resource_version`` until the server ends the watch, which it does at every change of a CRD.

        Raises ApiError with code 410 and reason Expired when the resource version is too old: list and watch again.
        """
        seconds = timeout_seconds or WATCH_SECONDS
        query: dict[str, Any] = {"watch": "1", "resourceVersion": resource_version, "timeoutSeconds": seconds}
        if bookmarks:
            query["allowWatchBookmarks"] = "true"
        path = resource_model.path(resource, namespace)
        accept = METADATA if metadata_only else JSON
        stream = self._transport.stream(
            path, query | dict(params or {}), accept=accept, server=server, read_seconds=seconds + 30.0
        )
        async with stream as chunks:
            async for line in bodies.lines(chunks):
                yield self._event(line, server)

    def _event(self, line: bytes, server: str | None) -> Event:
        try:
            document = orjson.loads(line)
            kind, value = document["type"], document["object"]
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise self._no_json(server, "no watch event", error) from error
        if kind == "ERROR":
            raise failures.status_error(server or self.servers[0], self.config, value)
        return Event(type=kind, object=value)

    async def discover(self, group: str, version: str, *, server: str | None = None) -> list[dict[str, Any]]:
        """The APIResource entries of one group and version; the core group is the empty string."""
        path = f"/apis/{group}/{version}" if group else f"/api/{version}"
        found = self._decode(await self.request("GET", path, server=server), server)
        return list(found.get("resources") or ())

    async def server_version(self, *, server: str | None = None) -> str:
        """The API server's version, as ``v1.37.2``."""
        return str(self._decode(await self.request("GET", "/version", server=server), server).get("gitVersion", ""))

    # --- writes -------------------------------------------------------------------------------------------------------

    async def create(
        self,
        resource: Resource,
        body: Mapping[str, Any] | bytes,
        namespace: str = "",
        *,
        dry_run: bool = False,
        field_manager: str = "",
        server: str | None = None,
    ) -> dict[str, Any]:
        """Create an object (POST); the object as the API server stored it."""
        path = resource_model.path(resource, namespace)
        params = _write_params(dry_run=dry_run, field_manager=field_manager)
        return await self._write("POST", path, bodies.encode(body), params=params, server=server)

    async def update(
        self,
        resource: Resource,
        body: Mapping[str, Any] | bytes,
        name: str,
        namespace: str = "",
        *,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        metadata_only: bool = False,
        server: str | None = None,
    ) -> dict[str, Any]:
        """Replace an object or subresource (PUT); ``metadata_only`` asks for a small answer."""
        path = resource_model.path(resource, namespace, name, subresource)
        params = _write_params(dry_run=dry_run, field_manager=field_manager)
        accept = METADATA if metadata_only else JSON
        return await self._write("PUT", path, bodies.encode(body), params=params, accept=accept, server=server)

    async def patch(
        self,
        resource: Resource,
        name: str,
        patch: Any,
        namespace: str = "",
        *,
        patch_type: Literal["merge", "json", "apply"] = "merge",
        subresource: str = "",
        field_manager: str = "",
        force: bool = False,
        dry_run: bool = False,
        metadata_only: bool = False,
        server: str | None = None,
    ) -> dict[str, Any]:
        """Merge patch (dict), JSON patch (list of operations) or server-side apply (dict); bytes go out as they are."""
        path = resource_model.path(resource, namespace, name, subresource)
        if patch_type == "apply":
            field_manager = field_manager or FIELD_MANAGER
        params = _write_params(dry_run=dry_run, field_manager=field_manager)
        if force:
            params["force"] = "true"
        return await self._write(
            "PATCH",
            path,
            bodies.encode(patch),
            params=params,
            content_type=PATCH_TYPES[patch_type],
            accept=METADATA if metadata_only else JSON,
            server=server,
        )

    async def delete(
        self,
        resource: Resource,
        name: str,
        namespace: str = "",
        *,
        server: str | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Delete an object; ``body`` is DeleteOptions (preconditions, propagationPolicy). The server's answer."""
        path = resource_model.path(resource, namespace, name)
        return await self._write("DELETE", path, bodies.encode(body) if body is not None else None, server=server)

    async def _write(
        self,
        method: str,
        path: str,
        body: bytes | None,
        *,
        params: Mapping[str, str] | None = None,
        content_type: str = JSON,
        accept: str = JSON,
        server: str | None = None,
    ) -> dict[str, Any]:
        answer = await self.request(
            method, path, params=params, body=body, content_type=content_type, accept=accept, server=server
        )
        return self._decode(answer, server)

    # --- bodies -------------------------------------------------------------------------------------------------------

    def _decode(self, answer: transport.Response, server: str | None) -> dict[str, Any]:
        try:
            document = orjson.loads(answer.body)
        except orjson.JSONDecodeError as error:
            raise self._no_json(server, "no JSON", error) from error
        if not isinstance(document, dict):
            raise self._no_json(server, "no JSON object", None)
        return document

    def _no_json(self, server: str | None, what: str, error: Exception | None) -> errors.UnreachableError:
        where = failures.peer(server or self.servers[0], self.config)
        reason = f" ({error})" if error is not None else ""
        return errors.UnreachableError(f"{where} answered with {what}{reason}; is this a Kubernetes API server?")


def _write_params(*, dry_run: bool, field_manager: str) -> dict[str, str]:
    params = {}
    if dry_run:
        params["dryRun"] = "All"
    if field_manager:
        params["fieldManager"] = field_manager
    return params
