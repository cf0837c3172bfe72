"""The webhook as an ASGI application, to live on a listener that an operator has already (kopf, Starlette, uvicorn).

The same answers as ``instar serve``. What the listener must do itself, because an application cannot: TLS, keep-alive
above 90 s, and going on serving for a while after SIGTERM (call ``drain`` when it comes).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from instar.conversion import reviewing
from instar.serving import service as service_module

__all__ = ["App", "app"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


def app(
    bounds: reviewing.Bounds,
    *,
    limits: service_module.Limits | None = None,
    aliases: Mapping[str, tuple[str, str]] | None = None,
) -> App:
    """An ASGI application that answers ``/convert``, ``/livez``, ``/readyz`` and ``/metrics`` for these conversions."""
    return App(service_module.Service(bounds, limits=limits, aliases=aliases))


class App:
    """See ``app``."""

    def __init__(self, service: service_module.Service) -> None:
        self._service = service

    def drain(self) -> None:
        """From now on /readyz fails and every answer asks the client to close its connection."""
        self._service.draining = True

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            response = await self._respond(scope["method"], scope["path"], receive)
            if response is not None:
                await self._send(response, send, with_body=scope["method"] != "HEAD")
        else:
            raise RuntimeError(f"no ASGI scope of type {scope['type']!r} is served here")

    async def _respond(self, method: str, path: str, receive: Receive) -> service_module.Response | None:
        """The answer, or None where the client went away before its request was whole."""
        if not self._service.is_conversion(method, path):
            return self._service.respond(method, path)
        intake = service_module.Intake(self._service)
        try:
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    return None
                intake.feed(message.get("body", b""), self._service.limits.body_bytes)
                if not message.get("more_body", False):
                    return self._service.convert(path, intake)
        finally:
            intake.close()

    async def _send(self, response: service_module.Response, send: Send, *, with_body: bool) -> None:
        headers = [
            (b"content-type", response.content_type.encode()),
            (b"content-length", str(len(response.body)).encode()),
            *((name.lower().encode(), value.encode()) for name, value in response.headers),
            *([(b"connection", b"close")] if self._service.draining else []),
        ]
        await send({"type": "http.response.start", "status": response.code, "headers": headers})
        await send({"type": "http.response.body", "body": response.body if with_body else b""})


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
