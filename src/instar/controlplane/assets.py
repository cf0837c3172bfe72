"""Where the binaries come from: a folder that is named, the ecosystem's own convention, or our cache.

The order: ``--assets`` or INSTAR_ASSETS, KUBEBUILDER_ASSETS (what ``setup-envtest use -p env`` prints), the cache,
which ``build`` fills.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from instar import errors
from instar.controlplane import cache, releases

__all__ = ["Assets", "cached", "hold_to", "named"]

_NEEDED = ("etcd", "kube-apiserver")


@dataclass(frozen=True, kw_only=True, slots=True)
class Assets:
    """The programs of a control plane; ``source`` is where they were found, for messages."""

    etcd: Path
    apiserver: Path
    controller_manager: Path | None
    kubectl: Path | None
    version: str
    source: str


def named(folder: Path | None, environment: Mapping[str, str] = os.environ) -> Assets | None:
    """The binaries of the folder that a flag or a variable names, None if none does; raises UsageError if it is bad."""
    for source, path in (
        ("--assets", folder),
        ("INSTAR_ASSETS", environment.get("INSTAR_ASSETS")),
        ("KUBEBUILDER_ASSETS", environment.get("KUBEBUILDER_ASSETS")),
    ):
        if path:
            return _in(Path(path).expanduser().absolute(), source)
    return None


def cached(kubernetes_version: str) -> Assets:
    """The binaries of the cache, whose build has ended."""
    kubernetes = cache.binaries("kubernetes", kubernetes_version)
    manager = kubernetes / "kube-controller-manager"
    return Assets(
        etcd=cache.binaries("etcd", releases.etcd()) / "etcd",
        apiserver=kubernetes / "kube-apiserver",
        controller_manager=manager if manager.is_file() else None,
        kubectl=_kubectl(kubernetes),
        version=kubernetes_version,
        source=str(kubernetes),
    )


def hold_to(assets: Assets, wanted: str) -> None:
    """Refuse a named folder whose API server is of another version than asked for; raises UsageError."""
    if assets.version != wanted:
        raise errors.UsageError(
            f"{assets.apiserver} ({assets.source}) is Kubernetes {assets.version or 'of no known version'}, not "
            f"{wanted}: name another folder, or none to have {wanted} built"
        )


def _in(folder: Path, source: str) -> Assets:
    if not folder.is_dir():
        raise errors.UsageError(f"{source} names {folder}, which is no folder")
    missing = [name for name in _NEEDED if not _runnable(folder / name)]
    if missing:
        raise errors.UsageError(
            f"{source} names {folder}, which has no executable {' and no executable '.join(missing)}: put it there, or "
            f"leave {source} out to have the binaries built"
        )
    manager = folder / "kube-controller-manager"
    return Assets(
        etcd=folder / "etcd",
        apiserver=folder / "kube-apiserver",
        controller_manager=manager if _runnable(manager) else None,
        kubectl=_kubectl(folder),
        version=_version(folder / "kube-apiserver", source),
        source=source,
    )


def _kubectl(folder: Path) -> Path | None:
    if _runnable(folder / "kubectl"):
        return folder / "kubectl"
    found = shutil.which("kubectl")
    return Path(found) if found else None


def _version(apiserver: Path, source: str) -> str:
    try:
        ran = subprocess.run([apiserver, "--version"], check=False, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise errors.UsageError(f"{apiserver} ({source}) cannot be run: {error}") from None
    found = re.search(r"v(\d+\.\d+\.\d+\S*)", ran.stdout)
    return found.group(1) if found else ""


def _runnable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
