"""How the API servers are known, and what is said about it."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.cluster import stage as stage_module

from instar.controllers import servers
from instar.kube import etcd as kube_etcd
from instar.model import crd as crd_model

pytestmark = pytest.mark.cluster


@pytest.fixture
async def stage(cluster: Any, etcd: kube_etcd.Etcd) -> AsyncIterator[stage_module.Stage]:
    here = stage_module.Stage(client=cluster.client, etcd=etcd, namespace=cluster.namespace)
    await here.install()
    yield here
    await here.remove()


class BehindBalancer(servers.ApiServers):
    """A cluster whose Service endpoints cannot be reached from here."""

    async def _endpoints(self) -> tuple[str, ...]:
        return ("https://127.0.0.1:1", "https://127.0.0.1:2")


async def test_endpoints_out_of_reach_are_sampled(stage: stage_module.Stage) -> None:
    """Many fresh connections through the kubeconfig's address stand in, and the source says so."""
    asked = BehindBalancer(stage.client, ())
    try:
        seen = await asked.ask(await stage.crd(), fresh=True)
    finally:
        await asked.close()
    assert seen.source.startswith("sampled")
    assert [server.url for server in seen.servers] == list(stage.client.servers)
    assert seen.servers[0].hash == crd_model.storage_version_hash(await stage.crd())
    assert seen.steady_since is not None


async def test_a_named_server_out_of_reach_is_never_sampled(stage: stage_module.Stage) -> None:
    """Who names a server means that one: no answer is no answer."""
    asked = servers.ApiServers(stage.client, ["https://127.0.0.1:1"])
    try:
        seen = await asked.ask(await stage.crd(), fresh=True)
    finally:
        await asked.close()
    assert seen.source == "named"
    assert seen.servers[0].hash is None
    assert seen.steady_since is None


async def test_a_paused_server_begins_anew(make_control_plane: Any) -> None:
    """One miss, and a server's time of being steady begins again when it answers: its queue may hold old writes."""
    from instar.kube import client as kube_client
    from instar.kube import kubeconfig

    plane = make_control_plane()
    async with kube_client.Client(kubeconfig.load(str(plane.kubeconfig))) as client, kube_etcd.Etcd(plane.etcd) as etcd:
        stage = stage_module.Stage(client=client, etcd=etcd, namespace="default")
        await stage.install()
        crd = await stage.crd()
        asked = servers.ApiServers(client, [client.servers[0]])
        try:
            before = (await asked.ask(crd, fresh=True)).steady_since
            again = (await asked.ask(crd, fresh=False)).steady_since
            plane.pause_apiserver(0)
            missed = await asked.ask(crd, fresh=False)
            plane.resume_apiserver(0)
            after = (await asked.ask(crd, fresh=False)).steady_since
        finally:
            await asked.close()
    assert before == again
    assert missed.steady_since is None
    assert before is not None
    assert after is not None
    assert after >= before + servers.PROBE_SECONDS
