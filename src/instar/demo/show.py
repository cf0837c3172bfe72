"""One demo from nothing to nothing: a control plane, the story on it, the report, and no process left.

With ``keep`` the control plane stays after a run that ended, as ``instar controlplane start --detach`` leaves one:
``instar controlplane list`` and ``stop`` know it.
"""

from __future__ import annotations

import dataclasses
import pathlib
import time
from collections.abc import Callable, Coroutine
from typing import Any

from instar.controlplane import plane as plane_module
from instar.demo import files, recorder, scenario, screen, story
from instar.report import run

__all__ = ["Ended", "show"]

REQUEST_TIMEOUT_SECONDS = 60.0
"""What API servers allow one request unless told otherwise; settling takes at least as long (instar.migration)."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """What came of it, where its page is, and the control plane if it was kept."""

    run: run.Run
    page: pathlib.Path
    kept: plane_module.ControlPlane | None


def show(
    options: story.Options,
    where: screen.Screen,
    loop: Callable[[Coroutine[Any, Any, run.Run]], run.Run],
    *,
    keep: bool = False,
) -> Ended:
    """Run it all; ``loop`` runs a coroutine to its end, as asyncio.run does."""
    files.prepare(options.report)
    settings = _settings(options)
    plane_module.provide(settings)
    steps = recorder.Recorder(where, time.monotonic)
    with steps.step("start", "Start etcd and kube-apiserver") as step:
        plane = plane_module.launch(settings)
        step.proof(f"Kubernetes {plane.kubernetes} at {plane.apiservers[0]}, etcd at {plane.etcd}")
    try:
        ended = loop(scenario.tell(plane, steps, options))
        page = files.write(options.report, ended)
        if keep:
            plane.detach()
    except BaseException:
        plane.stop()
        raise
    if not keep:
        plane.stop()
    return Ended(run=ended, page=page, kept=plane if keep else None)


def _settings(options: story.Options) -> plane_module.Settings:
    """A settle time below the usual request timeout is sound only where requests may not take longer than it."""
    if options.settle_seconds >= REQUEST_TIMEOUT_SECONDS:
        return plane_module.Settings()
    return plane_module.Settings(apiserver_flags=(f"--request-timeout={options.settle_seconds:g}s",))
