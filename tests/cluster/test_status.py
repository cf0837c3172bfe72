"""`instar status` through the life of a version, and what --check finds where lists are stale."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import yaml
from tests.cluster import converter as converter_module
from tests.cluster import stage as stage_module
from tests.cluster.command import instar

from instar import migration
from instar.controllers import inventory, migrate
from instar.kube import etcd as kube_etcd
from instar.model import crd as crd_model

pytestmark = pytest.mark.cluster

QUICK = migration.Settings(settle_seconds=1, lease_seconds=1, timeout_seconds=60)


@pytest.fixture
def converter():
    with converter_module.serve() as serving:
        yield serving


@pytest.fixture
async def stage(cluster, etcd: kube_etcd.Etcd) -> AsyncIterator[stage_module.Stage]:
    here = stage_module.Stage(client=cluster.client, etcd=etcd, namespace=cluster.namespace)
    await here.install()
    yield here
    await here.remove()


@pytest.fixture
async def converted(cluster, etcd: kube_etcd.Etcd, converter) -> AsyncIterator[stage_module.Stage]:
    here = stage_module.Stage(
        client=cluster.client, etcd=etcd, namespace=cluster.namespace, conversion=converter.stanza()
    )
    await here.install()
    yield here
    converter.refuse.clear()
    await here.remove()


async def seen(stage: stage_module.Stage, *words: str) -> dict:
    """The one item that -o json gives."""
    ended = await instar("status", stage.name, "--kubeconfig", stage.client.config.source, "-o", "json", *words)
    (item,) = json.loads(ended.out)["items"]
    return item | {"exit": ended.code, "err": ended.err}


async def test_life_of_a_version(stage: stage_module.Stage) -> None:
    """At each stage the next step is the command that leads to the next one, and following it ends in nothing to do."""
    await stage.create(f"t{index}" for index in range(7))
    at_first = await seen(stage)
    assert (at_first["objects"], at_first["storage"], at_first["storedVersions"]) == (7, "v1", ["v1"])
    assert at_first["nextStep"].startswith("objects are stored at v1 although v2 is served")
    await stage.change("v2")
    flipped = await seen(stage)
    assert flipped["nextStep"] == f"stored versions list v1 too: instar migrate {stage.name}"
    assert flipped["storageVersionHash"] == crd_model.storage_version_hash(await stage.crd())
    await migrate.run(stage.client, stage.name, QUICK)
    migrated = await seen(stage)
    assert migrated["storedVersions"] == ["v2"]
    assert migrated["nextStep"].startswith("stored at v2 only, v1 is still served")
    await stage.change("v2", unserved=["v1"])
    assert (await seen(stage))["nextStep"].startswith("v1 is neither stored nor served")
    await stage.change("v2", without=["v1"])
    done = await seen(stage)
    assert (done["nextStep"], done["findings"], done["objects"], done["err"]) == ("nothing to do", [], 7, "")


async def test_forms(stage: stage_module.Stage) -> None:
    """table, wide, json, yaml and name say the same of the same CRD; without a name every multi-version one shows."""
    await stage.create(["a"])
    given = ("--kubeconfig", stage.client.config.source)
    table = await instar("status", stage.name, *given)
    heading, row = table.out.splitlines()
    assert heading.split("   ")[0] == "NAME"
    assert heading.endswith("NEXT STEP")
    assert row.split()[:6] == [stage.name, "v1,v2", "v1", "v1", "1", "None"]
    wide = await instar("status", stage.name, *given, "-o", "wide")
    crd = await stage.crd()
    assert crd_model.storage_version_hash(crd) in wide.out
    assert crd.uid in wide.out
    assert yaml.safe_load((await instar("status", stage.name, *given, "-o", "yaml")).out) == json.loads(
        (await instar("status", stage.name, *given, "-o", "json")).out
    )
    names = (await instar("status", *given, "-o", "name")).out.splitlines()
    assert f"customresourcedefinition.apiextensions.k8s.io/{stage.name}" in names
    assert names == sorted(names)


async def test_nothing_found(make_control_plane) -> None:
    """A cluster without CRDs: kubectl's words on stderr, no data, exit code 0."""
    file = make_control_plane().kubeconfig
    ended = await instar("status", "--kubeconfig", file)
    assert (ended.code, ended.out, ended.err) == (0, "", "No resources found\n")
    ended = await instar("status", "--kubeconfig", file, "-o", "json")
    assert json.loads(ended.out)["items"] == []
    assert ended.err == ""


