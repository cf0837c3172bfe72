"""JSON bodies in and out: dicts encoded, pages of lists cut into raw items, streams cut into lines.

Items of a page are slices of the answer's bytes: nobody pays for decoding what is only sent back.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec

from instar import errors

__all__ = ["Page", "decode_page", "encode", "lines"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page of a list; ``continue_token`` is empty on the last, ``remaining`` None where the server did not say."""

    items: tuple[msgspec.Raw, ...]
    resource_version: str
    continue_token: str
    remaining: int | None


class _ListMeta(msgspec.Struct, frozen=True, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")
    remaining_item_count: int | None = None


class _List(msgspec.Struct, frozen=True):
    metadata: _ListMeta
    items: tuple[msgspec.Raw, ...] | None = None


_LIST = msgspec.json.Decoder(_List)


def decode_page(body: bytes) -> Page:
    """The page that a list answered with. Raises msgspec.DecodeError for what is no list."""
    listed = _LIST.decode(body)
    return Page(
        items=listed.items or (),
        resource_version=listed.metadata.resource_version,
        continue_token=listed.metadata.continue_,
        remaining=listed.metadata.remaining_item_count,
    )


def encode(body: Any) -> bytes:
    """JSON bytes; a float that JSON cannot say is an error, where the encoders would silently write null."""
    if isinstance(body, bytes):
        return body
    try:
        encoded = msgspec.json.encode(body)
    except (TypeError, ValueError, msgspec.MsgspecError, RecursionError) as error:
        raise errors.UsageError(f"an object that is no JSON: {error}") from error
    if b"null" in encoded:
        _refuse_not_a_number(body, "")
    return encoded


def _refuse_not_a_number(value: Any, path: str) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise errors.UsageError(f"an object that is no JSON: {path} is {value}")
    if isinstance(value, Mapping):
        for key, member in value.items():
            _refuse_not_a_number(member, f"{path}/{key}")
    elif isinstance(value, (list, tuple)):
        for index, member in enumerate(value):
            _refuse_not_a_number(member, f"{path}/{index}")


async def lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines of a stream, however long one is and wherever the chunks are cut."""
    pending: list[bytes] = []
    async for chunk in chunks:
        first, *more = chunk.split(b"\n")
        pending.append(first)
        for part in more:
            if line := b"".join(pending):
                yield line
            pending = [part]
    if line := b"".join(pending):
        yield line
