"""Watches the run from outside: what etcd holds, how long conversions take, how many writes were acknowledged.

Counting 6,000 objects each second must not slow what it watches: etcd is asked for what changed since the last time,
and for the keys alone when something was deleted.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping

from instar import errors
from instar.demo import histogram
from instar.kube import client as client_module
from instar.kube import etcd as etcd_module
from instar.model import resource as resource_model
from instar.report import run

__all__ = ["LATENCY", "Sampler"]

LATENCY = "apiserver_crd_conversion_webhook_duration_seconds"
STORED_EVERY_SECONDS = 1.0
METRICS_EVERY = 2
"""Every how many samples of etcd the API server's metrics are read: that page is 2 MB."""


class Sampler:
    """Samples from ``watching()`` on; the three series are what the report draws."""

    def __init__(
        self,
        *,
        client: client_module.Client,
        etcd: etcd_module.Etcd,
        resource: resource_model.Resource,
        crd: str,
        elapsed: Callable[[], float],
        acknowledged: Callable[[], Mapping[str, int]],
    ) -> None:
        self.stored: list[run.StoredSample] = []
        self.latency: list[run.LatencySample] = []
        self.writes: list[run.WriteSample] = []
        self._client, self._etcd, self._resource, self._crd = client, etcd, resource, crd
        self._elapsed, self._acknowledged = elapsed, acknowledged
        self._revision = 0
        self._versions: dict[str, str] = {}
        self._histogram = histogram.Histogram(buckets={})
        self._written: Mapping[str, int] = {}

    @property
    def write_interval_seconds(self) -> float:
        """How much time a sample of writes covers."""
        return STORED_EVERY_SECONDS * METRICS_EVERY

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Samples while the body runs, and once more at its end."""
        task = asyncio.create_task(self._loop())
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await self._sample_all()

    async def count(self) -> dict[str, int]:
        """Objects in etcd by version, now."""
        await self._sample_stored()
        return dict(self.stored[-1].by_version)

    async def _loop(self) -> None:
        next_at = self._elapsed()
        for number in range(1_000_000):
            with contextlib.suppress(errors.ClusterError):  # a sample that failed is a gap in a chart
                await (self._sample_stored() if number % METRICS_EVERY else self._sample_all())
            next_at = max(next_at + STORED_EVERY_SECONDS, self._elapsed())
            await asyncio.sleep(next_at - self._elapsed())

    async def _sample_all(self) -> None:
        self._sample_writes()
        await self._sample_stored()
        await self._sample_latency()

    async def _sample_stored(self) -> None:
        changes = await self._etcd.changes(self._resource, since=self._revision)
        self._revision = changes.revision
        for entry in changes.entries:
            self._versions[entry.key] = entry.api_version.removeprefix(f"{self._resource.group}/")
        if len(self._versions) != changes.total:
            left = set(await self._etcd.keys(self._resource))
            self._versions = {key: version for key, version in self._versions.items() if key in left}
        counted = dict(Counter(self._versions.values()))
        self.stored.append(run.StoredSample(at_seconds=self._elapsed(), by_version=counted))

    async def _sample_latency(self) -> None:
        page = await self._client.request("GET", "/metrics", accept="text/plain")
        now = histogram.parse(page.body.decode(), LATENCY, {"crd_name": self._crd})
        between = histogram.since(self._histogram, now)
        self._histogram = now
        if calls := histogram.calls(between):
            self.latency.append(
                run.LatencySample(
                    at_seconds=self._elapsed(),
                    calls=calls,
                    median_seconds=histogram.quantile(between, 0.5),
                    p99_seconds=histogram.quantile(between, 0.99),
                )
            )

    def _sample_writes(self) -> None:
        now = dict(self._acknowledged())
        between = {version: count - self._written.get(version, 0) for version, count in now.items()}
        self._written = now
        if any(between.values()):
            self.writes.append(run.WriteSample(at_seconds=self._elapsed(), by_version=between))
