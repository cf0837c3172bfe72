"""What each program is told: pure text, so that a test can hold every word of it.

A flag of the user's replaces ours of the same name: list flags of kube-apiserver would otherwise add up
(``--authorization-mode=RBAC`` and ``=AlwaysAllow`` mean both). Admission and the watch cache stay as Kubernetes ships
them, since tests of a version change are about exactly those.
Source: https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from instar import errors

__all__ = ["AUDIT_POLICY", "apiserver", "check", "controller_manager", "etcd", "feature_gates", "merge"]

AUDIT_POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
"""

_LOOPBACK = "127.0.0.1"


def etcd(folder: Path, port: int) -> list[str]:
    """Flags of etcd: plain HTTP on loopback so that its JSON gateway answers; no fsync, as nothing outlives a run."""
    return merge(
        {
            "name": "instar",
            "data-dir": str(folder / "etcd"),
            "listen-client-urls": f"http://{_LOOPBACK}:{port}",
            "advertise-client-urls": f"http://{_LOOPBACK}:{port}",
            # Nobody dials the peer address of a single member: port 0 cannot collide.
            "listen-peer-urls": f"http://{_LOOPBACK}:0",
            "initial-advertise-peer-urls": f"http://{_LOOPBACK}:0",
            "initial-cluster": f"instar=http://{_LOOPBACK}:0",
            "unsafe-no-fsync": "true",
            "quota-backend-bytes": str(8 * 2**30),
            "log-level": "warn",
        },
        (),
    )


def apiserver(
    folder: Path,
    *,
    index: int,
    port: int,
    etcd_url: str,
    gates: Sequence[str] = (),
    audit: bool = False,
    flags: Sequence[str] = (),
) -> list[str]:
    """Flags of API server number ``index``; ``flags`` are the user's and win."""
    pki = folder / "pki"
    ours = {
        "etcd-servers": etcd_url,
        "bind-address": _LOOPBACK,
        "advertise-address": _LOOPBACK,
        "secure-port": str(port),
        # Endpoints may not hold a loopback address: the reconciler would only fill the log.
        "endpoint-reconciler-type": "none",
        "service-cluster-ip-range": "10.0.0.0/24",
        "cert-dir": str(folder / f"apiserver-{index}"),
        "tls-cert-file": str(pki / "serving.crt"),
        "tls-private-key-file": str(pki / "serving.key"),
        "client-ca-file": str(pki / "ca.crt"),
        "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
        "service-account-key-file": str(pki / "service-account.pub"),
        "service-account-signing-key-file": str(pki / "service-account.key"),
        "authorization-mode": "RBAC",
        "allow-privileged": "true",
        **_gates(gates),
    }
    if audit:
        ours["audit-policy-file"] = str(folder / "audit-policy.yaml")
        ours["audit-log-path"] = str(folder / f"audit-{index}.log")
    return merge(ours, flags)


def controller_manager(folder: Path, *, port: int, gates: Sequence[str] = ()) -> list[str]:
    """Flags of kube-controller-manager; there is one, so it elects nobody."""
    pki = folder / "pki"
    return merge(
        {
            "kubeconfig": str(folder / "kubeconfig"),
            "bind-address": _LOOPBACK,
            "secure-port": str(port),
            "cert-dir": str(folder / "controller-manager"),
            "tls-cert-file": str(pki / "serving.crt"),
            "tls-private-key-file": str(pki / "serving.key"),
            "root-ca-file": str(pki / "ca.crt"),
            "service-account-private-key-file": str(pki / "service-account.key"),
            "use-service-account-credentials": "true",
            "leader-elect": "false",
            **_gates(gates),
        },
        (),
    )


def merge(ours: Mapping[str, str], theirs: Iterable[str]) -> list[str]:
    """Our flags as words, less those that ``theirs`` say too, then theirs as they came."""
    words = list(theirs)
    said = {word.removeprefix("--").partition("=")[0] for word in words if word.startswith("--")}
    return [f"--{name}={value}" for name, value in ours.items() if name not in said] + words


def check(flags: Iterable[str]) -> None:
    """Refuse words that are no flag, and those that this module must own; raises UsageError."""
    for word in flags:
        name = word.removeprefix("--").partition("=")[0]
        if not word.startswith("--") or not name:
            raise errors.UsageError(f"API server flag {word!r} is not of the form --name=value")
        if name in {"secure-port", "etcd-servers", "bind-address"}:
            raise errors.UsageError(
                f"API server flag --{name} is chosen by instar, since a control plane stays on loopback: leave it out"
            )


def feature_gates(text: str) -> tuple[str, ...]:
    """``A=true,B=false`` as a tuple; raises UsageError for anything else."""
    gates = tuple(part.strip() for part in text.split(",") if part.strip())
    for gate in gates:
        name, _, value = gate.partition("=")
        if not name or value.lower() not in {"true", "false"}:
            raise errors.UsageError(f"feature gate {gate!r} is not of the form Name=true or Name=false")
    return gates


def _gates(gates: Sequence[str]) -> dict[str, str]:
    return {"feature-gates": ",".join(gates)} if gates else {}
