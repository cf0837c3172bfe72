"""The lease of a migration, on a real control plane."""

from typing import Any

import pytest

from instar.controllers import lease as lease_module
from instar.model import resource as resource_model

pytestmark = pytest.mark.cluster

LEASES = resource_model.Resource(
    group="coordination.k8s.io", version="v1", plural="leases", kind="Lease", namespaced=True
)


async def test_handed_back_though_a_renewal_was_under_way(cluster: Any) -> None:
    """A renewal that the API server took and whose answer never came (Ctrl-C): the next run need not wait it out."""
    ours = lease_module.Lease(cluster.client, cluster.namespace, "uid-1", 60)
    assert await ours.take() == ""
    await cluster.client.patch(
        LEASES, "instar-migrate-uid-1", {"spec": {"leaseDurationSeconds": 61}}, cluster.namespace
    )
    await ours.release()
    assert [item async for page in cluster.client.pages(LEASES, cluster.namespace) for item in page.items] == []


async def test_another_one_s_is_left_alone(cluster: Any) -> None:
    """A lease that somebody took over meanwhile is not theirs to lose."""
    ours = lease_module.Lease(cluster.client, cluster.namespace, "uid-2", 60)
    assert await ours.take() == ""
    await cluster.client.patch(LEASES, "instar-migrate-uid-2", {"spec": {"holderIdentity": "other"}}, cluster.namespace)
    await ours.release()
    found = await cluster.client.get(LEASES, "instar-migrate-uid-2", cluster.namespace)
    assert found["spec"]["holderIdentity"] == "other"
