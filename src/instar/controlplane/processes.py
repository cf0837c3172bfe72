"""One program of a control plane as the supervisor sees it: started, ready, ended, and what it said last.

On Linux the kernel kills a child when the supervisor dies (PR_SET_PDEATHSIG). That holds per thread, which is safe only
because the supervisor has one.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from instar.controlplane import probe

__all__ = ["Process", "tail"]

GARBAGE_PERCENT = "300"
"""How far Go lets its heap grow before it collects, in percent: less CPU on a small machine, for more memory."""

_PR_SET_PDEATHSIG = 1


class Process:
    """A program by its plan ``{name, argv, log, ready}``; ``pid`` is 0 while it does not run."""

    def __init__(self, plan: Mapping[str, Any], trust: ssl.SSLContext) -> None:
        self.name: str = plan["name"]
        self.ready = False
        self._argv: list[str] = plan["argv"]
        self._log = Path(plan["log"])
        self._urls: list[str] = plan["ready"]
        self._trust = trust
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        return self._child.pid if self._child else 0

    def start(self) -> None:
        """Run it; its output is added to its log."""
        self.ready = False
        with self._log.open("ab") as log:
            self._child = subprocess.Popen(
                self._argv,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                env=_environment(),
                preexec_fn=_die_with_parent(),  # noqa: PLW1509 - the supervisor has one thread
            )

    def probe(self) -> bool:
        """Whether it is ready; asked until it once was."""
        self.ready = self.ready or probe.answers(self._urls, self._trust)
        return self.ready

    def exit_code(self) -> int | None:
        """The code it ended with, negative for a signal; None while it runs or was never started."""
        return self._child.poll() if self._child else None

    def kill(self) -> None:
        """End it at once and wait; SIGKILL also ends one that is stopped."""
        if self._child:
            with contextlib.suppress(ProcessLookupError):
                self._child.kill()
            self._child.wait()
            self._child = None
        self.ready = False

    def tail(self) -> list[str]:
        return tail(self._log)


def tail(path: Path, lines: int = 12) -> list[str]:
    """The last lines of a log, long ones cut."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 65536))
        return [line[:400] for line in file.read().decode(errors="replace").splitlines()[-lines:]]
    return []


def _environment() -> dict[str, str]:
    # etcd reads every ETCD_* variable as a flag and refuses to start where it contradicts one.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ETCD_") and name != "KUBECONFIG"}
    return {"GOGC": GARBAGE_PERCENT, **kept}


def _die_with_parent() -> Callable[[], None] | None:
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def in_child() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return in_child
