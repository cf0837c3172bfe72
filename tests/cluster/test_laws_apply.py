"""Server-side apply on two versions is server-side apply on one: the same state, the same owners, step by step.

Three managers apply at random at v1alpha1 and v1, insist or do not, and give fields up. The same words go to a CRD
that has v1 only. After each step both objects say the same and are owned alike, and the step repeated moves nothing.
``INSTAR_SEED`` draws other sequences, ``INSTAR_STEPS`` more of them.
"""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import os
import random
from typing import Any

import pytest
import yaml
from tests.cluster.conftest import EXAMPLES, install, remove
from tests.laws import applies, model, stories

from instar import errors
from instar.model import crd as crd_model
from instar.model import resource as resource_model

pytestmark = pytest.mark.cluster

SEED = int(os.environ.get("INSTAR_SEED", "1"))
STEPS = int(os.environ.get("INSTAR_STEPS", "480"))
"""In all: both examples, both storage versions."""
LENGTH, ABREAST, SOAK = 15, 8, 5000
Document = dict[str, Any]


def reference_of(name: str) -> Document:
    """The example with v1 alone, in a group of its own, and with v1alpha1's own field added."""
    body = yaml.safe_load((EXAMPLES / name / "crd.yaml").read_text())
    old, new = (next(one for one in body["spec"]["versions"] if one["name"] == name) for name in ("v1alpha1", "v1"))
    spec = [one["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"] for one in (old, new)]
    spec[1].update({"costCentre": spec[0]["costCentre"]} if "costCentre" in spec[0] else {})
    body["spec"] |= {"group": "reference.acme.io", "versions": [copy.deepcopy({**new, "storage": True})]}
    body["metadata"]["name"] = f"{body['spec']['names']['plural']}.reference.acme.io"
    return body


@pytest.fixture
async def reference(request, cluster):
    crd = await install(cluster.client, reference_of(request.param))
    yield crd_model.resource(crd, "v1")
    await remove(cluster.client, crd.name)


@dataclasses.dataclass(kw_only=True)
class Twin:
    """One name in both CRDs, and what was last applied to it."""

    cluster: Any
    conversion: Any
    reference: resource_model.Resource
    kind: str
    name: str
    spoken: dict[str, applies.Step] = dataclasses.field(default_factory=dict)
    log: list[str] = dataclasses.field(default_factory=list)

    async def get(self, resource: resource_model.Resource) -> Document:
        try:
            return model.wire(await self.cluster.client.get(resource, self.name, self.cluster.namespace))
        except errors.ApiError as error:
            if error.code != 404:
                raise
            return {"metadata": {"managedFields": []}}

    async def apply(self, resource: resource_model.Resource, step: applies.Step, spec: Document) -> str:
        """Apply it twice: the resourceVersion, which does not move, or the conflict, which does not go away."""
        labels = {"labels": {"colour": step.words["label"]}} if "label" in step.words else {}
        body: Document = {
            "apiVersion": resource.api_version,
            "kind": self.conversion.crd.kind,
            "metadata": {"name": self.name, **labels},
            **({"spec": spec} if spec else {}),
        }
        answers = [await self._once(resource, step, body) for _ in range(2)]
        assert answers[0] == answers[1], f"the same apply again: {answers}\n" + "\n".join(self.log)
        return answers[0]

    async def _once(self, resource: resource_model.Resource, step: applies.Step, body: Document) -> str:
        try:
            applied = await self.cluster.client.patch(
                resource,
                self.name,
                body,
                self.cluster.namespace,
                patch_type="apply",
                field_manager=step.manager,
                force=step.force,
            )
        except errors.ApiError as error:
            if error.code != 409:
                raise
            return "conflict"
        return str(applied["metadata"]["resourceVersion"])

    async def take(self, step: applies.Step) -> bool:
        """One step on both, and what must be the same after it; False where a limit ends the comparison."""
        reference = await self.get(self.reference)
        live, old = reference.get("spec", {}), await self.get(self.conversion.at(applies.OLD))
        seen = applies.seen(self.kind, old)
        spec, translated = applies.render(self.kind, step, live, seen)
        self.log.append(f"{step}: {spec} | {translated}")
        answers = [await self.apply(self.conversion.at(step.version), step, spec)]
        if applies.swaps(self.kind, step, live):
            answers.append(await self.swap(reference, step, translated))
        else:
            answers.append(await self.apply(self.reference, step, translated))
        assert (answers[0] == "conflict") == (answers[1] == "conflict"), f"{answers}\n" + "\n".join(self.log)
        if answers[1] != "conflict":
            self.spoken[step.manager] = step
        if step.version == applies.OLD and await self.emptied():
            return False
        await self.compare()
        return True

    async def emptied(self) -> bool:
        """The documented limit: a spec of which v1 says nothing but its defaults went with v1alpha1's last field."""
        wanted, new = await self.get(self.reference), await self.get(self.conversion.at(applies.NEW))
        return "spec" not in new and wanted.get("spec") == applies.DEFAULTS[self.kind]

    async def swap(self, before: Document, step: applies.Step, spec: Document) -> str:
        """On the reference, a step in which those who speak the old version have no say."""
        path = applies.HALF_SAID[self.kind][1]
        old = {
            manager
            for manager, paths in applies.owned(before).items()
            if manager != step.manager and path in paths and self.spoken[manager].version == applies.OLD
        }
        managed = before["metadata"].get("managedFields", [])
        await self.own(applies.withdrawn(self.kind, managed, old) if old else managed)
        answer = await self.apply(self.reference, step, spec)
        if old:
            after = (await self.get(self.reference))["metadata"].get("managedFields", [])
            await self.own(applies.reclaimed(self.kind, after, managed, old))
        return answer

    async def own(self, managed: applies.ManagedFields) -> None:
        patch = {"metadata": {"managedFields": managed or [{}]}}
        await self.cluster.client.patch(self.reference, self.name, patch, self.cluster.namespace)

    async def compare(self) -> None:
        wanted = await self.get(self.reference)
        old, new = await self.get(self.conversion.at("v1alpha1")), await self.get(self.conversion.at("v1"))
        story = "\n".join(self.log)
        assert model.differences(*map(state, (merged(new, old), wanted))) == [], story
        assert misowned(applies.owned(new), applies.owned(wanted)) == {}, story
        assert applies.readable(self.kind, old, wanted), story


