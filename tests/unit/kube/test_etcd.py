"""The version in stored bytes: read where it can be, unknown where it can not, never left out."""

from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest
from aiohttp import web

from instar import errors
from instar.kube import etcd
from instar.model import resource

from .conftest import Serve

VALUES = {
    b'{"apiVersion":"g.io/v1","kind":"W","spec":{"apiVersion":"g.io/v9"}}\n': "g.io/v1",
    b'{"kind":"W","spec":{"big":123456789012345678901234567890,"apiVersion":"no"},"apiVersion":"g.io/v2"}': "g.io/v2",
    b"k8s:enc:aescbc:v1:key1:\x00\x01": "",
    b"\xd9\xd9\xf7\xa1japiVersion": "",
    b"k8s\x00\n\x0c": "",
    b'{"kind":"W"}': "",
    b'{"apiVersion":7}': "",
    b'{"apiVersion":"\xff"}': "",
    b'{"apiVersion":"g.io/v1"': "",
    b"": "",
    b"[" * 100_000: "",
}


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_api_version(value: bytes) -> None:
    """Only whole JSON objects say a version; encrypted, CBOR, protobuf and broken bytes are unknown."""
    assert etcd.api_version(value) == VALUES[value]


def test_key() -> None:
    """Where an API server keeps an object, with and without a namespace."""
    spaced = resource.Resource(group="g.io", version="v1", plural="ws", kind="W", namespaced=True)
    assert etcd.key(spaced, "ns", "a") == "/registry/g.io/ws/ns/a"
    assert etcd.key(spaced, "", "a", root="/other") == "/other/g.io/ws/a"


async def test_paging_never_leaves_the_prefix(serve: Serve) -> None:
    """Pages go on right after the last key, at the revision of the first page, and end at the prefix's end."""
    asked: list[tuple[bytes, bytes, str]] = []

    async def handle(request: web.Request) -> web.Response:
        question = orjson.loads(await request.read())
        start, end = base64.b64decode(question["key"]), base64.b64decode(question["range_end"])
        asked.append((start, end, question["revision"]))
        pair: dict[str, Any] = {
            "key": base64.b64encode(b"/r/ns/%d" % len(asked)).decode(),
            "value": base64.b64encode(b'{"apiVersion":"g/v1"}').decode(),
            "mod_revision": str(10 + len(asked)),
        }
        more = len(asked) < 3
        return web.json_response({"header": {"revision": str(50 + len(asked))}, "kvs": [pair], "more": more})

    async with etcd.Etcd(await serve(handle)) as reader:
        found = [(entry.namespace, entry.name, entry.mod_revision) async for entry in reader.stored("/r/")]
    assert found == [("ns", "1", 11), ("ns", "2", 12), ("ns", "3", 13)]
    assert asked == [(b"/r/", b"/r0", "0"), (b"/r/ns/1\0", b"/r0", "51"), (b"/r/ns/2\0", b"/r0", "51")]


async def test_not_etcd(serve: Serve) -> None:
    """Another server under that address, and none at all, are errors of ours that name it."""

    async def page(_: web.Request) -> web.Response:
        return web.Response(text="<html>")

    async def refuse(_: web.Request) -> web.Response:
        return web.Response(status=400, text='{"error":"mvcc: required revision has been compacted"}')

    for handle, words in ((page, "did not answer as etcd"), (refuse, "answered 400 .*compacted")):
        async with etcd.Etcd(await serve(handle)) as reader:
            with pytest.raises(errors.UnreachableError, match=words):
                await reader.versions("g", "ws")
    async with etcd.Etcd("http://127.0.0.1:1") as reader:
        with pytest.raises(errors.UnreachableError, match=r"etcd http://127.0.0.1:1: connection refused"):
            await reader.get("/r/a")
