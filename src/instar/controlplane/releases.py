"""Which Kubernetes releases can be built here: each is a folder with a go.mod and go.sum that pin every byte of it.

A module of ours per release is needed because ``k8s.io/kubernetes`` asks for its own staging modules at v0.0.0, which
no proxy serves: each is replaced by its published twin (v1.37.2 <-> v0.37.2). The go.sum beside it pins by hash.
"""

from __future__ import annotations

import importlib.resources
import re
from importlib.resources.abc import Traversable

from instar import errors

__all__ = ["DEFAULT", "etcd", "gomodule", "linker_flags", "parse_go", "parse_requirement", "resolve", "supported"]

DEFAULT = "1.37.2"


def supported() -> tuple[str, ...]:
    """The pinned Kubernetes versions, newest first."""
    return _pinned("kubernetes-")


def etcd() -> str:
    """The pinned etcd version: one serves all Kubernetes releases here."""
    return _pinned("etcd-")[0]


def resolve(version: str) -> str:
    """``1.36``, ``v1.36.3`` or ``1.36.3`` as the full pinned version; raises UsageError for one that is not pinned."""
    wanted = version.strip().removeprefix("v")
    for known in supported():
        if wanted == known or known.rpartition(".")[0] == wanted:
            return known
    raise errors.UsageError(
        f"Kubernetes version {version!r} cannot be built here: choose one of {', '.join(supported())}, or name a "
        "folder with its binaries by --assets"
    )


def gomodule(name: str, version: str) -> Traversable:
    """The folder with go.mod and go.sum of ``kubernetes`` or ``etcd``."""
    return _root() / f"{name}-{version}"


def linker_flags(kubernetes_version: str) -> str:
    """Without these the API server reports v0.0.0, and clients that look at the version go wrong."""
    major, minor, _ = kubernetes_version.split(".", 2)
    package = "k8s.io/component-base/version"
    stamps = {"gitVersion": f"v{kubernetes_version}", "gitMajor": major, "gitMinor": minor}
    return " ".join(["-s", "-w", *(f"-X {package}.{name}={value}" for name, value in stamps.items())])


def parse_go(text: str) -> tuple[int, ...] | None:
    """``go version go1.26.8 linux/amd64`` as (1, 26, 8); None for a development build, whose version means nothing."""
    found = re.search(r"\bgo(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part or 0) for part in found.groups()) if found else None


def parse_requirement(gomod: str) -> tuple[int, ...]:
    """The least Go version that a go.mod asks for."""
    found = re.search(r"^go (\d+)\.(\d+)(?:\.(\d+))?", gomod, re.MULTILINE)
    return tuple(int(part or 0) for part in found.groups()) if found else (0, 0, 0)


def _root() -> Traversable:
    return importlib.resources.files("instar.controlplane") / "gomodules"


def _pinned(prefix: str) -> tuple[str, ...]:
    versions = [folder.name.removeprefix(prefix) for folder in _root().iterdir() if folder.name.startswith(prefix)]
    return tuple(sorted(versions, key=_sort_key, reverse=True))


def _sort_key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
