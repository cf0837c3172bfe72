"""A version is removed: what was carried for it goes with it, said before, proved after, on a real API server."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from typing import Any

import pytest
from tests.cluster import guarded as guarded_module
from tests.cluster.guarded import PREFIX, Guarded
from tests.cluster.test_serve_kubectl import NEW, OLD, RICH

from instar import migration
from instar.controllers import migrate
from instar.kube import client as kube_client
from instar.kube import etcd as kube_etcd
from instar.kube import kubeconfig
from instar.model import crd as crd_model

pytestmark = pytest.mark.cluster
guarding = guarded_module.guarding
QUICK = migration.Settings(settle_seconds=0, lease_seconds=1, retire=(OLD,))
LOST = {"/spec/costCentre", "/spec/quota"}
"""What v1alpha1 alone could say of the tenant: a field of its own, and how the quota was spelled."""


async def serve_only_v1(guarded: Guarded) -> None:
    """v1 is stored, and v1alpha1 is not served any more."""
    names = [version.name for version in guarded.conversion.crd.versions]
    patch = [
        {"op": "replace", "path": f"/spec/versions/{at}/{word}", "value": name == NEW}
        for at, name in enumerate(names)
        for word in ("storage", "served")
    ]
    await guarded.cluster.client.patch(crd_model.RESOURCE, guarded.conversion.crd.name, patch, patch_type="json")
    await asyncio.sleep(1)


async def stored(etcd: kube_etcd.Etcd, guarded: Guarded, name: str = "acme") -> Any:
    found = await etcd.get(kube_etcd.key(guarded.conversion.at(NEW), guarded.cluster.namespace, name))
    assert found is not None
    return json.loads(found.value)


def of_old(document: Any) -> list[str]:
    """The annotations that carry something for v1alpha1."""
    return [key for key in document["metadata"].get("annotations", {}) if key.startswith(f"{PREFIX}{OLD}.")]


async def run(guarded: Guarded, **more: Any) -> Any:
    chosen = dataclasses.replace(QUICK, **more)
    return await migrate.run(guarded.cluster.client, guarded.conversion.crd.name, chosen)


async def test_a_version_is_removed(guarding: Any, etcd: kube_etcd.Etcd) -> None:
    """Carried while it is served; listed as loss by a dry run; gone from etcd after; v1 reads as before."""
    guarded = await guarding(OLD, "none")
    names = [version.name for version in guarded.conversion.crd.versions]
    flip = [{"op": "replace", "path": f"/spec/versions/{at}/storage", "value": n == NEW} for at, n in enumerate(names)]
    await guarded.cluster.client.patch(crd_model.RESOURCE, guarded.conversion.crd.name, flip, patch_type="json")
    await asyncio.sleep(1)
    served = await run(guarded)
    assert served.result is migration.Result.TRIMMED
    assert served.carried is None
    assert len(of_old(await stored(etcd, guarded))) > 1, "it is served, and reads as it did"
    assert (await guarded.spec(OLD))["costCentre"] == "0047"

    await serve_only_v1(guarded)
    said = await run(guarded, dry_run=True)
    assert said.carried is None
    assert "values that only v1alpha1 could say, of 2 objects, would be gone for good" in said.summary
    assert all(f"{path} (2)" in said.summary for path in LOST)
    assert len(of_old(await stored(etcd, guarded))) > 1

    found = await run(guarded)
    assert found.result is migration.Result.CLEANED, found.summary
    assert set(found.carried.by_path) >= LOST
    assert found.carried.objects == 2
    assert "values that only v1alpha1 could say, of 2 objects, are gone" in found.summary
    assert of_old(await stored(etcd, guarded)) == of_old(await stored(etcd, guarded, "canary")) == []
    assert await guarded.spec(NEW) == RICH
    assert (await run(guarded)).result is migration.Result.NOTHING_TO_DO


async def test_a_guard_that_puts_it_back_is_named(guarding: Any, etcd: kube_etcd.Etcd) -> None:
    """Held with what to do, and nothing is lost; once the guard does not look at this user, it goes."""
    guarded = await guarding(NEW)
    await serve_only_v1(guarded)
    held = await run(guarded)
    assert held.result is migration.Result.HELD
    assert "guard" in held.summary
    assert "--exempt" in held.summary
    assert len(of_old(await stored(etcd, guarded))) > 1


async def test_a_guard_that_refuses_is_named(guarding: Any, etcd: kube_etcd.Etcd) -> None:
    """The refusal of the write says which annotation of which object."""
    guarded = await guarding(NEW, "refuses")
    await serve_only_v1(guarded)
    held = await run(guarded)
    assert held.result is migration.Result.HELD
    assert len(of_old(await stored(etcd, guarded))) > 1


async def test_an_exempt_user_may(guarding: Any, etcd: kube_etcd.Etcd) -> None:
    """The guard does not look at who migrates."""
    user = "system:serviceaccount:instar:migrator"
    guarded = await guarding(NEW, exempt=(user,))
    await serve_only_v1(guarded)
    config = kubeconfig.load(str(guarded.cluster.control_plane.kubeconfig))
    who = (("Impersonate-User", user), ("Impersonate-Group", "system:masters"))
    async with kube_client.Client(dataclasses.replace(config, impersonate=who)) as client:
        found = await migrate.run(client, guarded.conversion.crd.name, QUICK)
    assert found.result is migration.Result.CLEANED
    assert of_old(await stored(etcd, guarded)) == []
