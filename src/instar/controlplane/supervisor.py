"""The small process that owns etcd and the API servers, so that none of them can outlive whoever asked for them.

::

    parent --stdin pipe--> supervisor --spawns--> etcd, kube-apiserver...
           <--stdout----    ready | done | failed | stopped

The pipe's end is the parent's death, SIGKILL included; no process needs to poll another's pid for that to hold. It then
kills its children, removes the run's folder and leaves. ``detach`` makes it stay. Lines of JSON go both ways: commands
``{"do": "detach" | "kill" | "start", "name": ...}``, events ``{"event": ...}``. It has one thread (see ``processes``).
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from instar.controlplane import probe, processes

__all__ = ["Supervisor", "main"]

_STARTING_SECONDS = 0.03
_STEADY_SECONDS = 0.5


class Supervisor:
    """Runs the plan in ``folder`` until told to stop, left alone, or one of its processes ends by itself."""

    def __init__(self, folder: Path, parent: int) -> None:
        self._folder = folder
        self._parent = parent
        self._plan: dict[str, Any] = json.loads((folder / "plan.json").read_text())
        trust = probe.context(*self._plan["trust"])
        self._stages = [[processes.Process(each, trust) for each in stage] for stage in self._plan["stages"]]
        self._by_name = {process.name: process for stage in self._stages for process in stage}
        self._running: list[processes.Process] = []
        self._due: str | None = "ready"
        self._deadline = time.monotonic() + self._plan["start_seconds"]
        self._detached = False
        self._ended = False
        self._input = b""
        self._wake, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC) if hasattr(os, "pipe2") else _pipe()
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._end)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self) -> None:
        """The loop: look at the children, go on with the start, listen to the parent."""
        while not self._ended:
            self._advance()
            self._collect()
            if not self._ended:
                self._listen(_STARTING_SECONDS if self._due else _STEADY_SECONDS)

    def tear_down(self) -> None:
        """Leave no process and no folder; the lock file goes last, as it says that this run lives."""
        for process in self._by_name.values():
            process.kill()
        copy = self._plan["kubeconfig_copy"]
        if copy and Path(copy).is_file() and Path(copy).read_bytes() == (self._folder / "kubeconfig").read_bytes():
            Path(copy).unlink()
        shutil.rmtree(self._folder, ignore_errors=True)
        Path(self._plan["lock"]).unlink(missing_ok=True)

    def fail(self, name: str, what: str, lines: list[str]) -> None:
        """Tell the parent, or the crash report of a detached run, why this ends."""
        self._ended = True
        event = {"event": "failed", "process": name, "what": what, "tail": lines}
        if self._detached:
            report = Path(self._plan["crash_report"])
            report.parent.mkdir(parents=True, exist_ok=True)
            report.write_text("\n".join([f"{name} {what}", *lines, ""]))
        self._tell(event)

    def _advance(self) -> None:
        if not self._due or not all([process.probe() for process in self._running]):  # noqa: C419 - probe each
            self._check_deadline()
        elif self._stages:
            self._start(self._stages.pop(0))
        else:
            self._tell({"event": self._due})
            self._due = None

    def _start(self, stage: list[processes.Process]) -> None:
        for process in stage:
            try:
                process.start()
            except OSError as error:
                return self.fail(process.name, f"cannot be run: {error}", [])
            self._running.append(process)
        self._write_state()
        return None

    def _check_deadline(self) -> None:
        if self._due and time.monotonic() > self._deadline:
            late = next(process for process in self._running if not process.ready)
            self.fail(late.name, f"was not ready within {self._plan['start_seconds']:g} s", late.tail())

    def _collect(self) -> None:
        for process in self._running:
            code = process.exit_code()
            if code is not None and not self._ended:
                how = f"was killed by signal {-code}" if code < 0 else f"ended by itself with code {code}"
                self.fail(process.name, how, process.tail())

    def _listen(self, timeout_seconds: float) -> None:
        sources = [self._wake] if self._detached else [self._wake, 0]
        readable, _, _ = select.select(sources, [], [], timeout_seconds)
        if self._wake in readable:
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake, 4096)
        if 0 in readable:
            self._read()
        # A fork of the parent may hold the pipe open: a new parent of ours tells the same.
        if not self._detached and os.getppid() != self._parent:
            self._ended = True

    def _read(self) -> None:
        data = os.read(0, 65536)
        if not data:
            self._ended = True
        *lines, self._input = (self._input + data).split(b"\n")
        for line in lines:
            self._obey(json.loads(line))

    def _obey(self, command: dict[str, Any]) -> None:
        if command["do"] == "detach":
            return self._detach()
        process = self._by_name[command["name"]]
        process.kill()
        self._running = [each for each in self._running if each is not process]
        self._due = "done"
        if command["do"] == "start":
            self._deadline = time.monotonic() + self._plan["start_seconds"]
            return self._start([process])
        return self._write_state()

    def _detach(self) -> None:
        self._detached = True
        self._write_state()
        self._tell({"event": "done"})
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nowhere, number)

    def _write_state(self) -> None:
        pids = {process.name: process.pid for process in self._running}
        state = {**self._plan["state"], "supervisor": os.getpid(), "detached": self._detached, "pids": pids}
        fresh = self._folder / "state.json.new"
        fresh.write_text(json.dumps(state))
        fresh.replace(self._folder / "state.json")

    def _tell(self, event: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            os.write(1, json.dumps(event).encode() + b"\n")

    def _end(self, *_: object) -> None:
        self._ended = True
        self._tell({"event": "stopped"})


def main() -> None:
    """Run the plan of the folder named first for the parent whose pid is named second."""
    supervisor = Supervisor(Path(sys.argv[1]), int(sys.argv[2]))
    try:
        supervisor.run()
    except Exception:
        supervisor.fail("supervisor", "failed", traceback.format_exc().splitlines())
    finally:
        supervisor.tear_down()


def _pipe() -> tuple[int, int]:
    ends = os.pipe()
    for end in ends:
        os.set_blocking(end, False)
    return ends


if __name__ == "__main__":
    main()