async def test_check_of_a_healthy_crd(stage: stage_module.Stage) -> None:
    """Everything can be read: said on stderr, exit code 0."""
    await stage.create(f"t{index:02}" for index in range(12))
    await stage.change("v2")
    item = await seen(stage, "--check")
    assert (item["exit"], item["objects"]) == (0, 12)
    assert item["check"] == {"objects": 12, "versions": ["v1", "v2"], "incomplete": "", "unreadable": []}
    assert "12 objects of 1 CRDs read at each served version, 0 reads failed" in item["err"]


@pytest.mark.parametrize("cold", [False, True], ids=["warm", "cold"])
async def test_check_names_what_cannot_be_read(
    converted: stage_module.Stage, converter: converter_module.Converter, cold: bool
) -> None:
    """Two of many cannot be converted: both are named with the converter's words, whatever the watch cache holds."""
    names = [f"t{index:02}" for index in range(30)]
    await converted.create(names)
    await converted.change("v2")
    listed = [page async for page in converted.client.pages(converted.at("v2"))]
    assert sum(len(page.items) for page in listed) == 30
    converter.refuse |= {"t03", "t20"}
    if cold:
        await converted.client.patch(
            crd_model.RESOURCE, converted.name, {"spec": {"names": {"categories": ["rebuild"]}}}
        )
    item = await seen(converted, "--check")
    assert item["exit"] == 1
    api_version = converted.at("v2").api_version
    assert [(bad["namespace"], bad["name"], bad["version"]) for bad in item["check"]["unreadable"]] == [
        (converted.namespace, "t03", "v2"),
        (converted.namespace, "t20", "v2"),
    ]
    assert item["check"]["unreadable"][0]["reason"].endswith(f"t03: spec.size: cannot be said at {api_version}")
    assert (item["check"]["objects"], item["check"]["incomplete"]) == (30, "")
    assert item["nextStep"].startswith("2 of 30 objects cannot be read at v2")
    table = await instar("status", converted.name, "--check", "--kubeconfig", converted.client.config.source)
    assert table.code == 1
    assert f"{converted.namespace}/t03   v2" in table.out


async def test_count_without_reading(converted: stage_module.Stage, converter: converter_module.Converter) -> None:
    """Counting does not need every object to be convertible: the page of one does not hold the bad one."""
    await converted.create(["a", "b", "c"])
    await converted.change("v2")
    converter.refuse.add("c")
    (crd,) = await inventory.crds(converted.client, [converted.name])
    (counted,), refused = await inventory.observe(converted.client, [crd])
    assert (counted.objects, refused) == (3, ())


async def test_a_webhook_that_is_down(converted: stage_module.Stage, converter: converter_module.Converter) -> None:
    """Objects are counted at the version that needs no conversion, and the next step says which version is broken."""
    await converted.create(["a", "b", "c"])
    await converted.change("v2")
    converter.down = True
    try:
        await converted.client.patch(
            crd_model.RESOURCE, converted.name, {"spec": {"names": {"categories": ["rebuild"]}}}
        )
        item = await seen(converted)
    finally:
        converter.down = False
    assert item["exit"] == 0
    assert item["objects"] == 3
    assert item["nextStep"].startswith("its objects cannot be listed at v2 (conversion webhook for")
    assert [found["reason"] for found in item["findings"]] == ["Unlisted", "OldVersionsStored"]
