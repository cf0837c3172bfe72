"""The golden pairs of every example on a real API server, stored at every version in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cases import stories
from tests.cluster.test_stories import Served
from tests.laws import model

pytestmark = pytest.mark.cluster

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(folder.parent.name for folder in EXAMPLES.glob("*/golden"))
BODY = ("spec", "status")


def goldens(name: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The name and the documents of each file; those that are refused are no objects of a server."""
    for file in sorted((EXAMPLES / name / "golden").glob("*.yaml")):
        documents = list(yaml.safe_load_all(file.read_text()))
        if "refused" not in documents[1]:
            yield file.stem, documents


def schemas(name: str) -> dict[str, Any]:
    document = yaml.safe_load((EXAMPLES / name / "crd.yaml").read_text())
    return {one["name"]: one["schema"]["openAPIV3Schema"] for one in document["spec"]["versions"]}


@pytest.mark.parametrize("name", NAMES)
async def test_golden_pairs_are_what_a_server_shows(name: str, cluster: Any, serve_conversion: Any) -> None:
    """Each object reads as its pair says at the other version, and is what it was after a write there."""
    of, file = schemas(name), stories.conversion_file(name, EXAMPLES)
    for storage in of:
        served = await serve_conversion(name, conversion=file, storage=storage)
        for case, (first, second, *more) in goldens(name):
            at = first["apiVersion"].rpartition("/")[2]
            object_ = Served(cluster.client, served.crd, cluster.namespace, f"{case}-{storage}")
            await object_.create({**first, "metadata": dict(first["metadata"])})
            where = f"{name} {case}, stored at {storage}"
            if "edited" in second:
                await object_.patch(second["edited"]["version"], second["edited"]["merge"])
                await _same(object_, at, model.settle(of[at], more[0]), where)
                continue
            to = second["apiVersion"].rpartition("/")[2]
            written = await object_.read(at)
            await _same(object_, to, model.settle(of[to], second), where)
            await object_.patch(to, {"metadata": {"labels": {"written": "here"}}})
            await _same(object_, at, written, f"{where}, after a write at {to}")
        await served.remove()


async def _same(object_: Served, version: str, wanted: dict[str, Any], where: str) -> None:
    found = await object_.read(version)
    for part in BODY:
        assert model.same(found.get(part), wanted.get(part)), f"{where}: {part} at {version} is {found.get(part)}"
