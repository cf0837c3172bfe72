"""The embedded application answers as the server does, under an ASGI server that an operator has already."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import pytest
import uvicorn
from tests.unit.serving import converters
from tests.unit.serving.test_http1 import Client

from instar import serving


class Uvicorn(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self):  # the test's process keeps its own signal handlers
        yield


@contextlib.asynccontextmanager
async def served(app: serving.App) -> AsyncIterator[Client]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = Uvicorn(uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1, ws="none"))
    running = asyncio.create_task(server.serve(sockets=[listener]))
    client = Client(*await asyncio.open_connection(*listener.getsockname()))
    try:
        yield client
    finally:
        client.writer.close()
        server.should_exit = True
        await running


async def test_the_same_answers() -> None:
    async with served(serving.app(converters.BOUNDS)) as client:
        code, headers, body = await client.ask(converters.body(count=2))
        assert (code, headers["content-type"]) == (200, "application/json")
        assert len(converters.response(body)["convertedObjects"]) == 2
        code, _, body = await client.ask(converters.body(fail="x"))
        assert (code, converters.response(body)["result"]["status"]) == (200, "Failed")
        assert (await client.ask(b"{}"))[0] == 400
        for path in ("/livez", "/readyz", "/metrics"):
            assert (await client.ask(b"", method="GET", path=path))[0] == 200
        assert (await client.ask(b"", method="GET", path="/"))[0] == 404


async def test_limits_hold() -> None:
    app = serving.app(converters.BOUNDS, limits=serving.Limits(body_bytes=10_000, requests_in_flight=0))
    async with served(app) as client:
        code, headers, _ = await client.ask(converters.body())
        assert (code, headers["retry-after"]) == (503, "1")
    app = serving.app(converters.BOUNDS, limits=serving.Limits(body_bytes=10_000))
    async with served(app) as client:
        code, _, body = await client.ask(converters.body(text="x" * 200_000))
        assert (code, converters.response(body)["uid"]) == (200, "7f3")
        assert "more than the 10000 of --max-body-bytes" in converters.response(body)["result"]["message"]


async def test_drain_fails_readiness_and_goes_on_answering() -> None:
    app = serving.app(converters.BOUNDS)
    async with served(app) as client:
        app.drain()
        code, headers, body = await client.ask(converters.body())
        assert (code, headers["connection"]) == (200, "close")
        assert converters.response(body)["result"] == {"status": "Success"}
        assert await client.closed()
    async with served(app) as client:
        assert (await client.ask(b"", method="GET", path="/readyz"))[0] == 503


async def test_a_client_that_goes_away_gives_its_place_back() -> None:
    app = serving.app(converters.BOUNDS, limits=serving.Limits(requests_in_flight=1))
    async with served(app) as client:
        client.writer.write(b"POST /convert HTTP/1.1\r\nContent-Length: 5\r\n\r\n12")
        await asyncio.sleep(0.1)
        client.writer.close()
        await asyncio.sleep(0.1)
    async with served(app) as client:
        assert (await client.ask(converters.body()))[0] == 200


@pytest.mark.parametrize("kind", ["websocket", "other"])
async def test_other_scopes_are_refused(kind: str) -> None:
    with pytest.raises(RuntimeError, match=kind):
        await serving.app(converters.BOUNDS)({"type": kind}, None, None)
