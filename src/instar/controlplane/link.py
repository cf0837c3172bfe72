"""The parent's end of a supervisor: its birth, the lines that go to it, and its end.

The supervisor gets a session of its own, so that Ctrl-C in a terminal reaches the parent alone, which then decides.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from typing import Any

from instar import errors
from instar.controlplane import command, processes, runs

__all__ = ["Link", "spawn"]

_STOP_SECONDS = 20.0


class Link:
    """Commands to one supervisor and its events; methods block, and may be called from any thread."""

    def __init__(self, process: subprocess.Popen[bytes], claim: runs.Claim) -> None:
        self._process = process
        self._claim = claim
        self._turn = threading.Lock()
        self._failure: errors.ControlPlaneError | None = None

    def wait(self, expected: str) -> None:
        """Until the event that is expected; raises ControlPlaneError for any other."""
        event = self._next()
        if event["event"] != expected:
            raise self._failed(event)

    def command(self, do: str, name: str = "") -> None:
        """Say it and wait until it is done."""
        assert self._process.stdin is not None
        with self._turn:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.write(json.dumps({"do": do, "name": name}).encode() + b"\n")
                self._process.stdin.flush()
            self.wait("done")

    def failure(self) -> errors.ControlPlaneError | None:
        """Why the control plane ended by itself; None while it runs."""
        if self._failure is None and self._process.poll() is not None:
            self._failed(self._next())
        return self._failure

    def _next(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        event: dict[str, Any] = json.loads(line) if line else {"event": "failed", "tail": self._own_words()}
        return {"process": "supervisor", "what": event["event"], "tail": [], **event}

    def close(self) -> None:
        """End it and wait until its processes and its folder are gone; twice is once."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        runs.release(self._claim)

    def let_go(self) -> None:
        """Make the supervisor stay after the parent."""
        self.command("detach")
        # It is no child to wait for any more: without this Python warns of a process left running.
        self._process.returncode = 0

    def _failed(self, event: dict[str, Any]) -> errors.ControlPlaneError:
        said = "".join(f"\n  {line}" for line in event["tail"])
        message = f"control plane {self._claim.name!r}: {event['process']} {event['what']}"
        self._failure = errors.ControlPlaneError(f"{message}; the last it said:{said}" if said else message)
        return self._failure

    def _own_words(self) -> list[str]:
        return processes.tail(self._claim.folder / "supervisor.log")


def spawn(claim: runs.Claim) -> Link:
    """Start the supervisor on the plan in the claim's folder; it takes the lock over."""
    words = [sys.executable, "-P", "-m", "instar.controlplane.supervisor", str(claim.folder), str(os.getpid())]
    with (claim.folder / "supervisor.log").open("wb") as log:
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd="/",
            env=command.own_environment(os.environ),
            pass_fds=[claim.descriptor],
            start_new_session=True,
        )
    os.close(claim.descriptor)
    return Link(process, claim)
