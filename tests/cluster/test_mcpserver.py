"""The example that needs no converter: one schema, strategy None, a migration only."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cluster import conftest

from instar import migration
from instar.controllers import migrate
from instar.model import crd as crd_model
from instar.schema import identical

pytestmark = pytest.mark.cluster

EXAMPLE = Path(__file__).parents[2] / "examples/mcpserver"


def stored_at(storage: str) -> dict[str, Any]:
    document = yaml.safe_load((EXAMPLE / "crd.yaml").read_text())
    for version in document["spec"]["versions"]:
        version["storage"] = version["name"] == storage
    return document


async def test_mcpserver_goes_from_v1beta1_to_v1_without_a_webhook(cluster: Any, etcd: Any) -> None:
    """Its versions have one schema, so every body is the same at both, before and after the migration."""
    crd = await conftest.install(cluster.client, stored_at("v1beta1"))
    try:
        assert identical.differences(crd) == ()
        server = yaml.safe_load((EXAMPLE / "objects/fetch.yaml").read_text())
        old, new = crd_model.resource(crd, "v1beta1"), crd_model.resource(crd, "v1")
        for number in range(50):
            document = copy.deepcopy(server)
            document["metadata"]["name"] = f"server-{number}"
            document["spec"]["port"] = 8000 + number
            await cluster.client.create(old, document, cluster.namespace)
        before = await cluster.client.get(new, "server-7", cluster.namespace)
        versions = [{"op": "replace", "path": f"/spec/versions/{i}/storage", "value": bool(i)} for i in (0, 1)]
        await cluster.client.patch(crd_model.RESOURCE, crd.name, versions, patch_type="json")
        found = await migrate.run(cluster.client, crd.name, migration.Settings(settle_seconds=1, lease_seconds=1))
        assert found.result is migration.Result.TRIMMED, found.summary
        assert await etcd.versions(crd.group, crd.plural) == {"v1": 50}
        after = await cluster.client.get(new, "server-7", cluster.namespace)
        assert (after["spec"], after["spec"]["port"]) == (before["spec"], 8007)
        assert (await cluster.client.get(old, "server-7", cluster.namespace))["spec"] == after["spec"]
    finally:
        await conftest.remove(cluster.client, crd.name)
