"""Two API servers on one etcd: one cluster, whichever is asked, and each can be paused, killed and started alone."""

import asyncio
import json
import os

import pytest

from instar import errors
from instar.controlplane import plane
from instar.kube import client as kube_client
from instar.kube import kubeconfig
from instar.model import resource

pytestmark = pytest.mark.cluster

CONFIGMAPS = resource.Resource(group="", version="v1", plural="configmaps", kind="ConfigMap", namespaced=True)


def configmap(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def connect(started, deadline_seconds=30.0):
    config = kubeconfig.load(str(started.kubeconfig))
    return kube_client.Client(config, servers=started.apiservers, deadline_seconds=deadline_seconds)


@pytest.fixture(scope="module")
def pair():
    """A control plane of two API servers for this module."""
    started = plane.launch(plane.Settings(apiservers=2))
    yield started
    started.stop()


async def test_state_is_shared(pair):
    """What one API server acknowledged, the other returns."""
    async with connect(pair) as client:
        for number, (writer, reader) in enumerate([pair.apiservers, pair.apiservers[::-1]]):
            await client.create(CONFIGMAPS, configmap(f"shared-{number}"), "default", server=writer)
            read = await client.get(CONFIGMAPS, f"shared-{number}", "default", server=reader)
            assert read["metadata"]["name"] == f"shared-{number}"


async def test_service_account_tokens_are_shared(pair):
    """A token signed by one API server is known to the other: they share the service account keys."""
    accounts = resource.Resource(
        group="", version="v1", plural="serviceaccounts", kind="ServiceAccount", namespaced=True
    )
    reviews = resource.Resource(
        group="authentication.k8s.io", version="v1", plural="tokenreviews", kind="TokenReview", namespaced=False
    )
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
    async with connect(pair) as client:
        await client.create(accounts, account, "default", server=pair.apiservers[0])
        path = resource.path(accounts, "default", "robot", "token")
        answer = await client.request("POST", path, body=b'{"spec":{}}', server=pair.apiservers[0])
        token = json.loads(answer.body)["status"]["token"]
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
        judged = await client.create(reviews, review, server=pair.apiservers[1])
    assert judged["status"]["user"]["username"] == "system:serviceaccount:default:robot"


async def test_paused_apiserver_answers_nothing_and_goes_on(pair):
    """A paused API server holds its requests while the other serves; resumed, it answers them."""
    async with connect(pair) as client:
        pair.pause_apiserver(0)
        try:
            waiting = asyncio.create_task(client.list_page(CONFIGMAPS, "default", server=pair.apiservers[0]))
            await client.list_page(CONFIGMAPS, "default", server=pair.apiservers[1])
            done, _ = await asyncio.wait([waiting], timeout=1)
            assert not done
        finally:
            pair.resume_apiserver(0)
        await asyncio.wait_for(waiting, 10)


async def test_killed_apiserver_comes_back_at_its_address(pair):
    """One API server killed leaves the other serving; started again, it answers at its old URL as a new process."""
    before = pair.apiserver_pids
    await asyncio.to_thread(pair.kill_apiserver, 0)
    assert pair.apiserver_pids == (0, before[1])
    async with connect(pair, deadline_seconds=3) as client:
        await client.list_page(CONFIGMAPS, "default", server=pair.apiservers[1])
        with pytest.raises(errors.UnreachableError):
            await client.list_page(CONFIGMAPS, "default", server=pair.apiservers[0])
    await asyncio.to_thread(pair.start_apiserver, 0)
    assert pair.failure() is None
    assert pair.apiserver_pids[0] not in {0, before[0]}
    async with connect(pair) as client:
        await client.list_page(CONFIGMAPS, "default", server=pair.apiservers[0])


async def test_start_tells_a_crash():
    """A crash inside `async with start()` is raised at its end, with the program's name."""

    async def crash():
        async with plane.start() as started:
            os.kill(started.apiserver_pids[0], 9)
            while started.failure() is None:
                await asyncio.sleep(0.05)

    with pytest.raises(errors.ControlPlaneError, match="apiserver-0 was killed by signal 9"):
        await asyncio.wait_for(crash(), 30)


async def test_cancelled_start_leaves_nothing():
    """A start that is cancelled half-way leaves no folder and no process."""
    started = asyncio.create_task(plane.start(plane.Settings(name="cancelled")).__aenter__())
    await asyncio.sleep(1)
    started.cancel()
    with pytest.raises(asyncio.CancelledError):
        await started
    taken = plane.launch(plane.Settings(name="cancelled"))
    taken.stop()
    assert not taken.folder.exists()
