"""HTTP as the API server's webhook client speaks it: real sockets, raw bytes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.unit.serving import converters

from instar.serving import http1, service


class Client:
    """One connection, and answers one by one."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, body: bytes, *, path: str = "/convert?timeout=30s", method: str = "POST", headers: str = "") -> None:
        self.writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: w\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body
        )

    async def answer(self, *, body: bool = True) -> tuple[int, dict[str, str], bytes]:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        length = int(headers.get("content-length", 0)) if body else 0
        return int(head[0].split(" ")[1]), headers, await self.reader.readexactly(length)

    async def ask(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, str], bytes]:
        self.send(*args, **kwargs)
        return await self.answer()

    async def closed(self) -> bool:
        return await asyncio.wait_for(self.reader.read(), 5) == b""


class Listening:
    """A listener on a free port, without TLS."""

    def __init__(self, served: service.Service, **settings: Any) -> None:
        self.service = served
        self.connections = http1.Connections(served, **settings)
        self.clients: list[Client] = []
        self.port = 0

    async def client(self) -> Client:
        client = Client(*await asyncio.open_connection("127.0.0.1", self.port))
        self.clients.append(client)
        return client


@contextlib.asynccontextmanager
async def listening(**limits: Any) -> AsyncIterator[Listening]:
    idle = {"idle_seconds": limits.pop("idle_seconds")} if "idle_seconds" in limits else {}
    found = Listening(service.Service(converters.BOUNDS, limits=service.Limits(**limits)), **idle)
    server = await asyncio.get_running_loop().create_server(found.connections, "127.0.0.1", 0)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()
        found.connections.abort()
        for client in found.clients:
            client.writer.close()
        await asyncio.sleep(0)


async def test_many_calls_on_one_connection() -> None:
    """Each answer is JSON with its length, and the connection stays for the next one."""
    async with listening() as server:
        client = await server.client()
        for uid in ("a", "b", "c"):
            code, headers, body = await client.ask(converters.body(uid))
            assert (code, headers["content-type"]) == (200, "application/json")
            assert "connection" not in headers
            assert converters.response(body)["uid"] == uid


async def test_pipelined_requests_are_answered_in_order() -> None:
    async with listening() as server:
        client = await server.client()
        for index in range(50):
            client.send(converters.body(str(index)))
        uids = [converters.response((await client.answer())[2])["uid"] for _ in range(50)]
        assert uids == [str(index) for index in range(50)]


@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_a_request_may_come_in_any_pieces(size: int) -> None:
    async with listening() as server:
        client = await server.client()
        whole = b"POST /convert HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        whole += b"".join(
            b"%x\r\n%b\r\n" % (len(part), part) for part in (converters.body()[:99], converters.body()[99:])
        )
        whole += b"0\r\n\r\n"
        for at in range(0, len(whole), size):
            client.writer.write(whole[at : at + size])
            await asyncio.sleep(0)
        assert converters.response((await client.answer())[2])["result"] == {"status": "Success"}


async def test_a_large_request_is_not_taken_for_long_headers() -> None:
    """Headers and body arrive in one read; only the headers count against their limit."""
    async with listening() as server:
        client = await server.client()
        code, _, body = await client.ask(converters.body(text="x" * 3_000_000))
        assert code == 200
        assert len(converters.response(body)["convertedObjects"][0]["spec"]["text"]) == 3_000_000


async def test_a_failed_object_is_a_200() -> None:
    """Any other code loses the message."""
    async with listening() as server:
        code, _, body = await (await server.client()).ask(converters.body(fail="why"))
        assert code == 200
        assert "told to fail" in converters.response(body)["result"]["message"]


async def test_nothing_with_a_uid_is_a_400_in_json() -> None:
    async with listening() as server:
        code, headers, body = await (await server.client()).ask(b"<html>")
        assert (code, headers["content-type"]) == (400, "application/json")
        assert converters.response(body)["result"]["status"] == "Failed"


async def test_a_body_over_the_limit_is_told_so_by_name() -> None:
    """It is read to its end, so that the client is listening when the answer comes, and the uid is in its head."""
    async with listening(body_bytes=100_000) as server:
        client = await server.client()
        code, _, body = await client.ask(converters.body(text="x" * 500_000))
        found = converters.response(body)
        assert (code, found["uid"], found["result"]["status"]) == (200, "7f3", "Failed")
        assert "more than the 100000 of --max-body-bytes" in found["result"]["message"]
        assert (await client.ask(converters.body()))[0] == 200


