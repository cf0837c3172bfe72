"""The fixtures that every other cluster test stands on."""

import pytest

from instar import errors
from instar.controlplane import namespaces
from instar.model import resource

pytestmark = pytest.mark.cluster

CONFIGMAPS = resource.Resource(group="", version="v1", plural="configmaps", kind="ConfigMap", namespaced=True)


async def test_client_writes_and_etcd_shows_it(cluster, etcd):
    """What the client writes is what etcd holds, under the test's own namespace."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": {"a": "b"}}
    await cluster.client.create(CONFIGMAPS, body, cluster.namespace)
    stored = await etcd.get(f"/registry/configmaps/{cluster.namespace}/one")
    assert b"k8s\x00" in stored.value
    assert b"one" in stored.value


SEEN = []


@pytest.mark.parametrize("turn", [1, 2])
async def test_namespace_is_fresh_and_goes(cluster, turn):
    """Each test has a namespace of its own, and the one before is gone with what it held."""
    for name in SEEN:
        with pytest.raises(errors.ApiError, match="404"):
            await cluster.client.get(namespaces.NAMESPACES, name)
        with pytest.raises(errors.ApiError, match="404"):
            await cluster.client.get(CONFIGMAPS, "left", name)
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "left"}}
    await cluster.client.create(CONFIGMAPS, body, cluster.namespace)
    assert cluster.namespace not in SEEN
    SEEN.append(cluster.namespace)
    assert len(SEEN) == turn


def test_session_control_plane_is_one(control_plane):
    """The session's control plane runs and says its processes."""
    assert control_plane.failure() is None
    assert all(control_plane.apiserver_pids)
