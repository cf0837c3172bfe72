"""HTTP/1.1 on one connection, as an API server's webhook client uses it and no further.

The API server speaks HTTP/1.1 only, keeps a connection idle for 90 s, and never retries a POST whose connection was
lost: so idle connections live longer than 90 s here, and a connection is never closed between a request and its answer.
Conversions run on the loop and are answered before the next byte is read, so pipelined requests are answered in order.

A connection is in one of two states, each with a deadline that ``Connections.sweep`` holds it to::

    idle --first byte of a request--> receiving --last byte: answered--> idle
      |  keep-alive over, or end of drain  |  not whole in time             |  "Connection: close", either way
      v                                    v                                v
    closed                               closed                           closed

A bare protocol instead of an ASGI server: half the CPU per call, and the drain is ours (measured).
"""

from __future__ import annotations

import asyncio
import email.utils
import http
import logging
import time
from typing import Any, cast

import httptools

from instar.serving import service as service_module

__all__ = ["Connection", "Connections"]

log = logging.getLogger("instar.serving")

IDLE_SECONDS = 120.0
"""Above the 90 s after which Go's client closes a connection that it does not use."""
REQUEST_SECONDS = 30.0
"""From the first byte of a request to its last: what the API server gives to a whole call."""
STRAY_BYTES = 64 * 1024
"""Of headers, and of bodies where none is expected."""
DISCARD_FACTOR = 8
"""How many times the body limit is read and thrown away, so that the client comes to read the refusal."""

_REASONS = {code.value: f"HTTP/1.1 {code.value} {code.phrase}\r\n".encode() for code in http.HTTPStatus}


class Connections:
    """Every open connection of one server, and the clock that they are held to."""

    def __init__(self, service: service_module.Service, *, idle_seconds: float = IDLE_SECONDS) -> None:
        self.service = service
        self.idle_seconds = idle_seconds
        self.open: set[Connection] = set()
        self.now = time.monotonic()
        self.date = b""
        self.sweep()

    def __call__(self) -> Connection:
        return Connection(self)

    def sweep(self) -> None:
        """Close what is over its deadline; to be called about every second."""
        self.now = time.monotonic()
        self.date = f"Date: {email.utils.formatdate(usegmt=True)}\r\n".encode()
        for connection in [found for found in self.open if found.deadline < self.now]:
            connection.close_or_abort()

    def close_idle(self) -> None:
        """Close the connections that wait for a request."""
        for connection in [found for found in self.open if not found.receiving]:
            connection.close()

    def abort(self) -> None:
        """Drop what is left."""
        for connection in list(self.open):
            connection.abort()


class Connection(asyncio.Protocol):
    """One client; see the module."""

    def __init__(self, connections: Connections) -> None:
        self._all = connections
        self._service = connections.service
        self._parser = cast(Any, httptools.HttpRequestParser(self))
        self._transport: asyncio.Transport | None = None
        self._url = b""
        self._in_headers = False
        self._stray_bytes = 0
        self._expects = False
        self._intake: service_module.Intake | None = None
        self.receiving = False
        self.deadline = connections.now + connections.idle_seconds

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._all.open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._all.open.discard(self)
        self._transport = None
        self._drop_intake()

    def eof_received(self) -> bool:
        return False

    def pause_writing(self) -> None:
        if self._transport is not None:
            self._transport.pause_reading()

    def resume_writing(self) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserCallbackError:
            log.exception("a bug in instar: a request could not be answered")
            self._fail(500)
        except (httptools.HttpParserUpgrade, httptools.HttpParserError):
            self._fail(400)
        if self._in_headers:
            self._count_stray(len(data), 431)

    def _count_stray(self, size: int, code: int) -> None:
        """Bytes that no conversion is made of: headers, and bodies that nothing asked for."""
        self._stray_bytes += size
        if self._stray_bytes > STRAY_BYTES:
            self._fail(code)

    # What the parser calls, in this order.

    def on_message_begin(self) -> None:
        self._url, self._expects, self.receiving = b"", False, True
        self._in_headers, self._stray_bytes = True, 0
        self.deadline = self._all.now + REQUEST_SECONDS

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(name) == 6 and name.lower() == b"expect":
            self._expects = value.lower() == b"100-continue"

    def on_headers_complete(self) -> None:
        self._in_headers = False
        if self._service.is_conversion(self._method(), self._path()):
            self._intake = service_module.Intake(self._service)
        if self._expects and self._transport is not None:
            self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        intake, limit = self._intake, self._service.limits.body_bytes
        if intake is None:
            self._count_stray(len(body), 413)
        elif intake.size > limit * DISCARD_FACTOR:
            self.abort()
        else:
            intake.feed(body, limit)

    def on_message_complete(self) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        method, path = self._method(), self._path()
        if self._intake is not None:
            response = self._service.convert(path, self._intake)
            self._intake = None
        else:
            response = self._service.respond(method, path)
        self.receiving = False
        self.deadline = self._all.now + self._all.idle_seconds
        self._write(response, close=self._is_last(), head=method == "HEAD")

    def _is_last(self) -> bool:
        return not self._parser.should_keep_alive() or self._parser.should_upgrade()

    def _method(self) -> str:
        return str(self._parser.get_method().decode("latin-1"))

    def _path(self) -> str:
        path = self._url.partition(b"?")[0]
        if path[:1] != b"/":
            path = b"/" + path.partition(b"://")[2].partition(b"/")[2]
        return path.decode("latin-1")

    def _write(self, response: service_module.Response, *, close: bool, head: bool = False) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        close = close or self._service.draining
        self._transport.write(_encode(response, self._all.date, close=close, head=head))
        if close:
            self.close()

    def _fail(self, code: int) -> None:
        """Answer what is no HTTP that we serve, and hang up: nobody knows where its next request begins."""
        text = f'{{"message":"{http.HTTPStatus(code).phrase}"}}'.encode()
        self._write(service_module.Response(code=code, body=text), close=True)

    def close(self) -> None:
        """Send what is written, then close."""
        if self._transport is not None:
            self._transport.close()

    def close_or_abort(self) -> None:
        """Close; if that was asked for before and the client does not let it, at once."""
        if self._transport is not None and self._transport.is_closing():
            self._transport.abort()
        self.close()

    def abort(self) -> None:
        """Close at once."""
        if self._transport is not None:
            self._transport.abort()

    def _drop_intake(self) -> None:
        if self._intake is not None:
            self._intake.close()
            self._intake = None


def _encode(response: service_module.Response, date: bytes, *, close: bool, head: bool) -> bytes:
    fields = f"Content-Type: {response.content_type}\r\nContent-Length: {len(response.body)}\r\n"
    extra = "".join(f"{name}: {value}\r\n" for name, value in response.headers)
    ending = "Connection: close\r\n\r\n" if close else "\r\n"
    return b"".join((_REASONS[response.code], date, (fields + extra + ending).encode(), b"" if head else response.body))
