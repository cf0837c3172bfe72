"""Draws the plan that a supervisor runs: certificates, ports and arguments, written into the run's folder.

::

    folder/plan.json          what to run, in stages: etcd, then the API servers, then the controller manager
    folder/state.json         what runs: written by the supervisor, read by everyone
    folder/pki/               authority, serving, administrator, service account keys
    folder/kubeconfig
    folder/{etcd,apiserver-0,...}.log
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from instar.controlplane import arguments, assets, certificates, kubeconfig, ports, runs
from instar.controlplane.settings import Settings
from instar.kube import authority

__all__ = ["apiserver_name", "draw"]


def apiserver_name(index: int) -> str:
    """What API server ``index`` is called in plans, logs and messages."""
    return f"apiserver-{index}"


def draw(settings: Settings, found: assets.Assets, taken: runs.Claim) -> dict[str, Any]:
    """The plan of one control plane; all files that it names are in place afterwards."""
    etcd_port, manager_port, *server_ports = ports.free(2 + settings.apiservers)
    etcd_url = f"http://127.0.0.1:{etcd_port}"
    servers = [f"https://127.0.0.1:{port}" for port in server_ports]
    _write_files(settings, taken, servers)
    folder = taken.folder
    stages = [
        [_process(folder, "etcd", [str(found.etcd), *arguments.etcd(folder, etcd_port)], [f"{etcd_url}/health"])],
        _apiservers(settings, found, folder, etcd_url, server_ports),
    ]
    if settings.with_controller_manager:
        stages.append([_controller_manager(settings, found, folder, manager_port)])
    return {
        "stages": stages,
        "trust": [str(folder / "pki" / name) for name in ("ca.crt", "administrator.crt", "administrator.key")],
        "start_seconds": settings.start_seconds,
        "lock": str(taken.lock),
        "kubeconfig_copy": str(settings.kubeconfig.absolute()) if settings.kubeconfig else "",
        "crash_report": str(runs.crash_report(taken.name)),
        "state": {
            "name": taken.name,
            "kubernetes": found.version,
            "kubeconfig": str((settings.kubeconfig or folder / "kubeconfig").absolute()),
            "etcd": etcd_url,
            "apiservers": servers,
            "started": time.time(),
        },
    }


def _apiservers(
    settings: Settings, found: assets.Assets, folder: Path, etcd_url: str, server_ports: Sequence[int]
) -> list[dict[str, Any]]:
    planned = []
    for index, port in enumerate(server_ports):
        words = arguments.apiserver(
            folder,
            index=index,
            port=port,
            etcd_url=etcd_url,
            gates=settings.feature_gates,
            audit=settings.audit,
            flags=settings.apiserver_flags,
        )
        ready = [f"https://127.0.0.1:{port}{path}" for path in ("/readyz", "/api/v1/namespaces/default")]
        planned.append(_process(folder, apiserver_name(index), [str(found.apiserver), *words], ready))
    return planned


def _controller_manager(settings: Settings, found: assets.Assets, folder: Path, port: int) -> dict[str, Any]:
    words = arguments.controller_manager(folder, port=port, gates=settings.feature_gates)
    return _process(
        folder, "controller-manager", [str(found.controller_manager), *words], [f"https://127.0.0.1:{port}/healthz"]
    )


def _process(folder: Path, name: str, argv: list[str], ready: list[str]) -> dict[str, Any]:
    return {"name": name, "argv": argv, "log": str(folder / f"{name}.log"), "ready": ready}


def _write_files(settings: Settings, taken: runs.Claim, servers: Sequence[str]) -> None:
    issuer = authority.make(taken.name)
    administrator = certificates.administrator(issuer)
    serving = certificates.serving(issuer)
    tokens = certificates.service_account_keys()
    pki = taken.folder / "pki"
    pki.mkdir(mode=0o700)
    for name, content in {
        "ca.crt": issuer.pem,
        "serving.crt": serving.certificate,
        "serving.key": serving.key,
        "administrator.crt": administrator.certificate,
        "administrator.key": administrator.key,
        "service-account.pub": tokens.certificate,
        "service-account.key": tokens.key,
    }.items():
        authority.write_secret(pki / name, content)
    text = kubeconfig.format(taken.name, servers, issuer.pem, administrator)
    authority.write_secret(taken.folder / "kubeconfig", text.encode())
    if settings.kubeconfig:
        authority.write_secret(settings.kubeconfig, text.encode())
    (taken.folder / "audit-policy.yaml").write_text(arguments.AUDIT_POLICY)
