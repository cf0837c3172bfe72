"""The stories of tests/cases on a real API server, stored at every version in turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from tests.cases import stories

from instar.model import crd as crd_model

pytestmark = pytest.mark.cluster

PROJECTS = sorted({story.project for story in stories.EVERY})


class Served:
    """Clients of one object on the real server."""

    def __init__(self, client: Any, crd: crd_model.Crd, namespace: str, name: str) -> None:
        self._client = client
        self._crd = crd
        self._namespace = namespace if crd.namespaced else ""
        self._name = name

    def _at(self, version: str) -> Any:
        return crd_model.resource(self._crd, version)

    async def create(self, document: dict[str, Any]) -> None:
        version = document["apiVersion"].rpartition("/")[2]
        document["metadata"]["name"] = self._name
        await self._client.create(self._at(version), document, self._namespace)
        if "status" in document and crd_model.version(self._crd, version).status_subresource:
            change = {"status": document["status"]}
            await self._client.patch(self._at(version), self._name, change, self._namespace, subresource="status")

    async def patch(self, version: str, change: Mapping[str, Any]) -> None:
        await self._client.patch(self._at(version), self._name, change, self._namespace)

    async def read(self, version: str) -> dict[str, Any]:
        return await self._client.get(self._at(version), self._name, self._namespace)


@pytest.mark.parametrize("project", PROJECTS)
async def test_every_story_of_a_project(project: str, cluster: Any, serve_conversion: Any) -> None:
    """The fault that was reported does not happen on a real server, whatever version is stored."""
    folder = stories.HERE / project
    document = yaml.safe_load((folder / "crd.yaml").read_text())
    told = [story for story in stories.EVERY if story.project == project]
    for storage in [version["name"] for version in document["spec"]["versions"]]:
        served = await serve_conversion(str(folder), conversion=stories.conversion_file(project), storage=storage)
        for story in told:
            name = f"{story.name}-{storage}"
            assert await story.play(Served(cluster.client, served.crd, cluster.namespace, name)) > 0
        await served.remove()
