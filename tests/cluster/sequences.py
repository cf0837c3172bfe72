"""Stories of tests/model told to a real API server: acts as clients make them, reads compared with the model."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Any

from tests.cluster import admission
from tests.laws import model, sequences
from tests.model import ownership
from tests.model.telling import Step, Story

from instar import errors
from instar.kube import etcd as kube_etcd
from instar.testing import acts, edits, patches

VERSIONS = ("v1alpha1", "v1")
Document = dict[str, Any]


class Life:
    """One story, and the object that it is told of."""

    def __init__(self, cluster: Any, conversion: Any, mutator: admission.Mutator, story: Story, name: str) -> None:
        self._client, self._namespace = cluster.client, cluster.namespace
        self._conversion, self._mutator = conversion, mutator
        self.story, self.name = story, name
        self._domain = conversion.crd.group
        self.reads: dict[str, Document] = {}
        self.failure: list[str] = []
        self.originals: list[str] = []
        self._saved: Document = {}
        self._next = 0

    async def begin(self) -> None:
        """Takes the steps that make the object what the story is about."""
        while self._next < self.story.begun and not self.failure:
            await self.step(self._next, self.story.steps[self._next])
            self._next += 1

    async def until_flip(self) -> None:
        """Takes the steps up to the next flip of the storage version, or to the end, or to what differs."""
        while self._next < len(self.story.steps) and not self.failure:
            number, step = self._next, self.story.steps[self._next]
            if isinstance(step.act, acts.Flip):
                return
            await self.step(number, step)
            self._next += 1

    def flipped(self) -> None:
        """The flip that the story waits for is made."""
        self._next += 1

    async def step(self, number: int, step: Step) -> None:
        try:
            refused = await self._taken(step.act)
        except errors.InstarError as error:
            self.failure = [f"step {number}: {step.act}", str(error)]
            return
        await self.look()
        found = [] if refused == step.conflict else [f"a conflict was {'not ' * refused}expected"]
        found += sequences.differing(self._domain, step, self.reads.__getitem__)
        if found:
            self.failure = [f"step {number}: {step.act}", *found]

    async def look(self) -> None:
        """Reads at both versions, each from etcd."""
        found = await asyncio.gather(*(self._get(version, self.name) for version in VERSIONS))
        self.reads = dict(zip(VERSIONS, found, strict=True))

    async def _get(self, version: str, name: str) -> Document:
        return model.wire(await self._client.get(self._conversion.at(version), name, self._namespace))

    async def _taken(self, act: acts.Act) -> bool:
        """Whether the act was refused as a conflict."""
        try:
            await getattr(self, f"_{type(act).__name__.lower()}")(act)
        except errors.ApiError as error:
            if error.code != 409 or not isinstance(act, acts.Apply):
                raise
            return True
        return False

    # --- acts ---------------------------------------------------------------------------------------------------------

    async def _create(self, act: acts.Create) -> None:
        if act.admitted:
            there = next(version for version in VERSIONS if version != act.version)
            self.name = admission.marked(self.name, there)
            self._mutator.changes[self.name] = act.admitted
        await self._post(act.version, {"spec": act.body["spec"], "metadata": {}})

    async def _post(self, version: str, document: Document) -> None:
        body = {**self._head(version, document["metadata"]), "spec": document["spec"]}
        resource = self._conversion.at(version)
        await self._client.create(resource, body, self._namespace, field_manager=ownership.EDITOR)

    def _head(self, version: str, metadata: Document, **more: str) -> Document:
        """What a client that makes a manifest writes above its spec."""
        resource = self._conversion.at(version)
        words = {word: metadata[word] for word in sequences.WORDS if word in metadata}
        return {
            "apiVersion": resource.api_version,
            "kind": self._conversion.crd.kind,
            "metadata": {"name": self.name, **words, **more},
        }

    async def _put(self, version: str, body: Document, subresource: str = "") -> None:
        await self._client.update(
            self._conversion.at(version),
            body,
            self.name,
            self._namespace,
            subresource=subresource,
            field_manager=ownership.EDITOR,
        )

    async def _patch(self, version: str, patch: Any, kind: Any = "merge", **options: Any) -> None:
        options = {"field_manager": ownership.EDITOR, **options}
        resource = self._conversion.at(version)
        await self._client.patch(resource, self.name, patch, self._namespace, patch_type=kind, **options)

    async def _write(self, act: acts.Write) -> None:
        before = self.reads[act.version]
        after = edits.apply_all(before, act.edits)
        if act.verb == "put":
            await self._put(act.version, after, act.subresource)
        else:
            make = patches.merge_patch if act.verb == "merge" else patches.json_patch
            await self._patch(act.version, make(before, after), act.verb, subresource=act.subresource)

    async def _replace(self, act: acts.Replace) -> None:
        before = self.reads[act.version]
        metadata = {} if act.blind else before["metadata"]
        head = self._head(act.version, metadata, resourceVersion=before["metadata"]["resourceVersion"])
        await self._put(act.version, {**head, "spec": act.spec})

    async def _touch(self, act: acts.Touch) -> None:
        if act.verb == "put":
            await self._put(act.version, self.reads[act.version])
        else:
            await self._patch(act.version, {})

    async def _copy(self, act: acts.Copy) -> None:
        self.originals.append(self.name)
        self.name = f"{self.name.partition(admission.MARK)[0]}-copy"
        await self._post(act.version, self.reads[act.version])

    async def _save(self, act: acts.Save) -> None:
        self._saved = copy.deepcopy(self.reads[act.version])

    async def _restore(self, act: acts.Restore) -> None:
        version = self._saved["apiVersion"].rpartition("/")[2]
        now = self.reads[version]["metadata"]["resourceVersion"]
        head = self._head(version, self._saved["metadata"], resourceVersion=now)
        await self._put(version, {**head, "spec": self._saved["spec"]})

    async def _drop(self, act: acts.Drop) -> None:
        name = sequences.entry_of(self.reads[act.version], act.path)
        await self._patch(act.version, {"metadata": {"annotations": {name: None}}})

    async def _apply(self, act: acts.Apply) -> None:
        spec = {"spec": act.body["spec"]} if act.body.get("spec") else {}
        body = {**self._head(act.version, {}), **spec}
        await self._patch(act.version, body, "apply", field_manager=act.manager, force=act.force)

    # --- afterwards ---------------------------------------------------------------------------------------------------

    def entries(self) -> dict[str, int]:
        """By version, how many of its leaves are carried on what is read at the other."""
        return {
            version: sum(name.startswith(f"carried.{self._domain}/{version}.") for name in self._entries(other))
            for version, other in (VERSIONS, VERSIONS[::-1])
        }

    def _entries(self, version: str) -> dict[str, str]:
        return model.entries(self.reads[version], self._domain)

    async def judge_end(self, etcd: Any) -> None:
        """What lies in etcd, at the version and with the values that the model says; and the originals of copies."""
        if not self.failure:
            self.failure = await self._differing_end(etcd)

    async def _differing_end(self, etcd: Any) -> list[str]:
        found = await self._stored(etcd, self.name)
        lines = model.differences(sequences.said(self._domain, found), self.story.stored)
        for name, original in zip(self.originals, self.story.originals, strict=True):
            for version, document in original.items():
                lines += model.differences(sequences.said(self._domain, await self._get(version, name)), document)
        return lines and ["at the end:", *lines]

    async def _stored(self, etcd: Any, name: str) -> Document:
        stored = await etcd.get(kube_etcd.key(self._conversion.at("v1"), self._namespace, name))
        return json.loads(stored.value)

    async def carried_in(self, etcd: Any) -> int:
        """How many entries lie in etcd's bytes."""
        return len(model.entries(await self._stored(etcd, self.name), self._domain))


async def stored_at(cluster: Any, etcd: Any, conversion: Any, version: str) -> None:
    """Waits until the API server stores at this version: new objects lie there, and every version can be listed."""
    resource = conversion.at(version)
    for number in range(200):
        name = f"canary-{number}"
        body = {"apiVersion": resource.api_version, "kind": conversion.crd.kind, "metadata": {"name": name}}
        try:
            await cluster.client.create(resource, {**body, "spec": {}}, cluster.namespace)
            stored = await etcd.get(kube_etcd.key(resource, cluster.namespace, name))
            await cluster.client.delete(resource, name, cluster.namespace)
            if stored.api_version == resource.api_version:
                return
        except errors.ApiError as error:
            if error.code not in (429, 500, 503):
                raise
        await asyncio.sleep(0.1)
    raise AssertionError(f"objects do not get stored at {version}")
