"""Fixtures for tests against a real control plane: ``control_plane``, ``make_control_plane``, ``cluster``, ``etcd``.

Loaded by every pytest run that has Instar installed, so nothing heavy is imported before a fixture is asked for. The
control plane is started below asyncio (a supervisor process), so it may serve a whole session although each test has
a loop of its own. Override ``control_plane_settings`` in a conftest to change what is started.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pytest

try:
    from pytest_asyncio import fixture as async_fixture
except ImportError:  # Without the extra "testing" the asynchronous fixtures cannot run: pytest says so when asked.
    async_fixture = pytest.fixture  # type: ignore[assignment]

if TYPE_CHECKING:
    from instar.controlplane import plane
    from instar.kube import client as kube_client
    from instar.kube import etcd as kube_etcd

__all__ = ["Cluster", "MakeControlPlane"]


class MakeControlPlane(Protocol):
    """What ``make_control_plane`` is: settings by keyword in, a ready control plane out."""

    def __call__(self, **settings: Any) -> plane.ControlPlane: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """A client of the session's control plane, and a namespace that is this test's alone."""

    client: kube_client.Client
    namespace: str
    control_plane: plane.ControlPlane


@pytest.fixture(scope="session")
def control_plane_settings() -> plane.Settings:
    """What ``control_plane`` starts; override it in a conftest."""
    from instar.controlplane import plane

    return plane.Settings()


@pytest.fixture(scope="session")
def control_plane(
    request: pytest.FixtureRequest, control_plane_settings: plane.Settings
) -> Iterator[plane.ControlPlane]:
    """One real control plane for the whole session; its binaries are built if there are none."""
    started = _launch(request.config, control_plane_settings)
    try:
        yield started
        if failure := started.failure():
            raise failure
    finally:
        started.stop()


@pytest.fixture
def make_control_plane(request: pytest.FixtureRequest) -> Iterator[MakeControlPlane]:
    """Starts control planes of other settings (``make_control_plane(apiservers=2)``) that end with the test."""
    from instar.controlplane import plane

    with contextlib.ExitStack() as stack:

        def make(**settings: Any) -> plane.ControlPlane:
            started = _launch(request.config, plane.Settings(**settings))
            stack.callback(started.stop)
            return started

        yield make


@async_fixture
async def cluster(control_plane: plane.ControlPlane) -> AsyncIterator[Cluster]:
    """A client of all API servers and a fresh namespace, deleted afterwards with what is in it."""
    from instar.controlplane import namespaces
    from instar.kube import client as kube_client
    from instar.kube import kubeconfig

    config = kubeconfig.load(str(control_plane.kubeconfig))
    async with kube_client.Client(config, servers=control_plane.apiservers) as client:
        name = f"test-{secrets.token_hex(4)}"
        await namespaces.create(client, name)
        try:
            yield Cluster(client=client, namespace=name, control_plane=control_plane)
        finally:
            await namespaces.delete(client, name)


@async_fixture
async def etcd(control_plane: plane.ControlPlane) -> AsyncIterator[kube_etcd.Etcd]:
    """The control plane's etcd, read raw: the independent witness of the version each object is stored at."""
    from instar.kube import etcd as kube_etcd

    async with kube_etcd.Etcd(control_plane.etcd) as witness:
        yield witness


def _launch(config: pytest.Config, settings: plane.Settings) -> plane.ControlPlane:
    from instar.controlplane import plane

    capture: Any = config.pluginmanager.getplugin("capturemanager")
    # A first build takes minutes: without this pytest would swallow what it says.
    with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
        plane.provide(settings)
    return plane.launch(settings)
