"""The control planes that run now, known by a lock that the supervisor holds for as long as it lives.

A pid alone may be someone else's after a reboot; a held ``flock`` cannot lie. What has a folder and no holder is dead:
its folder, and any process of its that the kernel left over, go at the next look.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from instar import errors
from instar.controlplane import cache

__all__ = ["Claim", "Run", "alive", "claim", "crash_report", "find", "read", "release", "stop"]

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?")
_STOP_SECONDS = 20.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """A name taken: its empty folder, its lock file, and the descriptor that holds the lock."""

    name: str
    folder: Path
    lock: Path
    descriptor: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """A control plane that runs."""

    name: str
    kubernetes: str
    kubeconfig: Path
    etcd: str
    apiservers: tuple[str, ...]
    folder: Path
    supervisor: int
    detached: bool
    started: float
    pids: dict[str, int]


def claim(name: str = "") -> Claim:
    """Take ``name``, or a new one; raises UsageError if it is taken or malformed."""
    if name and not _NAME.fullmatch(name):
        raise errors.UsageError(
            f"control plane name {name!r} must be lower case letters, digits and '-', at most 40 of them"
        )
    name = name or f"plane-{secrets.token_hex(3)}"
    cache.runs().mkdir(parents=True, exist_ok=True)
    lock = cache.runs() / f"{name}.lock"
    descriptor = _lock_soon(lock)
    if descriptor is None:
        raise errors.UsageError(f"control plane {name!r} already runs: choose another --name or stop that one first")
    folder = cache.runs() / name
    _bury(folder)
    crash_report(name).unlink(missing_ok=True)
    folder.mkdir(mode=0o700)
    return Claim(name=name, folder=folder, lock=lock, descriptor=descriptor)


def release(taken: Claim) -> None:
    """Give a name back whose supervisor never came, or left without tidying."""
    descriptor = _lock(taken.lock)
    if descriptor is not None:
        _bury(taken.folder)
        taken.lock.unlink(missing_ok=True)
        os.close(descriptor)


def alive() -> list[Run]:
    """Every control plane that runs, by name; what the dead left behind is removed on the way."""
    found = []
    for name in sorted({path.name.removesuffix(".lock") for path in cache.runs().glob("*")}):
        lock = cache.runs() / f"{name}.lock"
        descriptor = _lock(lock)
        if descriptor is not None:
            _bury(lock.with_suffix(""))
            lock.unlink(missing_ok=True)
            os.close(descriptor)
        elif run := read(lock.with_suffix("")):
            found.append(run)
    return found


def crash_report(name: str) -> Path:
    """Where a detached control plane leaves what it said before it died."""
    return cache.crashes() / f"{name}.txt"


def find(name: str) -> Run:
    """The run of that name; raises UsageError that names those there are, or says how it died."""
    running = alive()
    for run in running:
        if run.name == name:
            return run
    report = crash_report(name)
    if report.is_file():
        raise errors.UsageError(f"control plane {name!r} has died: {report.read_text().strip()}")
    names = ", ".join(run.name for run in running) or "none"
    raise errors.UsageError(f"no control plane {name!r} runs (running: {names})")


def stop(run: Run) -> None:
    """End a control plane and wait until its processes and its folder are gone; raises ControlPlaneError."""
    lock = cache.runs() / f"{run.name}.lock"
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(run.supervisor, number)
        if _freed(lock, _STOP_SECONDS):
            return
    raise errors.ControlPlaneError(f"control plane {run.name!r} (supervisor pid {run.supervisor}) does not end")


def read(folder: Path) -> Run | None:
    """What a run says of itself; None before it has started its first process."""
    try:
        state: dict[str, Any] = json.loads((folder / "state.json").read_text())
    except (OSError, ValueError):
        return None
    return Run(
        name=state["name"],
        kubernetes=state["kubernetes"],
        kubeconfig=Path(state["kubeconfig"]),
        etcd=state["etcd"],
        apiservers=tuple(state["apiservers"]),
        folder=folder,
        supervisor=state["supervisor"],
        detached=state["detached"],
        started=state["started"],
        pids=state["pids"],
    )


def _lock(path: Path) -> int | None:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        if _is(path, descriptor):
            return descriptor
        # Whoever held it removed the file between our two calls: the lock is on a ghost.
        os.close(descriptor)


def _lock_soon(path: Path) -> int | None:
    """Try for a moment: a `list` elsewhere holds each lock for as long as it takes to see that nobody does."""
    for _ in range(5):
        if (descriptor := _lock(path)) is not None:
            return descriptor
        time.sleep(0.05)
    return None


def _is(path: Path, descriptor: int) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    return False


def _freed(lock: Path, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not lock.exists():
            return True
        descriptor = _lock(lock)
        if descriptor is not None:
            _bury(lock.with_suffix(""))
            lock.unlink(missing_ok=True)
            os.close(descriptor)
            return True
        time.sleep(0.02)
    return False


def _bury(folder: Path) -> None:
    dead = read(folder)
    for pid in _ours(dead) if dead else ():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def _ours(dead: Run) -> Iterator[int]:
    """Only those pids whose command line still names the run's folder: a pid may have been given to another."""
    return (pid for pid in dead.pids.values() if str(dead.folder) in _command_line(pid))


def _command_line(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    with contextlib.suppress(OSError):
        words = ["ps", "-p", str(pid), "-o", "command="]
        return subprocess.run(words, check=False, capture_output=True, text=True).stdout
    return ""
