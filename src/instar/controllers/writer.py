"""The edge of the dialogue about one object: sends what it asks for and tells it what came of it.

One PATCH per object is the price of a migration, so what it costs here is kept low: bodies and answers stay bytes, the
answer is asked for as PartialObjectMetadata, and two fields of it are decoded.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from urllib.parse import quote

import msgspec

from instar import errors
from instar.controllers import listing
from instar.kube import client as kube_client
from instar.migration import object as object_dialogue
from instar.migration import refusal
from instar.model import resource as resource_model

__all__ = ["Canaries", "Writer"]

_PATCH_TYPES = {"merge": kube_client.PATCH_TYPES["merge"], "json": kube_client.PATCH_TYPES["json"]}
_CANARY_TRIES = 32


class Canaries:
    """Which API servers were seen to rewrite an object that was old; the others get the next writes in turn."""

    def __init__(self, servers: Sequence[str]) -> None:
        self.confirmed: set[str] = set()
        self._left = dict.fromkeys(servers, _CANARY_TRIES)

    @property
    def pending(self) -> bool:
        """Whether the next write is a canary: it has to be one that moves only what is old."""
        return bool(self._left)

    def next(self) -> str | None:
        """The server whose turn it is; None once every one is confirmed or had its tries."""
        server = next(iter(self._left), None)
        if server is None:
            return None
        tries = self._left.pop(server)
        if tries > 1:
            self._left[server] = tries - 1
        return server

    def moved(self, server: str) -> None:
        """A write through this server moved an object."""
        self.confirmed.add(server)
        self._left.pop(server, None)


class Writer:
    """Runs dialogues about objects of one resource against the API servers."""

    def __init__(
        self,
        client: kube_client.Client,
        resource: resource_model.Resource,
        *,
        patience_seconds: float,
        canaries: Canaries | None = None,
    ) -> None:
        self._client = client
        self._resource = resource
        self._patience_seconds = patience_seconds
        self._canaries = canaries
        self._collection = ("", "")

    async def converse(self, dialogue: object_dialogue.Dialogue) -> object_dialogue.Result:
        """Run a dialogue to its end; UnreachableError if the server asks to wait for longer than patience lasts."""
        server = self._canaries.next() if self._canaries is not None else None
        waited_since: float | None = None
        outcome: object_dialogue.Outcome = None
        while True:
            try:
                action = dialogue.send(outcome)
            except StopIteration as end:  # at once, where there is nothing to write
                result: object_dialogue.Result = end.value
                break
            outcome = None
            match action:
                case object_dialogue.Patch():
                    outcome = await self._patch(action, server)
                case object_dialogue.Get():
                    outcome = await self._get(action.item, server)
                case object_dialogue.Pause():
                    waited_since = time.monotonic() if waited_since is None else waited_since
                    if action.asked and time.monotonic() - waited_since > self._patience_seconds:
                        raise errors.UnreachableError(
                            f"the API server asked to wait for more than {self._patience_seconds:.0f} s: "
                            "try again when it is less busy"
                        )
                    await asyncio.sleep(action.seconds)
        if server is not None and self._canaries is not None and result.kind is object_dialogue.Kind.MOVED:
            self._canaries.moved(server)
        return result

    async def _patch(
        self, action: object_dialogue.Patch, server: str | None
    ) -> object_dialogue.Answered | refusal.Refused:
        try:
            answer = await self._client.request(
                "PATCH",
                self._path(action.item),
                body=action.body,
                content_type=_PATCH_TYPES[action.kind],
                accept=kube_client.METADATA,
                server=server,
                retry=False,
            )
            return listing.answered(answer.body)
        except (errors.ApiError, errors.UnreachableError, msgspec.MsgspecError) as error:
            return _refused(error)

    def _path(self, item: object_dialogue.Item) -> str:
        """A list comes namespace by namespace, so the collection's path is nearly always the last one's."""
        namespace, collection = self._collection
        if namespace != item.namespace or not collection:
            collection = resource_model.path(self._resource, item.namespace)
            self._collection = item.namespace, collection
        return f"{collection}/{quote(item.name, safe='')}"

    async def _get(self, item: object_dialogue.Item, server: str | None) -> object_dialogue.Item | refusal.Refused:
        try:
            answer = await self._client.request(
                "GET",
                self._path(item),
                accept=kube_client.METADATA,
                server=server,
                retry=False,
            )
            return listing.item(answer.body, traces=True)
        except (errors.ApiError, errors.UnreachableError, msgspec.MsgspecError) as error:
            return _refused(error)


def _refused(error: Exception) -> refusal.Refused:
    if isinstance(error, errors.ApiError):
        return refusal.Refused(
            code=error.code,
            reason=error.reason,
            message=error.detail,
            retry_after_seconds=error.retry_after_seconds,
        )
    return refusal.Refused(code=0, reason="NoAnswer", message=str(error))
