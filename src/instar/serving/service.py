"""What the webhook answers to one HTTP request, whichever server it came through.

=====================  ===============================================================================================
POST /convert          the ConversionReview; ``/convert/<plural>`` and ``/convert/<crd name>`` are the same
GET /livez             200 while the process can answer at all
GET /readyz            200, or 503 once the server drains, so that endpoints forget it while it still serves
GET /metrics           Prometheus
=====================  ===============================================================================================

An API server shows its user nothing of an answer but the message of a review sent with 200, and it retries nothing but
429, 500 and 503 with an integer Retry-After (at most ten times): so a request that fails is a 200, and one that there
is no room for is a 503 that the user never sees.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import time
from collections.abc import Callable, Mapping

from instar import conversion, loading
from instar.conversion import reviewing
from instar.serving import metrics as metrics_module

__all__ = ["Intake", "Limits", "Response", "Service"]

log = logging.getLogger("instar.serving")

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
HEAD_BYTES = 64 * 1024
"""How much of a body that is too large is kept, to find the uid in it."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """``body_bytes`` of one request; ``requests_in_flight`` that may be in memory at once."""

    body_bytes: int = 16 * 1024 * 1024
    requests_in_flight: int = 400


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Response:
    """One answer; ``headers`` beside Content-Type and Content-Length."""

    code: int
    body: bytes
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()


OVERLOADED = Response(
    code=503,
    body=b'{"message":"too many conversion requests at once; retry"}',
    headers=(("Retry-After", "1"),),
)


class Intake:
    """The body of one conversion request while it comes in; over the limit only its head is kept.

    Holds one of the service's places from its making to ``close``; ``refused`` says that there was none.
    """

    __slots__ = ("_chunks", "_service", "refused", "size")

    def __init__(self, service: Service) -> None:
        self._service: Service | None = service
        self._chunks: list[bytes] = []
        self.size = 0
        self.refused = service.in_flight >= service.limits.requests_in_flight
        service.in_flight += 1
        service.metrics.in_flight.set(service.in_flight)

    def feed(self, chunk: bytes, limit: int) -> None:
        """Take the next bytes; bytes of a request that will not be converted are counted and thrown away."""
        self.size += len(chunk)
        if not self.refused and (self.size <= limit or self.size - len(chunk) < HEAD_BYTES):
            self._chunks.append(chunk)

    def body(self) -> bytes:
        """What was kept."""
        return self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)

    def close(self) -> None:
        """Give the place back; more than once does nothing."""
        if self._service is not None:
            self._service.in_flight -= 1
            self._service.metrics.in_flight.set(self._service.in_flight)
            self._service = None


class Service:
    """The conversions of one process as HTTP answers; ``draining`` is set by whoever runs it."""

    def __init__(
        self,
        bounds: reviewing.Bounds,
        *,
        limits: Limits | None = None,
        aliases: Mapping[str, tuple[str, str]] | None = None,
    ) -> None:
        """``aliases`` are the names, plural or CRD, under which a kind has a path of its own."""
        self._bounds = dict(bounds)
        self._aliases = dict(aliases or {})
        self.limits = limits or Limits()
        self.digests = _digests(self._bounds)
        self.metrics = metrics_module.Metrics(self._bounds, self.digests)
        self.in_flight = 0
        self.draining = False
        self._pages: Mapping[str, Callable[[], Response]] = {
            "/livez": self._livez,
            "/readyz": self._readyz,
            "/metrics": self._metrics,
        }

    @staticmethod
    def is_conversion(method: str, path: str) -> bool:
        """Whether a request has a body that counts against the limits."""
        return method == "POST" and (path == "/convert" or path.startswith("/convert/"))

    def convert(self, path: str, intake: Intake) -> Response:
        """The answer to a conversion request that has come in whole; gives its place back."""
        try:
            return self._convert(path, intake)
        finally:
            intake.close()

    def _convert(self, path: str, intake: Intake) -> Response:
        if intake.refused:
            self.metrics.count_refused("overload")
            return OVERLOADED
        if intake.size > self.limits.body_bytes:
            self.metrics.count_refused("too_large")
            most = self.limits.body_bytes
            text = f"the ConversionReview has {intake.size} bytes, more than the {most} of --max-body-bytes"
            return self._answered(reviewing.refuse(intake.body(), text))
        alias = path[len("/convert/") :]
        if alias and alias not in self._aliases:
            known = ", ".join(f"/convert/{name}" for name in sorted(self._aliases))
            return self._answered(
                reviewing.refuse(intake.body(), f"nothing is served at {path}, only /convert, {known}")
            )
        started = time.perf_counter()
        answer = reviewing.answer(self._bounds, intake.body())
        self.metrics.count(answer, time.perf_counter() - started)
        return self._answered(answer)

    def _answered(self, answer: reviewing.Answer) -> Response:
        if answer.message:
            self._log(answer)
        return Response(code=answer.code, body=answer.body)

    def _log(self, answer: reviewing.Answer) -> None:
        """Say who failed and where; the message itself quotes the object and is for debugging only."""
        failed = [outcome for outcome in answer.outcomes if outcome.reason]
        for outcome in failed:
            log.warning("object not converted", extra={"fields": _fields(outcome)})
        if not failed:
            log.warning("request not answered with objects", extra={"fields": {"code": answer.code}})
        log.debug("failed", extra={"fields": {"failure": answer.message}})

    def respond(self, method: str, path: str) -> Response:
        """The answer to everything that is no conversion request."""
        page = self._pages.get(path)
        if page is not None and method in ("GET", "HEAD"):
            return page()
        if page is not None or path == "/convert" or path.startswith("/convert/"):
            allowed = "GET" if page is not None else "POST"
            body = json.dumps({"message": f"{path} answers {allowed} only"}).encode()
            return Response(code=405, body=body, headers=(("Allow", allowed),))
        return Response(code=404, body=json.dumps({"message": f"nothing is served at {path[:200]}"}).encode())

    def _livez(self) -> Response:
        return Response(code=200, body=b"ok", content_type=TEXT)

    def _readyz(self) -> Response:
        if self.draining:
            return Response(code=503, body=b"draining", content_type=TEXT)
        return Response(code=200, body=b"ok", content_type=TEXT)

    def _metrics(self) -> Response:
        return Response(code=200, body=self.metrics.text(), content_type=metrics_module.CONTENT_TYPE)


def _digests(bounds: reviewing.Bounds) -> dict[tuple[str, str], str]:
    known = ((kind, bound) for kind, bound in bounds.items() if isinstance(bound, conversion.Bound))
    return {kind: loading.digest(bound) for kind, bound in known}


def _fields(outcome: reviewing.Outcome) -> dict[str, str]:
    names = ("group", "kind", "namespace", "name", "from_version", "to_version", "reason", "path")
    return {name: str(getattr(outcome, name))[:256] for name in names}