def misowned(found: dict[str, set[Any]], wanted: dict[str, set[Any]]) -> dict[str, list[Any]]:
    """By manager, what it owns on one side only."""
    managers = sorted({*found, *wanted})
    differing = {name: sorted(found.get(name, set()) ^ wanted.get(name, set()), key=str) for name in managers}
    return {name: paths for name, paths in differing.items() if paths}


def merged(new: Document, old: Document) -> Document:
    """v1's view with the field that only v1alpha1 has."""
    cost = {name: value for name, value in old.get("spec", {}).items() if name == "costCentre"}
    return {**new, "spec": {**new["spec"], **cost}} if "spec" in new else new


def state(document: Document) -> Document:
    """What clients said: spec, labels, annotations."""
    stripped = model.stripped(document, stories.DOMAIN)
    words = {name: stripped["metadata"].get(name, {}) for name in ("labels", "annotations")}
    return {"spec": stripped.get("spec"), **words}


async def sequence(twin: Twin, chance: random.Random) -> None:
    taken, remembered = 0, set[str]()
    old_is_stored = crd_model.storage_version(twin.conversion.crd) == applies.OLD
    while taken < LENGTH:
        step = applies.next_step(twin.kind, chance, twin.spoken)
        spec = (await twin.get(twin.reference)).get("spec", {})
        word, value = applies.half_said(twin.kind, spec)
        remembered |= {word} if value not in applies.CANONICAL.values() else set()
        reads = applies.seen(twin.kind, await twin.get(twin.conversion.at(applies.OLD)))
        if old_is_stored and applies.returns(twin.kind, step, reads, remembered):
            continue
        if not await twin.take(step):
            return
        taken += 1


@pytest.fixture
async def run(cluster, serve_conversion, reference):
    """So many steps of random sequences, a few abreast."""

    async def run(name: str, storage: str, steps: int) -> None:
        conversion = await serve_conversion(name, storage=storage)
        gate = asyncio.Semaphore(ABREAST)

        async def one(number: int) -> None:
            twin = Twin(cluster=cluster, conversion=conversion, reference=reference, kind=name, name=f"twin-{number}")
            async with gate:
                await sequence(twin, random.Random(f"{SEED} {twin.name}"))

        async with asyncio.TaskGroup() as group:
            for number in range(-(-steps // LENGTH)):
                group.create_task(one(number))

    return run


BOTH = pytest.mark.parametrize("storage", ["v1alpha1", "v1"])
EACH = pytest.mark.parametrize(
    ("name", "reference"), [("tenant", "tenant"), ("widget", "widget")], indirect=["reference"]
)


@BOTH
@EACH
async def test_apply_ends_in_the_state_and_ownership_of_one_version(run, name: str, storage: str) -> None:
    """Random applies of three managers at two versions: the state and the owners of the same on a one-version CRD."""
    await run(name, storage, STEPS // 4)


@pytest.mark.soak
@BOTH
@EACH
async def test_five_thousand_applies(run, name: str, storage: str) -> None:
    """The same, 5,000 steps in all: not one difference."""
    await run(name, storage, SOAK // 4)
