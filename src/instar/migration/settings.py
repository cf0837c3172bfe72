"""What a person may choose about one migration; the defaults are right for a cluster that nobody prepared."""

from __future__ import annotations

import dataclasses
from urllib import parse

from instar import errors

__all__ = ["Settings", "check"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Settings of one pass over one CRD.

    ``settle_seconds`` must be at least the API servers' ``--request-timeout`` (60 s unless somebody changed it): a
    write that was under way when the storage version changed lands at the old one, however late it ends.
    ``timeout_seconds`` is how long a gate may hold before the run gives up. ``servers`` are base URLs of every API
    server; empty means the endpoints of the ``kubernetes`` Service. ``etcd`` is a URL whose JSON gateway answers, for
    the proof by bytes. ``retire`` names versions about to go: managedFields that name them are rewritten, as are
    always those that name a version that is not served.
    """

    settle_seconds: float = 60.0
    timeout_seconds: float = 600.0
    concurrency: int = 32
    servers: tuple[str, ...] = ()
    etcd: str = ""
    dry_run: bool = False
    retire: tuple[str, ...] = ()
    attempts: int = 3
    proof_attempts: int = 8
    proof_rounds: int = 5
    catch_up_rounds: int = 5
    restarts: int = 5
    lease_namespace: str = "kube-system"
    lease_seconds: float = 10.0


def check(settings: Settings) -> None:
    """UsageError that names every setting that cannot be."""
    wrong = [
        f"{name} is {value}, and must be {least} or more"
        for name, value, least in (
            ("settle", settings.settle_seconds, 0),
            ("timeout", settings.timeout_seconds, 0),
            ("concurrency", settings.concurrency, 1),
            ("attempts", settings.attempts, 1),
            ("proof rounds", settings.proof_rounds, 1),
        )
        if not value >= least
    ]
    wrong += [
        f"API server {url!r} is no URL: give it as https://host:port" for url in settings.servers if not _address(url)
    ]
    if settings.etcd and not _address(settings.etcd):
        wrong.append(f"etcd {settings.etcd!r} is no URL: give it as http://host:port")
    if wrong:
        raise errors.UsageError("; ".join(wrong))


def _address(url: str) -> bool:
    try:
        parts = parse.urlsplit(url)
        return parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
