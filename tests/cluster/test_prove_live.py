"""`instar prove --live` and `instar explain TYPE/NAME` on objects of a real API server; neither writes anything."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.command import instar

pytestmark = pytest.mark.cluster

TENANT = Path(__file__).parents[2] / "examples" / "tenant"
SPECS: dict[str, dict[str, Any]] = {
    "plain": {"displayName": "Plain", "quota": {"cpu": "8"}},
    "rich": {
        "tier": "dedicated",
        "suspended": True,
        "quota": {"cpu": "8", "storage": "2Ti"},
        "owners": [{"name": "zoe", "role": "admin"}],
    },
}


@pytest.fixture
async def tenants(cluster, serve_conversion):
    """Two tenants, written at v1 and stored at v1alpha1: what v1alpha1 cannot say is carried in etcd."""
    conversion = await serve_conversion("tenant", storage="v1alpha1")
    for name, spec in SPECS.items():
        document = {"apiVersion": "platform.acme.io/v1", "kind": "Tenant", "metadata": {"name": name}, "spec": spec}
        await cluster.client.create(conversion.at("v1"), document, cluster.namespace)
    return conversion


async def versions(cluster, conversion) -> dict[str, str]:
    """The resourceVersion of each: it moves with any write."""
    found = {}
    for name in SPECS:
        document = await cluster.client.get(conversion.at("v1"), name, cluster.namespace)
        found[name] = document["metadata"]["resourceVersion"]
    return found


def flags(cluster) -> tuple[str, ...]:
    return ("--kubeconfig", cluster.client.config.source, "-n", cluster.namespace)


async def test_live_objects_are_proved_and_left_alone(cluster, tenants) -> None:
    before = await versions(cluster, tenants)
    ended = await instar("prove", "-p", TENANT, "--live", "--examples", "0", *flags(cluster), "-o", "json")
    (item,) = json.loads(ended.out)["items"]
    assert (ended.code, item["holds"], item["objects"]["live"]) == (0, True, 2)
    assert await versions(cluster, tenants) == before


async def test_a_converter_that_fails_on_one_live_object(cluster, tenants, tmp_path: Path) -> None:
    """A value that no other source has: the finding names the object in the cluster, made small."""
    shutil.copytree(TENANT, tmp_path / "tenant")
    file = tmp_path / "tenant" / "conversion.py"
    bad = (
        '    if (spec or {}).get("displayName") == "Plain":\n        raise KeyError("Plain")\n    if spec is not None:'
    )
    head, tail = file.read_text().split("def from_v1", 1)
    file.write_text(f"{head}def from_v1{tail.replace('    if spec is not None:', bad, 1)}")
    ended = await instar("prove", "-p", tmp_path / "tenant", "--live", "--examples", "0", *flags(cluster))
    assert ended.code == 1
    assert f"seen on: live {cluster.namespace}/plain" in ended.out
    assert "a valid object is refused: and back to v1alpha1: KeyError: 'Plain' (from_v1, conversion.py:28)" in ended.out
    assert "    title: Plain\n" in ended.out


async def test_explain_reads_an_object_as_it_is_stored(cluster, tenants) -> None:
    """At v1alpha1, with what is carried on it; and at v1, where there is nothing to bring back."""
    before = await versions(cluster, tenants)
    ended = await instar("explain", "tenant/rich", "-p", TENANT, *flags(cluster), "-o", "json")
    (item,) = json.loads(ended.out)["items"]
    assert item["apiVersion"] == "platform.acme.io/v1alpha1"
    found = {leaf["path"]: (leaf["what"], leaf.get("value")) for leaf in item["leaves"]}
    assert found["/spec/tier"] == ("restored", "dedicated")
    assert found["/spec/quota/storage"] == ("restored", "2Ti")
    ended = await instar("explain", "tenants/rich", "--at", "v1", "-p", TENANT, *flags(cluster), "-o", "json")
    (item,) = json.loads(ended.out)["items"]
    assert {leaf["what"] for leaf in item["leaves"]} == {"carried"}
    assert await versions(cluster, tenants) == before


async def test_an_object_that_is_not_there(cluster, tenants) -> None:
    ended = await instar("explain", "tenant/none", "-p", TENANT, *flags(cluster))
    assert ended.code == 3
    assert "none" in ended.error
