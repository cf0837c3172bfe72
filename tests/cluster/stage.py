"""A CRD with two versions and objects stored at the old one, on a real control plane: where migrations are tested."""

import asyncio
import dataclasses
import secrets
from collections.abc import Iterable
from typing import Any

from instar import errors
from instar.kube import client as kube_client
from instar.kube import etcd as kube_etcd
from instar.model import crd as crd_model
from instar.model import resource as resource_model

SCHEMA = {
    "openAPIV3Schema": {
        "type": "object",
        "properties": {"spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
    }
}


@dataclasses.dataclass(kw_only=True)
class Stage:
    """One CRD ``things.<random>.example.com``, versions v1 (old) and v2 (new), in one cluster."""

    client: kube_client.Client
    etcd: kube_etcd.Etcd
    namespace: str
    group: str = dataclasses.field(default_factory=lambda: f"g{secrets.token_hex(4)}.example.com")
    conversion: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        return f"things.{self.group}"

    def at(self, version: str) -> resource_model.Resource:
        return resource_model.Resource(
            group=self.group, version=version, plural="things", kind="Thing", namespaced=True
        )

    def spec(self, storage: str, *, unserved: Iterable[str] = (), without: Iterable[str] = ()) -> dict[str, Any]:
        names = [name for name in ("v1", "v2") if name not in without]
        return {
            "group": self.group,
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "conversion": self.conversion or {"strategy": "None"},
            "versions": [
                {"name": name, "served": name not in unserved, "storage": name == storage, "schema": SCHEMA}
                for name in names
            ],
        }

    async def install(self) -> None:
        """Create the CRD, storage version v1, and wait until creates are safe."""
        await self.client.create(
            crd_model.RESOURCE,
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": self.name},
                "spec": self.spec("v1"),
            },
        )
        while not crd_model.condition(await self.crd(), "Established"):
            await asyncio.sleep(0.1)
        for server in self.client.servers:
            while True:
                try:
                    await self.client.list_page(self.at("v1"), limit=1, server=server)
                    break
                except errors.ApiError:
                    await asyncio.sleep(0.1)

    async def change(self, storage: str, *, server: str | None = None, **options: Any) -> None:
        """Write another spec: a flip, a rollback, a version unserved or removed."""
        spec = self.spec(storage, **options)
        await self.client.patch(crd_model.RESOURCE, self.name, {"spec": spec}, server=server)

    async def crd(self) -> crd_model.Crd:
        return crd_model.parse(await self.client.get(crd_model.RESOURCE, self.name))

    async def remove(self) -> None:
        await self.client.delete(crd_model.RESOURCE, self.name)

    def body(self, name: str, version: str = "v1", **spec: Any) -> dict[str, Any]:
        return {
            "apiVersion": f"{self.group}/{version}",
            "kind": "Thing",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {"size": name, **spec},
        }

    async def create(self, names: Iterable[str], version: str = "v1", *, server: str | None = None) -> None:
        """Create objects, sixteen at once; waits out the server's pauses after CRD changes."""
        gate = asyncio.Semaphore(16)

        async def one(name: str) -> None:
            async with gate:
                await self.create_one(name, version, server=server)

        await asyncio.gather(*(one(name) for name in names))

    async def create_one(self, name: str, version: str = "v1", *, server: str | None = None) -> None:
        for attempt in range(20):
            try:
                await self.client.create(self.at(version), self.body(name, version), self.namespace, server=server)
                return
            except errors.ApiError as error:
                if error.code not in (429, 500, 503) or attempt == 19:
                    raise
                await asyncio.sleep(0.2)

    async def versions(self) -> dict[str, int]:
        """Raw etcd, counted by stored version."""
        return await self.etcd.versions(self.group, "things")

    async def values(self) -> dict[str, bytes]:
        """Raw etcd, by name."""
        return {entry.name: entry.value async for entry in self.etcd.stored(self.at("v1"))}

    async def plant(self, name: str, version: str = "v1") -> None:
        """Write an old encoding of an object straight into etcd."""
        key = kube_etcd.key(self.at("v1"), self.namespace, name)
        stored = await self.etcd.get(key)
        assert stored is not None
        other = "v2" if version == "v1" else "v1"
        old = stored.value.replace(
            f'"apiVersion":"{self.group}/{other}","kind"'.encode(),
            f'"apiVersion":"{self.group}/{version}","kind"'.encode(),
        )
        assert old != stored.value
        await self.etcd.put(key, old)

    async def plant_touched(self, name: str) -> None:
        """Write an object's own bytes into etcd again: an event on it, as an old client's write would make."""
        key = kube_etcd.key(self.at("v1"), self.namespace, name)
        stored = await self.etcd.get(key)
        assert stored is not None
        await self.etcd.put(key, stored.value)
