"""Builds the binaries from pinned Go modules: once, one build at a time on a machine, and never again.

A binary appears in the cache under its final name only when it is whole, so whoever sees it may run it. What a build
that was interrupted had compiled is in Go's own cache, and the next goes on from there.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from instar.controlplane import cache, command, progress, releases, toolchain

__all__ = ["Target", "ensure", "prune", "targets"]

_PACKAGE = re.compile(r"[\w.\-~]+(/[\w.\-~]+)*")
_DOWNLOAD = "go: downloading "
_WAIT_SECONDS = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """One program to build: the Go package in the module of ours that pins it."""

    module: str
    version: str
    package: str
    linker_flags: str = "-s -w"

    @property
    def name(self) -> str:
        return "etcd" if self.module == "etcd" else self.package.rpartition("/")[2]

    @property
    def path(self) -> Path:
        """Where the finished binary is."""
        return cache.binaries(self.module, self.version) / self.name


def targets(kubernetes_version: str, *, with_controller_manager: bool = False) -> list[Target]:
    """What a control plane of that version needs; kubectl only where the machine has none."""
    names = ["kube-apiserver"]
    names += ["kubectl"] if shutil.which("kubectl") is None else []
    names += ["kube-controller-manager"] if with_controller_manager else []
    stamp = releases.linker_flags(kubernetes_version)
    return [
        Target(module="etcd", version=releases.etcd(), package="go.etcd.io/etcd/server/v3"),
        *(
            Target(
                module="kubernetes",
                version=kubernetes_version,
                package=f"k8s.io/kubernetes/cmd/{name}",
                linker_flags=stamp,
            )
            for name in names
        ),
    ]


def ensure(wanted: Sequence[Target]) -> None:
    """Build those that the cache lacks and say so on standard error; raises ControlPlaneError."""
    if all(target.path.is_file() for target in wanted):
        return
    cache.folder().mkdir(parents=True, exist_ok=True)
    with progress.shown() as shown, _alone(shown):
        missing = [target for target in wanted if not target.path.is_file()]
        try:
            for target in missing:
                _build(target, shown)
        except KeyboardInterrupt:
            shown.say("interrupted: run it again, it goes on from here")
            raise
        if missing:
            _sum_up(wanted, shown)


def prune(*, everything: bool, dry_run: bool = False) -> dict[Path, int]:
    """Remove what builds left behind, never under one that runs; bytes freed by folder."""
    if not cache.folder().is_dir():
        return {}
    with progress.shown() as shown, _alone(shown):
        return cache.prune(everything=everything, dry_run=dry_run)


def _build(target: Target, shown: progress.Progress) -> None:
    began = time.monotonic()
    module = _work_folder(target)
    go = toolchain.provide(releases.parse_requirement((module / "go.mod").read_text()), shown)
    environment = toolchain.environment(go)
    flags = ["-ldflags", target.linker_flags]
    what = f"{target.name} {target.version}"
    shown.say(f"building {what} with {go}")
    words = [str(go), "list", *flags, "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}", target.package]
    total = _follow(f"{what}: downloading modules", words, module, environment, shown, 0)
    target.path.parent.mkdir(parents=True, exist_ok=True)
    partial = target.path.with_name(f"{target.name}.partial")
    words = [str(go), "build", "-v", *flags, "-o", str(partial), target.package]
    _follow(f"{what}: compiling packages", words, module, environment, shown, total)
    partial.replace(target.path)
    seconds = time.monotonic() - began
    shown.say(f"built {what} in {seconds:.0f} s: {target.path} ({cache.format_size(target.path.stat().st_size)})")


def _follow(
    what: str, words: list[str], module: Path, environment: dict[str, str], shown: progress.Progress, total: int
) -> int:
    """Run Go and count the packages that it names; while it downloads, the modules."""
    packages = downloads = 0
    for line in command.lines(what, words, cwd=module, environment=environment):
        if line.startswith(_DOWNLOAD):
            downloads += 1
            shown.advance(what, downloads, 0)
        elif _PACKAGE.fullmatch(line):
            packages += 1
            if total:
                shown.advance(what, min(packages, total), total)
    return packages


def _work_folder(target: Target) -> Path:
    """A copy of the pinned module that Go may work in: the installed one may be read-only, or in a zip file."""
    folder = cache.folder() / "modules" / f"{target.module}-{target.version}"
    folder.mkdir(parents=True, exist_ok=True)
    for file in releases.gomodule(target.module, target.version).iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def _sum_up(built: Sequence[Target], shown: progress.Progress) -> None:
    binaries = sum(target.path.stat().st_size for target in built)
    caches = sum(cache.size(path) for path in (cache.gocache(), cache.gomodcache(), cache.toolchain()))
    kept = f"{cache.format_size(caches)} of what Go keeps (`instar controlplane prune` removes that)"
    shown.say(f"disk taken in {cache.folder()}: {cache.format_size(binaries)} of binaries, {kept}")


@contextlib.contextmanager
def _alone(shown: progress.Progress) -> Iterator[None]:
    with (cache.folder() / "build.lock").open("a+") as lock:
        waited = False
        while not _locked(lock.fileno()):
            if not waited:
                lock.seek(0)
                shown.say(f"another instar is building (pid {lock.read().strip() or 'unknown'}): waiting for it")
                waited = True
            time.sleep(_WAIT_SECONDS)
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
