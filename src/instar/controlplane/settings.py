"""What a control plane is to be."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from instar import errors
from instar.controlplane import arguments, kubeconfig, releases

__all__ = ["Settings", "check"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What a control plane is to be; the defaults are one API server of the newest pinned release.

    ``apiserver_flags`` are words as ``--request-timeout=10s``; ``feature_gates`` as ``WatchList=false``;
    ``kubeconfig`` names a file that gets a copy.
    """

    kubernetes_version: str = releases.DEFAULT
    apiservers: int = 1
    assets: Path | None = None
    apiserver_flags: tuple[str, ...] = ()
    feature_gates: tuple[str, ...] = ()
    audit: bool = False
    with_controller_manager: bool = False
    name: str = ""
    kubeconfig: Path | None = None
    start_seconds: float = 120.0


def check(settings: Settings) -> None:
    """Refuse what cannot be started; raises UsageError."""
    if settings.apiservers < 1:
        raise errors.UsageError(f"apiservers is {settings.apiservers}, and must be at least 1")
    arguments.check(settings.apiserver_flags)
    arguments.feature_gates(",".join(settings.feature_gates))
    if settings.kubeconfig:
        kubeconfig.check_target(settings.kubeconfig)
