"""Reads the bytes that etcd holds, through its JSON gateway: the judge of "stored at which version".

An API server converts what it reads, so it cannot be asked. A custom resource is stored as JSON under
``/registry/<group>/<plural>/[<namespace>/]<name>``, and the ``apiVersion`` in those bytes is the version that it is
stored at. What cannot be read so (encrypted at rest, CBOR, protobuf, no JSON) is reported with an empty
``api_version``: unknown, and never left out.
Source: https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/
"""

from __future__ import annotations

import asyncio
import base64
import dataclasses
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import msgspec

from instar import errors
from instar.kube import failures
from instar.model import resource as resource_model

if TYPE_CHECKING:
    import ssl

__all__ = ["Changes", "Etcd", "Stored", "api_version", "key"]

PAGE = 500
DEADLINE_SECONDS = 30.0
ENCRYPTED = b"k8s:enc:"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """One stored object; ``api_version`` is empty where the bytes do not say it."""

    key: str
    namespace: str
    name: str
    api_version: str
    value: bytes
    mod_revision: int


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """What was written after a revision, as of ``revision``, and how many objects there are ``total``."""

    entries: tuple[Stored, ...]
    revision: int
    total: int


class _Pair(msgspec.Struct, frozen=True):
    key: bytes
    value: bytes = b""
    mod_revision: str = "0"


class _Header(msgspec.Struct, frozen=True):
    revision: str = "0"


class _Range(msgspec.Struct, frozen=True):
    header: _Header
    kvs: tuple[_Pair, ...] = ()
    more: bool = False
    count: str = "0"


class _Status(msgspec.Struct, frozen=True):
    version: str = ""


class _Head(msgspec.Struct, frozen=True):
    apiVersion: str = ""


_RANGE = msgspec.json.Decoder(_Range)
_STATUS = msgspec.json.Decoder(_Status)
_HEAD = msgspec.json.Decoder(_Head)


def api_version(value: bytes) -> str:
    """The ``apiVersion`` in stored bytes; empty where they are encrypted, CBOR, protobuf or broken."""
    if value.startswith(ENCRYPTED):
        return ""
    try:
        return _HEAD.decode(value).apiVersion
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return ""


def key(resource: resource_model.Resource, namespace: str, name: str, *, root: str = "/registry") -> str:
    """Where an API server keeps a custom resource's object."""
    return "/".join(part for part in (f"{root}/{resource.group}/{resource.plural}", namespace, name) if part)


