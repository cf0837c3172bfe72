"""Starts a control plane and hands it out; ``start`` for asyncio, ``launch`` for everyone else.

::

    settings -> assets (found or built) -> certificates, ports, arguments -> a plan in the run's folder -> supervisor

Nothing here owns a process but the supervisor: leaving ``start``, or dying in it, ends all of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from instar import errors
from instar.controlplane import assets, blueprint, build, link, releases, runs
from instar.controlplane import settings as settings_
from instar.controlplane.settings import Settings
from instar.kube import authority

__all__ = ["ControlPlane", "Settings", "launch", "provide", "start"]

_TRIES = 3
_PORT_TAKEN = "address already in use"


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlPlane:
    """A control plane that runs: where its kubeconfig, its etcd and its API servers are (URLs on loopback).

    ``kubernetes`` is its version, ``kubectl`` a client of it, if the machine has one.
    """

    name: str
    kubeconfig: Path
    etcd: str
    apiservers: tuple[str, ...]
    folder: Path
    kubernetes: str
    kubectl: Path | None
    _link: link.Link = field(repr=False)

    @property
    def apiserver_pids(self) -> tuple[int, ...]:
        """The API servers' process ids now, 0 for one that was killed: SIGSTOP and SIGCONT pause and resume one."""
        run = runs.read(self.folder)
        pids = run.pids if run else {}
        return tuple(pids.get(blueprint.apiserver_name(index), 0) for index in range(len(self.apiservers)))

    def pause_apiserver(self, index: int) -> None:
        """Stop API server ``index`` where it stands: its connections stay open and it answers nothing."""
        os.kill(self.apiserver_pids[index], signal.SIGSTOP)

    def resume_apiserver(self, index: int) -> None:
        """Let a paused API server go on."""
        os.kill(self.apiserver_pids[index], signal.SIGCONT)

    def kill_apiserver(self, index: int) -> None:
        """End API server ``index`` by SIGKILL; the others go on. Blocks for a moment."""
        self._link.command("kill", blueprint.apiserver_name(index))

    def start_apiserver(self, index: int) -> None:
        """Start API server ``index`` again, at its old address and with cold caches. Blocks until it is ready."""
        self._link.command("start", blueprint.apiserver_name(index))

    def failure(self) -> errors.ControlPlaneError | None:
        """Why it ended by itself, with the last lines of the log; None while it runs."""
        return self._link.failure()

    def wait(self) -> None:
        """Until someone stops it; raises ControlPlaneError if it ends by itself."""
        self._link.wait("stopped")

    def detach(self) -> None:
        """Let it run on after this process, until ``instar controlplane stop``."""
        self._link.let_go()

    def stop(self) -> None:
        """End it; blocks until its processes and its folder are gone."""
        self._link.close()


@contextlib.asynccontextmanager
async def start(settings: Settings | None = None) -> AsyncIterator[ControlPlane]:
    """A control plane for the length of an ``async with``; raises ControlPlaneError, also at the end if it crashed."""
    launching = asyncio.ensure_future(asyncio.to_thread(launch, settings or Settings()))
    try:
        plane = await asyncio.shield(launching)
    except asyncio.CancelledError:
        # A thread cannot be cancelled: wait for what it makes, or nobody would end it.
        with contextlib.suppress(errors.InstarError):
            await asyncio.to_thread((await launching).stop)
        raise
    try:
        yield plane
        if failure := plane.failure():
            raise failure
    except Exception as error:
        if (failure := plane.failure()) and failure is not error:
            error.add_note(failure.message)
        raise
    finally:
        await asyncio.shield(asyncio.to_thread(plane.stop))


def launch(settings: Settings) -> ControlPlane:
    """Start a control plane and wait until it is ready; raises UsageError or ControlPlaneError. End it by ``stop``."""
    settings_.check(settings)
    found = provide(settings)
    for attempt in range(_TRIES):
        try:
            return _attempt(settings, found)
        except errors.ControlPlaneError as error:
            if _PORT_TAKEN not in error.message or attempt == _TRIES - 1:
                raise
    raise errors.InternalError("unreachable")


def provide(settings: Settings) -> assets.Assets:
    """The binaries that the settings ask for, built if there are none; raises UsageError or ControlPlaneError."""
    version = releases.resolve(settings.kubernetes_version)
    found = assets.named(settings.assets)
    if found is None:
        build.ensure(build.targets(version, with_controller_manager=settings.with_controller_manager))
        return assets.cached(version)
    if version != releases.DEFAULT:
        assets.hold_to(found, version)
    if settings.with_controller_manager and found.controller_manager is None:
        raise errors.UsageError(f"{found.source}: {found.apiserver.parent} has no executable kube-controller-manager")
    return found


def _attempt(settings: Settings, found: assets.Assets) -> ControlPlane:
    taken = runs.claim(settings.name)
    try:
        plan = blueprint.draw(settings, found, taken)
        authority.write_secret(taken.folder / "plan.json", json.dumps(plan).encode())
        supervisor = link.spawn(taken)
    except BaseException:
        os.close(taken.descriptor)
        runs.release(taken)
        raise
    try:
        supervisor.wait("ready")
    except BaseException:
        supervisor.close()
        raise
    return _control_plane(plan["state"], found, taken, supervisor)


def _control_plane(
    state: Mapping[str, Any], found: assets.Assets, taken: runs.Claim, supervisor: link.Link
) -> ControlPlane:
    return ControlPlane(
        name=taken.name,
        kubeconfig=Path(state["kubeconfig"]),
        etcd=state["etcd"],
        apiservers=tuple(state["apiservers"]),
        folder=taken.folder,
        kubernetes=state["kubernetes"],
        kubectl=found.kubectl,
        _link=supervisor,
    )
