"""The trust of one control plane: its own authority, one serving certificate, one administrator, one key for tokens.

All API servers of a control plane share them, or a token signed by one would be refused by the other. Keys never leave
the run's folder and die with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from cryptography.hazmat.primitives import serialization

from instar.kube import authority

__all__ = ["ADMINISTRATOR", "administrator", "service_account_keys", "serving"]

ADMINISTRATOR = "instar-administrator"
LOOPBACK = ("127.0.0.1", "::1")
NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


def serving(issuer: authority.Authority, names: Sequence[str] = ()) -> authority.Pair:
    """The API servers' own certificate: loopback, the service's cluster names, and what is asked for."""
    return issuer.serving([*LOOPBACK, *NAMES, *names], common="kube-apiserver")


def administrator(issuer: authority.Authority) -> authority.Pair:
    """Who may do everything."""
    return issuer.client(ADMINISTRATOR, ["system:masters"])


def service_account_keys() -> authority.Pair:
    """What signs and checks service account tokens."""
    key = authority.new_key()
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return authority.Pair(certificate=public, key=authority.encode_key(key))
