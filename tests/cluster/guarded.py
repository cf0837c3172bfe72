"""A guard in the cluster, objects under it, and what its stories share.

Stories are told at both storage versions. Where it matters, also with what is written for a Kubernetes without mutating
policies (it ``refuses`` what others ``puts back``), and with no guard at all, which shows what it is for.
"""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import json
from typing import Any

import pytest
from tests.cluster.conftest import EXAMPLES
from tests.cluster.test_serve_kubectl import ADDED, NEW, OLD, manifest

from instar import conversion as conversion_module
from instar import errors, loading
from instar.conversion import entries
from instar.model import crd as crd_model
from instar.model import resource as resource_model
from instar.rollout import guard as guard_module

PREFIX = "carried.platform.acme.io/"
KUBERNETES = {"puts back": "1.37", "refuses": "1.35"}
OTHER = {OLD: NEW, NEW: OLD}
Document = dict[str, Any]


def policy_resource(document: Document) -> resource_model.Resource:
    kind = document["kind"]
    plural = kind.lower()[:-1] + "ies" if kind.endswith("Policy") else kind.lower() + "s"
    return resource_model.Resource(
        group="admissionregistration.k8s.io", version="v1", plural=plural, kind=kind, namespaced=False
    )


def bound_of(crd: crd_model.Crd, example: str) -> conversion_module.Bound:
    return conversion_module.bind(loading.conversion(str(EXAMPLES / example / "conversion.py")), crd)


@dataclasses.dataclass(kw_only=True)
class Guarded:
    """Objects of one kind under a guard, and the clients that write them."""

    cluster: Any
    kubectl: Any
    conversion: Any

    async def get(self, version: str, name: str = "acme") -> Document:
        return await self.cluster.client.get(self.conversion.at(version), name, self.cluster.namespace)

    async def put(self, version: str, document: Document, **options: Any) -> Document:
        name = document["metadata"]["name"]
        return await self.cluster.client.update(
            self.conversion.at(version), document, name, self.cluster.namespace, **options
        )

    async def patch(self, version: str, patch: Any, name: str = "acme", **options: Any) -> Document:
        return await self.cluster.client.patch(
            self.conversion.at(version), name, patch, self.cluster.namespace, **options
        )

    async def create(self, version: str, document: Document) -> Document:
        return await self.cluster.client.create(self.conversion.at(version), document, self.cluster.namespace)

    async def create_rich(self, name: str) -> None:
        """A tenant of which each version says only a part."""
        await self.create(OLD, manifest(OLD, name))
        await self.patch(NEW, {"spec": ADDED}, name)

    async def spec(self, version: str, name: str = "acme") -> Document:
        return (await self.get(version, name)).get("spec", {})

    async def status(self, version: str, name: str = "acme") -> Document | None:
        return (await self.get(version, name)).get("status")

    async def carried(self, version: str, name: str = "acme") -> dict[str, str]:
        return carried(await self.get(version, name))


def carried(document: Document) -> dict[str, str]:
    """What is carried on an object, by key without the prefix."""
    annotations = document["metadata"].get("annotations") or {}
    return {key.removeprefix(PREFIX): text for key, text in annotations.items() if key.startswith(PREFIX)}


def key(version: str, path: str) -> str:
    return PREFIX + entries.key(version, path)


async def apply_guard(cluster, bound: conversion_module.Bound, kubernetes: str, exempt: tuple[str, ...] = ()):
    documents = guard_module.documents(guard_module.plan(bound, kubernetes=kubernetes, exempt=exempt))
    for document in documents:
        await cluster.client.create(policy_resource(document), document)
    return documents


async def remove_guard(cluster, documents) -> None:
    for document in reversed(documents):
        await cluster.client.delete(policy_resource(document), document["metadata"]["name"])


@pytest.fixture
async def guarding(request, cluster, serve_conversion, kubectl):
    """`await guarding(storage, mode)`: tenant `acme`, of which each version says only a part, under that guard."""
    applied: list[Any] = []

    async def guarding(storage: str, mode: str = "puts back", example: str = "tenant", exempt=()) -> Guarded:
        conversion = await serve_conversion(example, storage=storage)
        guarded = Guarded(cluster=cluster, kubectl=kubectl, conversion=conversion)
        if example == "tenant":
            await guarded.create_rich("canary")
            await guarded.create_rich("acme")
        if mode != "none":
            applied.append(await apply_guard(cluster, bound_of(conversion.crd, example), KUBERNETES[mode], exempt))
            if example == "tenant":
                await until_it_guards(guarded, mode)
        return guarded

    yield guarding
    for documents in applied:
        await remove_guard(cluster, documents)
        await asyncio.sleep(1)


async def until_it_guards(guarded: Guarded, mode: str) -> None:
    """API servers take a policy over within a second or two of its creation."""
    for _ in range(300):
        if await guards(guarded, mode):
            return
        await asyncio.sleep(0.05)
    pytest.fail("the guard is not in force after 15 s")


async def guards(guarded: Guarded, mode: str) -> bool:
    """Whether it refuses and, where it can, puts back. A 503: mutation waits for the schema of a new CRD."""
    forged = {"metadata": {"annotations": {key(NEW, "/spec/suspended"): '["Tenant","/spec/suspended",[false]]'}}}
    if await code(guarded.patch(OLD, forged, "canary", dry_run=True)) != 403:
        return False
    if mode == "refuses":
        return True
    try:
        for version in (OLD, NEW):
            emptied = await guarded.patch(version, {"metadata": {"annotations": None}}, "canary", dry_run=True)
            if not carried(emptied):
                return False
        return True
    except errors.ApiError as error:
        if error.code != 503:
            raise
        return False


async def code(write: Any) -> int:
    """200, or the code of the refusal."""
    try:
        await write
    except errors.ApiError as error:
        return error.code
    return 200


BOTH = pytest.mark.parametrize("storage", [OLD, NEW])
MODES = pytest.mark.parametrize("mode", list(KUBERNETES))
EVERYWHERE = pytest.mark.parametrize(
    ("storage", "mode"), [(OLD, "puts back"), (NEW, "puts back"), (NEW, "refuses")], ids=lambda word: word
)


def without(document: Document, *keys: str) -> Document:
    """The object without these annotations; without any, if none is named."""
    copied = copy.deepcopy(document)
    annotations = copied["metadata"].pop("annotations", {})
    if keys:
        copied["metadata"]["annotations"] = {name: text for name, text in annotations.items() if name not in keys}
    return copied


async def assert_specs(guarded: Guarded, old: Document, new: Document, name: str = "acme", story: str = "") -> None:
    assert await guarded.spec(NEW, name) == new, story
    assert await guarded.spec(OLD, name) == old, story


async def put_without(guarded: Guarded, version: str) -> None:
    await guarded.put(version, without(await guarded.get(version)))


def forged(path: str, value: Any, *base: Any, version: str = NEW) -> Document:
    """A merge patch that adds an entry."""
    text = json.dumps(["Tenant", path, [value], *([list(base)] if base else [])], separators=(",", ":"))
    return {"metadata": {"annotations": {key(version, path): text}}}
