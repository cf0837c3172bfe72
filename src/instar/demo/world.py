"""What every step of a run works on: the cluster, the API that is changed, and what was written so far."""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
from collections.abc import AsyncIterator, Mapping
from typing import Any

from instar.controlplane import plane as plane_module
from instar.demo import caller, examples, ledger, recorder
from instar.kube import client as client_module
from instar.kube import etcd as etcd_module
from instar.kube import kubeconfig
from instar.model import crd as crd_model
from instar.model import resource as resource_model

__all__ = ["NAMESPACES", "World", "manifest", "opened"]

EXAMPLE = "tenant"
OLD, NEW = "v1alpha1", "v1"
NAMESPACES = tuple(f"team-{letter}" for letter in "abcdef")
CONNECTIONS = 64


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """A control plane with clients open, and the API's manifest as it is in the end, with both versions."""

    plane: plane_module.ControlPlane
    client: client_module.Client
    etcd: etcd_module.Etcd
    folder: pathlib.Path
    document: Mapping[str, Any]
    api: crd_model.Crd
    book: ledger.Ledger
    recorder: recorder.Recorder

    def resource(self, version: str) -> resource_model.Resource:
        """The API's resource at one version."""
        return crd_model.resource(self.api, version)

    def caller(self, version: str, manager: str) -> caller.Caller:
        """A client of one version, with a field manager's name."""
        return caller.Caller(self.client, self.resource(version), manager=manager)


def manifest(folder: pathlib.Path) -> dict[str, Any]:
    """The example's CRD."""
    import yaml

    with (folder / "crd.yaml").open("rb") as file:
        document: dict[str, Any] = yaml.load(file, Loader=yaml.CSafeLoader)
    return document


@contextlib.asynccontextmanager
async def opened(plane: plane_module.ControlPlane, steps: recorder.Recorder) -> AsyncIterator[World]:
    """Clients of a control plane for the length of an ``async with``."""
    folder = examples.folder(EXAMPLE)
    document = manifest(folder)
    config = kubeconfig.load(str(plane.kubeconfig))
    async with (
        client_module.Client(config, servers=plane.apiservers, connections=CONNECTIONS) as client,
        etcd_module.Etcd(plane.etcd) as etcd,
    ):
        yield World(
            plane=plane,
            client=client,
            etcd=etcd,
            folder=folder,
            document=document,
            api=crd_model.parse(document),
            book=ledger.Ledger(),
            recorder=steps,
        )
