"""What the webhook counts, for Prometheus. Nothing that a stranger can choose becomes a label of its own.

The endpoint is not authenticated, so kinds and versions that are not served here are all counted as ``unknown``.
The API server has its own view of the same calls (``apiserver_conversion_webhook_*``): a call that fails there and is
not counted here never arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import prometheus_client
from prometheus_client import exposition, process_collector

from instar.conversion import reviewing

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = exposition.CONTENT_TYPE_LATEST
SECONDS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
BYTES = (256, 1024, 4096, 16384, 65536, 131072, 196608, 262144)


class Metrics:
    """One registry with everything that one server counts; ``known`` are the (group, kind) that it serves."""

    def __init__(self, known: Iterable[tuple[str, str]], digests: Mapping[tuple[str, str], str]) -> None:
        self._known = frozenset(known)
        self.registry = prometheus_client.CollectorRegistry()
        process_collector.ProcessCollector(registry=self.registry)
        conversions = prometheus_client.Info(
            "instar_webhook_conversion",
            "The conversions served; instar prove prints the same digest of the same conversion and schemas.",
            ["group", "kind"],
            registry=self.registry,
        )
        for (group, kind), digest in digests.items():
            conversions.labels(group, kind).info({"digest": digest})
        self._requests = prometheus_client.Counter(
            "instar_webhook_requests", "Conversion requests answered.", ["result"], registry=self.registry
        )
        self._objects = prometheus_client.Counter(
            "instar_webhook_objects",
            "Objects of conversion requests.",
            ["kind", "from_version", "to_version", "result"],
            registry=self.registry,
        )
        self._seconds = prometheus_client.Histogram(
            "instar_webhook_request_seconds",
            "Seconds from the last byte of a conversion request to its answer.",
            buckets=SECONDS,
            registry=self.registry,
        )
        self._carried = prometheus_client.Histogram(
            "instar_webhook_carried_bytes",
            "Bytes of carried annotations, of each converted object that has any (an object may have 262144 in all).",
            buckets=BYTES,
            registry=self.registry,
        )
        self.in_flight = prometheus_client.Gauge(
            "instar_webhook_requests_in_flight", "Conversion requests begun and not answered.", registry=self.registry
        )
        self.certificate_expiry = prometheus_client.Gauge(
            "instar_webhook_certificate_expiry_timestamp_seconds",
            "When the serving certificate ends, in seconds since 1970.",
            registry=self.registry,
        )
        self.certificate_reloads = prometheus_client.Counter(
            "instar_webhook_certificate_reloads", "Changed certificate files seen.", ["result"], registry=self.registry
        )

    def count(self, answer: reviewing.Answer, seconds: float) -> None:
        """Count one answered request and its objects."""
        read = "failed" if answer.message else "success"
        result = read if answer.code == 200 else "unreadable"
        self._requests.labels(result).inc()
        self._seconds.observe(seconds)
        for outcome in answer.outcomes:
            self._count_object(outcome)

    def count_refused(self, result: str) -> None:
        """Count one request that was not looked at: ``overload`` or ``too_large``."""
        self._requests.labels(result).inc()

    def _count_object(self, outcome: reviewing.Outcome) -> None:
        known = (outcome.group, outcome.kind) in self._known and outcome.reason != "NotServed"
        kind, source, target = outcome.kind, outcome.from_version, outcome.to_version
        labels = (kind, source, target) if known else ("unknown", "unknown", "unknown")
        self._objects.labels(*labels, outcome.reason or "success").inc()
        if outcome.carried_bytes:
            self._carried.observe(outcome.carried_bytes)

    def text(self) -> bytes:
        """The exposition that Prometheus scrapes."""
        return exposition.generate_latest(self.registry)
