"""Every object of a resource, whatever stands in the way: metadata only, page by page, past what cannot be read.

One object that cannot be converted fails the whole list at that version: with 500 and its key, or, where the watch
cache never filled, with 429 for ever (measured on 1.37.2). So a page that keeps failing is asked for again with smaller
limits, down to 1; the key in the error names the object; and the list goes on behind it with a token that begins there.
A token that expired (410) comes with one that goes on at a newer revision. In both cases the list is not of one moment
any more, which is why ``mark`` stays that of its first page: whatever is newer is looked at again by who asked.
Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

import msgspec

from instar import errors
from instar.kube import client as kube_client
from instar.migration import object as object_dialogue
from instar.migration import refusal, revisions
from instar.model import carried
from instar.model import resource as resource_model

__all__ = ["Listing", "answered", "count", "item"]

PAGE_BYTES = 2**20
LARGEST, FIRST = 1000, 500
FAILURES_BEFORE_SMALLER = 2
FAILURES_AT_ONE = 4


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    uid: str = ""
    resource_version: str = ""
    namespace: str = ""
    generation: int = 0


class _Object(msgspec.Struct, frozen=True):
    metadata: _Metadata


class _TracedMetadata(_Metadata, frozen=True, rename="camel"):
    managed_fields: tuple[dict[str, Any], ...] = ()
    annotations: dict[str, str] = {}


class _TracedObject(msgspec.Struct, frozen=True):
    metadata: _TracedMetadata


class _Answer(msgspec.Struct, frozen=True):
    metadata: object_dialogue.Answered


_DECODE = msgspec.json.Decoder(_Object)
_DECODE_TRACED = msgspec.json.Decoder(_TracedObject)
_DECODE_ANSWER = msgspec.json.Decoder(_Answer)


def item(raw: bytes | msgspec.Raw, *, traces: bool = False) -> object_dialogue.Item:
    """What a migration needs to know of an object, out of its bytes; with what it keeps of other versions, or not."""
    if traces:
        traced = _DECODE_TRACED.decode(raw).metadata
        carries = {name: text for name, text in traced.annotations.items() if carried.version_of(name) is not None}
        return _item(traced, managed_fields=traced.managed_fields, carried=carries)
    return _item(_DECODE.decode(raw).metadata)


def _item(metadata: _Metadata, **traces: Any) -> object_dialogue.Item:
    return object_dialogue.Item(
        namespace=metadata.namespace,
        name=metadata.name,
        uid=metadata.uid,
        resource_version=metadata.resource_version,
        generation=metadata.generation,
        **traces,
    )


def answered(body: bytes) -> object_dialogue.Answered:
    """What a migration needs to know of the answer to a write."""
    return _DECODE_ANSWER.decode(body).metadata


class Listing:
    """One way through all objects; iterate it once. ``error`` says why it ended early, if it did."""

    def __init__(self, client: kube_client.Client, resource: resource_model.Resource, *, traces: bool = False) -> None:
        self._client = client
        self._resource = resource
        self._traces = traces
        self._limit = FIRST
        self._token = ""
        self._failures = 0
        self.mark = 0
        self.total: int | None = None
        self.error = ""

    async def batches(self) -> AsyncIterator[Sequence[object_dialogue.Item]]:
        """The objects, a page at a time; one that no list can read comes without a resourceVersion."""
        first = True
        while not self.error:
            try:
                page = await self._client.list_page(
                    self._resource, limit=self._limit, continue_token=self._token, metadata_only=True, retry=False
                )
            except errors.ApiError as error:
                unreadable = await self._overcome(error)
                first = False
                if unreadable:
                    yield unreadable
                continue
            except errors.UnreachableError as error:
                await self._pause(error, 1.0)
                continue
            if first:
                self.mark = revisions.parse(page.resource_version)
                self.total = len(page.items) + page.remaining if page.remaining is not None else None
                first = False
            self._adapt(page)
            yield [item(raw, traces=self._traces) for raw in page.items]
            if not page.continue_token:
                return
            self._token = page.continue_token

    def _adapt(self, page: kube_client.Page) -> None:
        """Pages of about PAGE_BYTES; after trouble the limit grows step by step."""
        size = sum(memoryview(raw).nbytes for raw in page.items[:20]) / max(1, len(page.items[:20]))
        wanted = max(1, min(LARGEST, int(PAGE_BYTES / size))) if size else FIRST
        self._limit = min(wanted, self._limit * 4) if self._failures or self._limit < FIRST else wanted
        self._failures = 0

    async def _overcome(self, error: errors.ApiError) -> Sequence[object_dialogue.Item]:
        """Prepare the next try; the objects that had to be left out, if this is where they are."""
        if error.code == 410 and error.continue_token:
            self._token = error.continue_token
            return ()
        if error.code not in (429, 500, 502, 503, 504):
            raise error
        self._failures += 1
        named = refusal.corrupt_keys(error.detail)
        if self._limit > 1 and (named or self._failures >= FAILURES_BEFORE_SMALLER):
            self._limit, self._failures = max(1, self._limit // 8), 0
            return ()
        if self._limit == 1 and named:
            return self._leave_out(named)
        if self._limit == 1 and self._failures >= FAILURES_AT_ONE:
            self.error = error.message
            return ()
        await self._pause(error, float(error.retry_after_seconds or 0) or 0.5)
        return ()

    async def _pause(self, error: errors.InstarError, seconds: float) -> None:
        if isinstance(error, errors.UnreachableError):
            self._failures += 1
            if self._failures >= 2 * FAILURES_AT_ONE:
                raise error
        await asyncio.sleep(seconds)

    def _leave_out(self, keys: Sequence[str]) -> Sequence[object_dialogue.Item]:
        """Go on behind the last object that the error names."""
        prefix = f"/{self._resource.group}/{self._resource.plural}/"
        places = [key.partition(prefix)[2] for key in keys if prefix in key]
        if not places:
            self.error = f"a list failed for {', '.join(keys)}, which is none of {self._resource.plural}"
            return ()
        self._token, self._failures = _token_behind(max(places)), 0
        return [_unread(place) for place in places]


def _unread(place: str) -> object_dialogue.Item:
    namespace, _, name = place.rpartition("/")
    return object_dialogue.Item(namespace=namespace, name=name, uid="", resource_version="")


def _token_behind(place: str) -> str:
    """A continue token that begins right behind an object, at whatever revision is newest then.

    The API server gives such tokens itself when one has expired; how they are written is its own affair, so one that
    it does not take ends the list with an error, never with objects left out.
    """
    text = json.dumps({"v": "meta.k8s.io/v1", "rv": -1, "start": place + "\0"}, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


async def count(client: kube_client.Client, resource: resource_model.Resource) -> int:
    """How many objects there are: what the server says follows a page of one, or all pages where it does not say."""
    page = await client.list_page(resource, limit=1, metadata_only=True)
    if page.remaining is not None or not page.continue_token:
        return len(page.items) + (page.remaining or 0)
    return sum([len(page.items) async for page in client.pages(resource, metadata_only=True)])
