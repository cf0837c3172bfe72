"""Two hundred objects of each example through a real API server: created, read, edited through the other version.

Objects and edits are drawn from the schemas, boundary values included; every expected value is the hand-written
model's; etcd's bytes are judged too. ``INSTAR_SEED`` draws others.
"""

from __future__ import annotations

import asyncio
import copy
import json
import os
from typing import Any

import pytest
from tests.laws import model, stories

from instar.kube import etcd as kube_etcd

pytestmark = pytest.mark.cluster

COUNT = 200
WRITTEN = ("name", "labels", "annotations")
SEED = int(os.environ.get("INSTAR_SEED", "1"))
Document = dict[str, Any]


def body(document: Document) -> Document:
    """What a client wrote or reads, without what the API server or the framework writes."""
    stripped = model.stripped(model.wire(document), stories.DOMAIN)
    metadata = {
        name: value for name, value in stripped["metadata"].items() if name in ("name", "labels", "annotations")
    }
    return {**stripped, "metadata": metadata}


def assert_same(what: str, story: stories.Story, found: Document, wanted: Document) -> None:
    differences = model.differences(body(found), body(wanted))
    assert differences == [], f"{what} of {story}:\n" + "\n".join(differences)


async def write(cluster, resource, document: Document) -> Document:
    """A replace of what was read: the main resource, and the status where it has one to say."""
    name = document["metadata"]["name"]
    written = await cluster.client.update(resource, document, name, cluster.namespace)
    if model.same(written.get("status"), document.get("status")):
        return written
    fresh = {**written, "status": document.get("status")}
    return await cluster.client.update(resource, fresh, name, cluster.namespace, subresource="status")


async def live(cluster, conversion, story: stories.Story) -> None:
    """One story, each read compared with what the model says."""
    client, name = cluster.client, story.created["metadata"]["name"]
    here, there = conversion.at(story.here), conversion.at(story.there)
    created = await client.create(here, story.created, cluster.namespace)
    await write(cluster, here, {**story.created, "metadata": created["metadata"]})
    assert_same("first read back", story, await client.get(here, name, cluster.namespace), story.created)
    seen = await client.get(there, name, cluster.namespace)
    assert_same("first read at the other version", story, seen, story.seen)
    changed = {**copy.deepcopy(story.changed), "metadata": seen["metadata"]}
    await write(cluster, there, changed)
    assert_same("the edit read back", story, await client.get(there, name, cluster.namespace), story.changed)
    assert_same(
        "the edited object at its first version", story, await client.get(here, name, cluster.namespace), story.after
    )


@pytest.mark.parametrize("storage", ["v1alpha1", "v1"])
@pytest.mark.parametrize("name", ["tenant", "widget"])
async def test_two_hundred_objects(cluster, etcd, serve_conversion, name: str, storage: str) -> None:
    """Exactness, edits that win, untouched leaves that come back: on the real thing, stored at either version."""
    conversion = await serve_conversion(name, storage=storage)
    told = stories.tell(name, conversion.crd, COUNT, SEED)
    gate = asyncio.Semaphore(4)

    async def one(story: stories.Story) -> None:
        async with gate:
            await live(cluster, conversion, story)

    async with asyncio.TaskGroup() as group:
        for story in told:
            group.create_task(one(story))
    for story in told:
        await judge_bytes(cluster, etcd, conversion, story, storage)


async def judge_bytes(cluster, etcd, conversion, story: stories.Story, storage: str) -> None:
    """What lies in etcd: the storage version, and there the values that the model says."""
    key = kube_etcd.key(conversion.at(storage), cluster.namespace, story.created["metadata"]["name"])
    stored = await etcd.get(key)
    assert stored is not None
    assert stored.api_version == f"platform.acme.io/{storage}"
    wanted = story.changed if storage == story.there else story.after
    assert_same("etcd's bytes", story, json.loads(stored.value), wanted)