class Etcd:
    """An async context manager around one etcd server's JSON gateway, as ``http://127.0.0.1:2379``.

    ``root`` is the API servers' ``--etcd-prefix``; ``tls`` the context for an ``https://`` address.
    """

    def __init__(self, url: str, *, root: str = "/registry", tls: ssl.SSLContext | None = None) -> None:
        self.url = url.rstrip("/")
        self.root = root
        self._tls = tls

    async def __aenter__(self) -> Etcd:
        import aiohttp

        self._failures = (aiohttp.ClientError, OSError, asyncio.TimeoutError)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=self._tls or True, limit=4),
            timeout=aiohttp.ClientTimeout(total=DEADLINE_SECONDS),
            read_bufsize=2**21,
        )
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._session.close()

    async def stored(self, place: resource_model.Resource | str) -> AsyncIterator[Stored]:
        """Every object of a resource, or under a prefix that ends in ``/``, all as of one revision, in key order.

        Memory holds one page whatever the number of objects.
        """
        prefix = place if isinstance(place, str) else f"{self.root}/{place.group}/{place.plural}/"
        start, end, revision, more = prefix.encode(), _after(prefix), "0", True
        while more:
            question = {"key": _text(start), "range_end": _text(end), "limit": PAGE, "revision": revision}
            answer = await self._range(question)
            for pair in answer.kvs:
                yield _stored(prefix, pair)
            more, revision = answer.more and bool(answer.kvs), answer.header.revision if revision == "0" else revision
            start = answer.kvs[-1].key + b"\0" if answer.kvs else end

    async def versions(self, group: str, plural: str) -> dict[str, int]:
        """How many objects of a resource are stored at each version, as ``{"v1alpha1": 6000}``.

        Objects whose bytes do not say a version count under the empty string; a foreign group keeps its group.
        """
        counted: dict[str, int] = {}
        async for entry in self.stored(f"{self.root}/{group}/{plural}/"):
            version = entry.api_version.removeprefix(f"{group}/")
            counted[version] = counted.get(version, 0) + 1
        return counted

    async def changes(self, place: resource_model.Resource | str, *, since: int) -> Changes:
        """Objects written after revision ``since``: repeated, this follows many objects for the price of the few.

        Deletions show in ``total`` only; ``keys`` says what is left.
        """
        prefix = place if isinstance(place, str) else f"{self.root}/{place.group}/{place.plural}/"
        question = {"key": _text(prefix.encode()), "range_end": _text(_after(prefix)), "min_mod_revision": since + 1}
        answer = await self._range(question)
        entries = tuple(_stored(prefix, pair) for pair in answer.kvs)
        return Changes(entries=entries, revision=int(answer.header.revision), total=int(answer.count))

    async def keys(self, place: resource_model.Resource | str) -> list[str]:
        """The keys of every object, without their values."""
        prefix = place if isinstance(place, str) else f"{self.root}/{place.group}/{place.plural}/"
        question = {"key": _text(prefix.encode()), "range_end": _text(_after(prefix)), "keys_only": True}
        return [pair.key.decode("utf-8", "replace") for pair in (await self._range(question)).kvs]

    async def version(self) -> str:
        """The server's own version, as ``3.6.16``."""
        try:
            answer = _STATUS.decode(await self._post("/v3/maintenance/status", {}))
        except msgspec.DecodeError as error:
            raise errors.UnreachableError(f"{self.url} did not answer as etcd's JSON gateway does: {error}") from error
        return answer.version

    async def get(self, key: str) -> Stored | None:
        """What is stored under one key, or None."""
        answer = await self._range({"key": _text(key.encode())})
        return _stored(key[: key.rindex("/") + 1], answer.kvs[0]) if answer.kvs else None

    async def put(self, key: str, value: bytes) -> None:
        """Write bytes behind the API servers' back: for tests that plant an old encoding."""
        await self._post("/v3/kv/put", {"key": _text(key.encode()), "value": _text(value)})

    async def _range(self, question: dict[str, Any]) -> _Range:
        body = await self._post("/v3/kv/range", question)
        try:
            return _RANGE.decode(body)
        except msgspec.DecodeError as error:
            raise errors.UnreachableError(f"{self.url} did not answer as etcd's JSON gateway does: {error}") from error

    async def _post(self, path: str, question: dict[str, Any]) -> bytes:
        try:
            async with self._session.post(self.url + path, data=msgspec.json.encode(question)) as answer:
                body = await answer.read()
        except self._failures as error:
            raise failures.unreachable(f"etcd {self.url}", None, error, DEADLINE_SECONDS) from error
        if answer.status != 200:
            text = " ".join(body[:300].decode("utf-8", "replace").split())
            raise errors.UnreachableError(f"etcd {self.url} answered {answer.status} to {path}: {text}")
        return body


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _after(prefix: str) -> bytes:
    """The end of the range of all keys with this prefix: etcd leaves it out."""
    encoded = prefix.encode()
    return encoded[:-1] + bytes([encoded[-1] + 1])


def _stored(prefix: str, pair: _Pair) -> Stored:
    full = pair.key.decode("utf-8", "replace")
    namespace, _, name = full[len(prefix) :].rpartition("/")
    return Stored(
        key=full,
        namespace=namespace,
        name=name,
        api_version=api_version(pair.value),
        value=pair.value,
        mod_revision=int(pair.mod_revision),
    )
