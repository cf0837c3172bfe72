"""What goes over the wire for each verb, and what comes back, against a real HTTP server that writes it down."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
from aiohttp import web

from instar import errors
from instar.kube import bodies, client, kubeconfig
from instar.model import resource

from .conftest import Serve

WIDGET = resource.Resource(group="g.io", version="v1", plural="widgets", kind="Widget", namespaced=True)


class Recorder:
    """Answers everything with one body and keeps what was asked."""

    def __init__(self, answer: bytes = b'{"kind":"Widget"}') -> None:
        self.answer = answer
        self.method = self.url = self.content_type = self.accept = ""
        self.body = b""

    async def handle(self, request: web.Request) -> web.Response:
        self.method, self.url = request.method, request.raw_path
        self.content_type, self.accept = request.headers.get("Content-Type", ""), request.headers["Accept"]
        self.body = await request.read()
        return web.Response(body=self.answer, content_type="application/json")


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
async def cluster(serve: Serve, recorder: Recorder) -> AsyncIterator[client.Client]:
    async with client.Client(kubeconfig.Config(server=await serve(recorder.handle))) as made:
        yield made


async def test_get(cluster: client.Client, recorder: Recorder) -> None:
    """Names are quoted once, parameters reach the server as they are."""
    await cluster.get(WIDGET, "a%b", "ns", subresource="status", params={"resourceVersion": "0"})
    assert recorder.url == "/apis/g.io/v1/namespaces/ns/widgets/a%25b/status?resourceVersion=0"
    await cluster.get(WIDGET, "a", "ns", metadata_only=True)
    assert recorder.accept == "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


async def test_patch_types(cluster: client.Client, recorder: Recorder) -> None:
    """Each kind of patch has its content type; apply always names a manager; bytes go out as they are."""
    await cluster.patch(WIDGET, "a", b'{ "spec":1.0}', "ns", metadata_only=True)
    assert (recorder.body, recorder.content_type) == (b'{ "spec":1.0}', "application/merge-patch+json")
    assert recorder.url == "/apis/g.io/v1/namespaces/ns/widgets/a"
    await cluster.patch(WIDGET, "a", [{"op": "test", "path": "/x", "value": None}], "ns", patch_type="json")
    assert recorder.content_type == "application/json-patch+json"
    await cluster.patch(WIDGET, "a", {"a": 1}, "ns", patch_type="apply", force=True, dry_run=True)
    assert recorder.content_type == "application/apply-patch+yaml"
    assert recorder.url.endswith("/a?dryRun=All&fieldManager=instar&force=true")


async def test_writes(cluster: client.Client, recorder: Recorder) -> None:
    """Create, update and delete use the verb and path of the API conventions."""
    await cluster.create(WIDGET, {"a": 2**70}, "ns", field_manager="me")
    assert (recorder.method, recorder.url) == ("POST", "/apis/g.io/v1/namespaces/ns/widgets?fieldManager=me")
    assert recorder.body == b'{"a":1180591620717411303424}'
    await cluster.update(WIDGET, b"{}", "a", "ns", subresource="status", dry_run=True)
    assert (recorder.method, recorder.url) == (
        "PUT",
        "/apis/g.io/v1/namespaces/ns/widgets/a/status?dryRun=All",
    )
    await cluster.delete(WIDGET, "a", "ns", body={"propagationPolicy": "Background"})
    assert (recorder.method, recorder.body) == ("DELETE", b'{"propagationPolicy":"Background"}')


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1: {2: set}}])
async def test_what_is_no_json_is_not_sent(cluster: client.Client, recorder: Recorder, value: Any) -> None:
    """NaN would silently become null on the way: it is refused, with its place."""
    with pytest.raises(errors.UsageError, match="no JSON"):
        await cluster.create(WIDGET, {"spec": [None, value]}, "ns")
    assert recorder.method == ""


LISTED = b'{"kind":"WidgetList","metadata":{"resourceVersion":"7","continue":"%s","remainingItemCount":3},"items":[%s]}'


async def test_items_come_back_as_they_were(cluster: client.Client, recorder: Recorder) -> None:
    """Spelling, order and spaces inside an item survive: the bytes are a slice of the answer."""
    item = b'{"b": 1.0, "a":12345678901234567890123,"u":"\\u00e9"}'
    recorder.answer = LISTED % (b"abc", item)
    page = await cluster.list_page(WIDGET, limit=2, continue_token="x/y=", params={"labelSelector": "a=b"})
    assert [bytes(raw) for raw in page.items] == [item]
    assert (page.resource_version, page.continue_token, page.remaining) == ("7", "abc", 3)
    assert recorder.url == "/apis/g.io/v1/widgets?limit=2&labelSelector=a%3Db&continue=x%2Fy%3D"


async def test_null_items(cluster: client.Client, recorder: Recorder) -> None:
    """Go writes an empty list as null at times."""
    recorder.answer = b'{"metadata":{},"items":null}'
    assert (await cluster.list_page(WIDGET)).items == ()


async def test_no_list(cluster: client.Client, recorder: Recorder) -> None:
    """An answer that is no list is said so."""
    recorder.answer = b'{"items": 1}'
    with pytest.raises(errors.UnreachableError, match="no list"):
        await cluster.list_page(WIDGET)


async def test_all_pages(serve: Serve) -> None:
    """Pages follow the continue token to the last one."""
    asked: list[str] = []

    async def handle(request: web.Request) -> web.Response:
        asked.append(request.query.get("continue", ""))
        following = {"": b"one", "one": b"two", "two": b""}[asked[-1]]
        return web.Response(body=LISTED % (following, b'{"n":%d}' % len(asked)))

    async with client.Client(kubeconfig.Config(server=await serve(handle))) as cluster:
        items = [orjson.loads(bytes(item)) async for page in cluster.pages(WIDGET) for item in page.items]
    assert (items, asked) == ([{"n": 1}, {"n": 2}, {"n": 3}], ["", "one", "two"])


# --- watch ------------------------------------------------------------------------------------------------------------


def event(of: str, **value: Any) -> bytes:
    return json.dumps({"type": of, "object": value}).encode() + b"\n"


async def watched(serve: Serve, chunks: list[bytes]) -> tuple[list[client.Event], errors.InstarError | None]:
    """The events that a server's chunks say, and what ended the watch."""

    async def handle(request: web.Request) -> web.StreamResponse:
        assert request.query["allowWatchBookmarks"] == "true"
        assert request.query["resourceVersion"] == "5"
        response = web.StreamResponse()
        await response.prepare(request)
        for chunk in chunks:
            await response.write(chunk)
            await asyncio.sleep(0)
        return response

    events: list[client.Event] = []
    async with client.Client(kubeconfig.Config(server=await serve(handle))) as cluster:
        try:
            async for seen in cluster.watch(WIDGET, resource_version="5"):
                events.append(seen)  # noqa: PERF401 (an extend would lose what came before an error)
        except errors.InstarError as error:
            return events, error
    return events, None


