"""Where this project keeps what is dear to make: one folder, so that its size can be told and all of it removed.

::

    <cache>/bin/kubernetes-1.37.2/{kube-apiserver,...}   finished binaries, never rebuilt
    <cache>/bin/etcd-3.6.16/etcd
    <cache>/go-build, <cache>/go-mod                     Go's own caches, ours alone: `prune` removes them
    <cache>/modules/                                     copies of our pinned go.mod, in which Go works
    <cache>/toolchain/                                   Go from PyPI, where the machine has none
    <cache>/runs/                                        the control planes that run now
    <cache>/crashes/                                     what a detached one said before it died

``INSTAR_CACHE`` names the folder, else ``XDG_CACHE_HOME/instar``, else the user's own cache folder.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = [
    "binaries",
    "crashes",
    "folder",
    "format_size",
    "gocache",
    "gomodcache",
    "prune",
    "runs",
    "size",
    "toolchain",
]


def folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The cache folder; it may not exist yet."""
    if named := environment.get("INSTAR_CACHE"):
        return Path(named).expanduser().absolute()
    if shared := environment.get("XDG_CACHE_HOME"):
        return Path(shared).expanduser().absolute() / "instar"
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "instar"


def binaries(name: str, version: str) -> Path:
    """The folder of the finished binaries of ``kubernetes`` or ``etcd``."""
    return folder() / "bin" / f"{name}-{version}"


def gocache() -> Path:
    """Go's build cache: ours alone, since it grows to 4 GB and only what is ours may be pruned."""
    return folder() / "go-build"


def gomodcache() -> Path:
    """Go's module cache."""
    return folder() / "go-mod"


def toolchain() -> Path:
    """Where Go from PyPI is installed."""
    return folder() / "toolchain"


def runs() -> Path:
    """One folder and one lock file for each control plane that runs."""
    return folder() / "runs"


def crashes() -> Path:
    """One text for each detached control plane that died."""
    return folder() / "crashes"


def size(path: Path) -> int:
    """Bytes on disk of a file or a folder; what vanishes meanwhile counts nothing."""
    return sum(_blocks(entry) for entry in _walk(path))


def prune(*, everything: bool, dry_run: bool = False) -> dict[Path, int]:
    """Remove Go's caches and toolchain, and with ``everything`` the binaries too; bytes freed by folder."""
    doomed = [
        gocache(),
        gomodcache(),
        toolchain(),
        crashes(),
        folder() / "modules",
        *([folder() / "bin"] if everything else []),
    ]
    freed = {path: size(path) for path in doomed if path.exists()}
    for path in () if dry_run else freed:
        shutil.rmtree(path)
    return freed


def format_size(count: int) -> str:
    """Bytes for a person: ``119 MB``, ``4.1 GB``."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            value = count / factor
            return f"{value:.1f} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return f"{count} B"


def _walk(path: Path) -> Iterator[Path]:
    yield path
    if path.is_dir() and not path.is_symlink():
        for entry, folders, files in os.walk(path):
            yield from (Path(entry, name) for name in (*folders, *files))


def _blocks(path: Path) -> int:
    try:
        return path.lstat().st_blocks * 512
    except OSError:
        return 0
