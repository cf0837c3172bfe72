"""A witness of one CRD: every value that status.storedVersions ever had, against what etcd held at that very revision.

A list is *short* if an object was stored at a version that it lacks: from then on nothing keeps that version from being
removed with the object's data.
"""

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator

from tests.cluster import stage as stage_module

from instar import errors
from instar.kube import etcd as kube_etcd
from instar.model import crd as crd_model


class Witness:
    """``seen`` holds every list in order; ``short`` a line for each one that lacked a version."""

    def __init__(self, stage: stage_module.Stage) -> None:
        self._stage = stage
        self.seen: list[tuple[str, ...]] = []
        self.short: list[str] = []

    async def follow(self, resource_version: str) -> None:
        while True:
            with contextlib.suppress(errors.ClusterError):
                events = self._stage.client.watch(
                    crd_model.RESOURCE,
                    resource_version=resource_version,
                    params={"fieldSelector": f"metadata.name={self._stage.name}"},
                )
                async for event in events:
                    resource_version = event.object["metadata"]["resourceVersion"]
                    if event.type in ("ADDED", "MODIFIED"):
                        await self.judge(crd_model.parse(event.object))

    async def judge(self, crd: crd_model.Crd) -> None:
        """The versions that etcd held when this list was written, and just before the next one could be."""
        held = await self.held(int(crd.resource_version))
        if not self.seen or self.seen[-1] != crd.stored_versions:
            self.seen.append(crd.stored_versions)
        if missing := held - set(crd.stored_versions):
            self.short.append(f"{crd.stored_versions} at {crd.resource_version} lacks {missing}")

    async def held(self, revision: int) -> set[str]:
        """The versions of all objects as of one revision of etcd."""
        prefix = f"/registry/{self._stage.group}/things/".encode()
        question = {
            "key": base64.b64encode(prefix).decode(),
            "range_end": base64.b64encode(prefix[:-1] + b"0").decode(),
            "revision": str(revision),
        }
        answer = json.loads(await self._stage.etcd._post("/v3/kv/range", question))
        values = (base64.b64decode(pair["value"]) for pair in answer.get("kvs", ()))
        return {kube_etcd.api_version(value).rpartition("/")[2] for value in values}


@contextlib.asynccontextmanager
async def watch(stage: stage_module.Stage) -> AsyncIterator[Witness]:
    """A witness from now on; at the end no list may have been short."""
    witness = Witness(stage)
    first = await stage.crd()
    await witness.judge(first)
    following = asyncio.create_task(witness.follow(first.resource_version))
    try:
        yield witness
        await asyncio.sleep(0.3)
        await witness.judge(await stage.crd())
        assert witness.short == []
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
