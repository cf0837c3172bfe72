"""The life of one webhook server: listen, say that it is ready, follow the certificate files, drain, end.

::

    starting -> serving --SIGTERM--> draining --drain_seconds--> closing --all answered, or CLOSE_SECONDS--> ended
                   \\--SIGINT, or a second SIGTERM-----------------^

*Draining* is where rolling restarts lose calls: API servers go on sending to an address for as long as its removal
takes to reach them, and never retry a connection that is refused or reset. So /readyz fails first, new connections are
still taken, every answer asks its client to connect anew (elsewhere), and only then does the listener close.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import gc
import logging
import signal
from collections.abc import Callable, Iterator

from instar import errors
from instar.serving import certificates as certificates_module
from instar.serving import http1
from instar.serving import service as service_module

__all__ = ["Settings", "serve"]

log = logging.getLogger("instar.serving")

CLOSE_SECONDS = 30.0
"""What a request that has begun is given to come in: all that an API server waits."""
TICK_SECONDS = 1.0
HANDSHAKE_SECONDS = 10.0
GOODBYE_SECONDS = 2.0
BACKLOG = 4096


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Where to listen (port 0: any free one), with what certificate, and how long to go on after SIGTERM."""

    bind: str
    port: int
    pair: certificates_module.Pair
    drain_seconds: float = 15.0


async def serve(service: service_module.Service, settings: Settings, ready: Callable[[str], None]) -> None:
    """Serve until a signal comes; ``ready`` is called once with the URL of the listener.

    Raises UsageError where the certificate or the address cannot be used.
    """
    certificates = certificates_module.Certificates(settings.pair)
    connections = http1.Connections(service)
    listener = await _listen(connections, certificates, settings)
    _freeze()
    service.metrics.certificate_expiry.set(certificates.expires.timestamp())
    clock = asyncio.create_task(_tick(service, connections, certificates))
    stop = _Stop()
    try:
        with stop.on_signals():
            ready(_url(settings.bind, listener))
            for (group, kind), digest in service.digests.items():
                log.info("conversion", extra={"fields": {"group": group, "kind": kind, "digest": digest}})
            await stop.asked.wait()
            await _drain(service, settings.drain_seconds, stop)
            await _close(listener, connections, stop)
    finally:
        clock.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await clock
        listener.close()
        connections.abort()


class _Stop:
    """SIGTERM asks for an end; SIGINT, or a second SIGTERM, for one without waiting for endpoints to notice."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.at_once = asyncio.Event()

    @contextlib.contextmanager
    def on_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._terminate)
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGTERM)
            loop.remove_signal_handler(signal.SIGINT)

    def _terminate(self) -> None:
        if self.asked.is_set():
            self.at_once.set()
        self.asked.set()

    def _interrupt(self) -> None:
        self.asked.set()
        self.at_once.set()


async def _listen(
    connections: http1.Connections, certificates: certificates_module.Certificates, settings: Settings
) -> asyncio.Server:
    loop = asyncio.get_running_loop()
    try:
        return await loop.create_server(
            connections,
            settings.bind,
            settings.port,
            ssl=certificates.context,
            backlog=BACKLOG,
            ssl_handshake_timeout=HANDSHAKE_SECONDS,
            ssl_shutdown_timeout=GOODBYE_SECONDS,
        )
    except OSError as error:
        raise errors.UsageError(
            f"cannot listen on {settings.bind} port {settings.port}: {error.strerror or error}: "
            "choose another with --bind or --port (0 takes a free one)"
        ) from error


def _url(bind: str, listener: asyncio.Server) -> str:
    host = f"[{bind}]" if ":" in bind else bind
    return f"https://{host}:{listener.sockets[0].getsockname()[1]}/convert"


def _freeze() -> None:
    """What was made while starting lives as long as the process: keep the collector from walking it at every call."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


async def _tick(
    service: service_module.Service,
    connections: http1.Connections,
    certificates: certificates_module.Certificates,
) -> None:
    while True:
        await asyncio.sleep(TICK_SECONDS)
        connections.sweep()
        reloaded = certificates.reload()
        if reloaded is not None:
            service.metrics.certificate_reloads.labels("success" if reloaded else "failed").inc()
            service.metrics.certificate_expiry.set(certificates.expires.timestamp())


async def _drain(service: service_module.Service, seconds: float, stop: _Stop) -> None:
    service.draining = True
    log.info("draining", extra={"fields": {"seconds": seconds, "in_flight": service.in_flight}})
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stop.at_once.wait(), seconds)


async def _close(listener: asyncio.Server, connections: http1.Connections, stop: _Stop) -> None:
    """No new connections; those that wait are closed, those that have begun a request get to its answer."""
    listener.close()
    deadline = asyncio.get_running_loop().time() + CLOSE_SECONDS
    connections.close_idle()
    while connections.open and asyncio.get_running_loop().time() < deadline:
        await asyncio.sleep(0.02)
        connections.close_idle()
    if connections.open:
        log.warning("closed with requests that never came in", extra={"fields": {"connections": len(connections.open)}})
    log.info("ended")
