"""managedFields that name a version about to go: server-side apply must work on every object once it is gone."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.cluster import stage as stage_module

from instar import errors, migration
from instar.controllers import migrate
from instar.kube import etcd as kube_etcd
from instar.model import crd as crd_model

pytestmark = pytest.mark.cluster

QUICK = migration.Settings(settle_seconds=0, lease_seconds=1)
NAMES = [f"t{i:02}" for i in range(60)]


@pytest.fixture
async def stage(cluster: Any, etcd: kube_etcd.Etcd) -> AsyncIterator[stage_module.Stage]:
    """Objects that one manager applied at v1 and another updated at v1; storage version v2."""
    here = stage_module.Stage(client=cluster.client, etcd=etcd, namespace=cluster.namespace)
    await here.install()
    for name in NAMES:
        await apply(here, name, "v1", {"size": name})
        await here.client.patch(
            here.at("v1"), name, {"spec": {"color": "red"}}, here.namespace, field_manager="painter"
        )
    await here.change("v2")
    yield here
    await here.remove()


async def apply(stage: stage_module.Stage, name: str, version: str, spec: dict[str, Any]) -> dict[str, Any]:
    body = {
        "apiVersion": f"{stage.group}/{version}",
        "kind": "Thing",
        "metadata": {"name": name, "namespace": stage.namespace},
        "spec": spec,
    }
    return await stage.client.patch(
        stage.at(version), name, body, stage.namespace, patch_type="apply", field_manager="owner", force=True
    )


async def gone(stage: stage_module.Stage, version: str) -> None:
    """Until the API server's handlers know that the version was removed, which is a moment after the answer."""
    for _ in range(100):
        try:
            await stage.client.get(stage.at(version), "t00", stage.namespace)
        except errors.ApiError as error:
            if error.code == 404:
                return
        await asyncio.sleep(0.1)
    raise AssertionError(f"{version} is still served after ten seconds")


async def test_apply_works_after_the_version_is_gone(stage: stage_module.Stage) -> None:
    """migrate, unserve, migrate, remove: every apply succeeds, and what a manager gives up is removed."""
    assert (await migrate.run(stage.client, stage.name, QUICK)).result is migration.Result.TRIMMED
    await stage.change("v2", unserved=["v1"])
    found = await migrate.run(stage.client, stage.name, QUICK)
    assert found.result is migration.Result.CLEANED, found.summary
    assert found.managed_fields.counts.moved == len(NAMES)
    await stage.change("v2", without=["v1"])
    for name in NAMES:
        document = await apply(stage, name, "v2", {"weight": 1})
        assert document["spec"] == {"weight": 1, "color": "red"}
    assert await stage.versions() == {"v2": len(NAMES)}


async def test_retire_cleans_while_the_version_is_served(stage: stage_module.Stage) -> None:
    """--retire rewrites within the same pass as the trim, with the objects; the proof comes after it.

    One write does both, but for the first ones, which are canaries: a canary must move only what is old.
    """
    found = await migrate.run(stage.client, stage.name, migration.Settings(settle_seconds=0, retire=("v1",)))
    assert found.result is migration.Result.TRIMMED, found.summary
    assert found.rewrite.counts.moved == len(NAMES)
    assert found.managed_fields.counts.listed == len(NAMES)
    assert found.managed_fields.counts.moved < len(NAMES)
    assert found.canaries
    for name in NAMES:
        entries = (await stage.client.get(stage.at("v2"), name, stage.namespace))["metadata"]["managedFields"]
        assert {entry["apiVersion"] for entry in entries} == {f"{stage.group}/v2"}
    await stage.change("v2", without=["v1"])
    for name in NAMES:
        assert (await apply(stage, name, "v2", {"size": "new"}))["spec"] == {"size": "new", "color": "red"}


async def test_without_it_apply_fails_and_a_later_run_cures_it(stage: stage_module.Stage) -> None:
    """The disease (500 on every apply once the version is removed), and the cure after the fact."""
    await migrate.run(stage.client, stage.name, QUICK)
    await stage.change("v2", without=["v1"])
    await gone(stage, "v1")
    with pytest.raises(errors.ApiError, match="invalid group/version"):
        await apply(stage, "t00", "v2", {"size": "new"})
    found = await migrate.run(stage.client, stage.name, migration.Settings(settle_seconds=0, retire=("v1",)))
    assert found.result is migration.Result.CLEANED, found.summary
    assert (await apply(stage, "t00", "v2", {"size": "new"}))["spec"] == {"size": "new", "color": "red"}


async def test_the_storage_version_cannot_be_retired(stage: stage_module.Stage) -> None:
    """Wrong use, named."""
    with pytest.raises(errors.UsageError, match="v2 is the storage version"):
        await migrate.run(stage.client, stage.name, migration.Settings(retire=("v2",)))
    assert crd_model.storage_version(await stage.crd()) == "v2"