async def test_watch_ends_cleanly(serve: Serve) -> None:
    """Events and bookmarks come in order however the bytes are cut, a long line included; the end is just the end."""
    long = event("MODIFIED", data="x" * 3_000_000)
    stream = event("ADDED", n=1) + long + event("BOOKMARK", metadata={"resourceVersion": "9"})
    chunks = [stream[:10], stream[10:2_000_000], stream[2_000_000:]]
    events, error = await watched(serve, chunks)
    assert [(seen.type, len(str(seen.object)) > 100) for seen in events] == [
        ("ADDED", False),
        ("MODIFIED", True),
        ("BOOKMARK", False),
    ]
    assert error is None


@pytest.mark.parametrize("reason", ["Expired", "Gone"])
async def test_expired_watch(serve: Serve, reason: str) -> None:
    """An ERROR event with 410 is ApiError 410 Expired, after the events that came before it."""
    status = {"kind": "Status", "code": 410, "reason": reason, "message": "too old resource version: 1 (9)"}
    events, error = await watched(serve, [event("ADDED", n=1), event("ERROR", **status)])
    assert len(events) == 1
    assert isinstance(error, errors.ApiError)
    assert (error.code, error.reason) == (410, "Expired")


async def test_broken_watch(serve: Serve) -> None:
    """A line that is no event is an error of ours."""
    _, error = await watched(serve, [b"{\n"])
    assert isinstance(error, errors.UnreachableError)


async def test_lines_of_any_chunks() -> None:
    """Cutting a stream at every place gives the same lines."""
    stream = b"ab\n\nc\nlast"

    async def cut(size: int) -> AsyncIterator[bytes]:
        for start in range(0, len(stream), size):
            yield stream[start : start + size]

    for size in range(1, len(stream) + 1):
        assert [line async for line in bodies.lines(cut(size))] == [b"ab", b"c", b"last"]