async def test_a_body_without_end_is_cut() -> None:
    async with listening(body_bytes=10_000) as server:
        client = await server.client()
        client.writer.write(b"POST /convert HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            for _ in range(1000):
                client.writer.write(b"1000\r\n" + b"x" * 4096 + b"\r\n")
                await client.writer.drain()
            pytest.fail("four megabytes were taken where ten kilobytes are the limit")
        await asyncio.sleep(0.05)
        assert server.service.in_flight == 0


async def test_no_room_is_a_503_that_the_api_server_retries() -> None:
    """An integer Retry-After on a 503 makes the API server try again, unseen by its user."""
    async with listening(requests_in_flight=2) as server:
        waiting = [await server.client() for _ in range(2)]
        for client in waiting:
            client.writer.write(b"POST /convert HTTP/1.1\r\nContent-Length: 5\r\n\r\n12")
        await asyncio.sleep(0.05)
        late = await server.client()
        code, headers, _ = await late.ask(converters.body())
        assert (code, headers["retry-after"], headers["content-type"]) == (503, "1", "application/json")
        assert (await late.ask(b"", method="GET", path="/readyz"))[0] == 200
        waiting[0].writer.write(b"345")
        assert (await waiting[0].answer())[0] == 400
        assert (await late.ask(converters.body()))[0] == 200


async def test_a_client_that_goes_away_gives_its_place_back() -> None:
    async with listening(requests_in_flight=1) as server:
        client = await server.client()
        client.writer.write(b"POST /convert HTTP/1.1\r\nContent-Length: 5\r\n\r\n12")
        await asyncio.sleep(0.05)
        assert server.service.in_flight == 1
        client.writer.close()
        await asyncio.sleep(0.05)
        assert server.service.in_flight == 0


async def test_draining_answers_and_asks_to_come_elsewhere() -> None:
    """A call during the drain is answered like any other, and its connection is not used again."""
    async with listening() as server:
        client, probe = await server.client(), await server.client()
        assert (await client.ask(converters.body()))[0] == 200
        server.service.draining = True
        assert (await probe.ask(b"", method="GET", path="/readyz"))[0] == 503
        code, headers, body = await client.ask(converters.body())
        assert (code, headers["connection"], converters.response(body)["uid"]) == (200, "close", "7f3")
        assert await client.closed()
        assert (await (await server.client()).ask(b"", method="GET", path="/livez"))[0] == 200


async def test_closing_waits_for_requests_that_have_begun() -> None:
    async with listening() as server:
        idle, busy = await server.client(), await server.client()
        assert (await idle.ask(converters.body()))[0] == 200
        whole = converters.body()
        busy.writer.write(b"POST /convert HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(whole) + whole[:10])
        await asyncio.sleep(0.05)
        server.service.draining = True
        server.connections.close_idle()
        assert await idle.closed()
        busy.writer.write(whole[10:])
        assert (await busy.answer())[0] == 200
        assert await busy.closed()


async def test_idle_connections_outlive_the_api_servers_90_seconds() -> None:
    """A server that closes first makes random calls fail, for a POST is not retried."""
    async with listening() as server:
        client = await server.client()
        await client.ask(converters.body())
        (connection,) = server.connections.open
        assert connection.deadline - server.connections.now > 90 + 2 * 1.0


async def test_idle_connections_end_at_last() -> None:
    async with listening(idle_seconds=0.0) as server:
        client = await server.client()
        await client.ask(converters.body())
        await asyncio.sleep(0.01)
        server.connections.sweep()
        assert await client.closed()


async def test_a_request_that_never_becomes_whole_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http1, "REQUEST_SECONDS", 0.0)
    async with listening() as server:
        client = await server.client()
        client.writer.write(b"POST /convert HTTP/1.1\r\nContent-Le")
        await asyncio.sleep(0.05)
        server.connections.sweep()
        assert await client.closed()


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (b"GET /livez HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET /livez HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", 200),
        (b"GET /livez HTTP/1.1\r\nX: " + b"x" * 70_000, 431),
        (b"GET /livez HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n" + b"x" * 70_000, 413),
    ],
)
async def test_what_is_no_request_of_ours_is_answered_and_hung_up_on(raw: bytes, code: int) -> None:
    async with listening() as server:
        client = await server.client()
        client.writer.write(raw)
        found, headers, _ = await client.answer()
        assert (found, headers["connection"]) == (code, "close")
        assert await client.closed()


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/livez", 200),
        ("GET", "/readyz?verbose", 200),
        ("GET", "/metrics", 200),
        ("GET", "https://webhook/livez", 200),
        ("GET", "/convert", 405),
        ("POST", "/livez", 405),
        ("GET", "/", 404),
        ("POST", "/converted", 404),
    ],
)
async def test_paths(method: str, path: str, code: int) -> None:
    async with listening() as server:
        assert (await (await server.client()).ask(b"", method=method, path=path))[0] == code


async def test_head_has_the_headers_and_no_body() -> None:
    async with listening() as server:
        client = await server.client()
        client.send(b"", method="HEAD", path="/livez")
        code, headers, _ = await client.answer(body=False)
        assert (code, headers["content-length"]) == (200, "2")
        assert (await client.ask(b"", method="GET", path="/livez"))[2] == b"ok"


async def test_expect_continue_is_answered() -> None:
    """curl asks before it sends more than a megabyte."""
    async with listening() as server:
        client = await server.client()
        whole = converters.body()
        client.writer.write(
            b"POST /convert HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(whole)
        )
        assert await client.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.writer.write(whole)
        assert (await client.answer())[0] == 200


async def test_the_old_http_closes_after_its_answer() -> None:
    async with listening() as server:
        client = await server.client()
        client.writer.write(b"GET /livez HTTP/1.0\r\n\r\n")
        _, headers, _ = await client.answer()
        assert headers["connection"] == "close"
        assert await client.closed()
