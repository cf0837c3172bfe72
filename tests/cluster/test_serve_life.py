"""A webhook server that ends, restarts and renews its certificate under a real API server: no call is lost."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from instar import errors
from instar.serving import local

pytestmark = pytest.mark.cluster

READERS = 8
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
async def one_tenant(cluster):
    """A body to create; a read at v1 by name is one call of the webhook."""
    return {
        "apiVersion": "platform.acme.io/v1alpha1",
        "kind": "Tenant",
        "metadata": {"name": "acme", "namespace": cluster.namespace},
        "spec": {"quota": "cpu=8,mem=32Gi"},
    }


class Readers:
    """Clients that read at v1 without pause, and remember what failed."""

    def __init__(self, cluster, conversion) -> None:
        self.cluster, self.resource = cluster, conversion.at("v1")
        self.done, self.failed = 0, []
        self.stopping = False

    async def read(self) -> None:
        while not self.stopping:
            try:
                found = await self.cluster.client.get(self.resource, "acme", self.cluster.namespace)
                assert found["spec"]["quota"] == {"cpu": "8", "memory": "32Gi"}
                self.done += 1
            except errors.ApiError as error:
                self.failed.append(error.message)

    async def during(self, story) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(READERS):
                group.create_task(self.read())
            try:
                await story
            finally:
                self.stopping = True


async def calls(webhook) -> float:
    """How many requests the server has answered."""
    lines = (await webhook.metrics()).splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith("instar_webhook_requests_total"))


async def test_calls_during_the_drain_are_answered(cluster, serve_conversion, one_tenant):
    """SIGTERM while API servers still send: as long as the drain lasts, every call is answered."""
    conversion = await serve_conversion("tenant", drain_seconds=4.0)
    await cluster.client.create(conversion.at("v1alpha1"), one_tenant, cluster.namespace)
    readers = Readers(cluster, conversion)

    async def story() -> None:
        await asyncio.sleep(1)
        conversion.webhook.process.send_signal(signal.SIGTERM)
        before = await calls(conversion.webhook)
        await asyncio.sleep(2)
        assert await calls(conversion.webhook) > before + 10, "calls went on coming in the drain"

    await readers.during(story())
    assert readers.failed == []
    assert readers.done > 20
    assert await asyncio.wait_for(conversion.webhook.process.wait(), 30) == 0


async def test_a_new_certificate_under_load(cluster, serve_conversion, one_tenant):
    """Renewed by the same authority while API servers call: served within seconds, and no call is lost."""
    conversion = await serve_conversion("tenant")
    await cluster.client.create(conversion.at("v1alpha1"), one_tenant, cluster.namespace)
    readers = Readers(cluster, conversion)

    async def story() -> None:
        for renewals in (1, 2):
            local.renew(conversion.webhook.folder)
            reloaded = f'instar_webhook_certificate_reloads_total{{result="success"}} {renewals}.0'
            async with asyncio.timeout(20):
                while reloaded not in await conversion.webhook.metrics():
                    await asyncio.sleep(0.2)

    await readers.during(story())
    assert readers.failed == []
    assert readers.done > 20


async def test_restarted_at_the_same_address(cluster, serve_conversion, one_tenant, tmp_path):
    """A server that crashed and comes back with its certificate is used again at once; the CRD is not touched."""
    conversion = await serve_conversion("tenant", folder=tmp_path)
    await cluster.client.create(conversion.at("v1alpha1"), one_tenant, cluster.namespace)
    conversion.webhook.process.kill()
    await conversion.webhook.process.wait()
    with pytest.raises(errors.ApiError, match="connection refused"):
        await cluster.client.get(conversion.at("v1"), "acme", cluster.namespace)
    port = int(conversion.webhook.url.split(":")[2].split("/")[0])
    example = EXAMPLES / "tenant"
    async with local.start(example / "conversion.py", example / "crd.yaml", folder=tmp_path, port=port):
        found = await cluster.client.get(conversion.at("v1"), "acme", cluster.namespace)
        assert found["spec"]["quota"] == {"cpu": "8", "memory": "32Gi"}
        await conversion.remove()
