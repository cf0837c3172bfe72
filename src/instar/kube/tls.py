"""Whom to trust, and the certificate to show: an SSLContext from PEM bytes.

OpenSSL reads a certificate and key from files only. Keys that a kubeconfig carries as data therefore pass through an
anonymous file in memory where the system has one, and else through a file of mode 0600 that is gone before the first
connection is made: a run that is killed leaves no key behind.
"""

from __future__ import annotations

import datetime
import os
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from instar import errors
from instar.kube import kubeconfig

__all__ = ["context", "expired"]


def context(config: kubeconfig.Config, certificate: bytes = b"", key: bytes = b"") -> ssl.SSLContext:
    """How to make TLS connections for this config; ``certificate`` and ``key`` are those of an exec plugin.

    Raises KubeconfigError for PEM that cannot be used.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.hostname_checks_common_name = False
    _trust(made, config)
    certificate, key = certificate or config.client_certificate, key or config.client_key
    if certificate:
        _identify(made, certificate, key, f"kubeconfig {config.source}: user {config.user!r}")
    return made


def _trust(made: ssl.SSLContext, config: kubeconfig.Config) -> None:
    if config.insecure:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    elif config.certificate_authority:
        try:
            made.load_verify_locations(cadata=config.certificate_authority.decode("ascii", "replace"))
        except (ssl.SSLError, ValueError) as error:
            raise errors.KubeconfigError(
                f"kubeconfig {config.source}: context {config.context!r}: certificate-authority is not a certificate "
                f"in PEM form"
            ) from error
    else:
        made.load_default_certs()


def _identify(made: ssl.SSLContext, certificate: bytes, key: bytes, where: str) -> None:
    with _file(certificate + b"\n" + key + b"\n") as name:
        try:
            made.load_cert_chain(name, password="")
        except (ssl.SSLError, OSError, ValueError) as error:
            raise errors.KubeconfigError(
                f"{where}: client-certificate and client-key cannot be used ({_reason(error)}): they must be PEM, "
                f"belong together, and the key must have no passphrase"
            ) from error


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None) or error).replace("_", " ").lower()


@contextmanager
def _file(content: bytes) -> Iterator[str]:
    if hasattr(os, "memfd_create"):
        descriptor, name = os.memfd_create("instar"), ""
    else:
        descriptor, name = tempfile.mkstemp(prefix="instar-")
    try:
        os.write(descriptor, content)
        yield name or f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
        if name:
            os.unlink(name)


def expired(certificate: bytes, now: datetime.datetime) -> str:
    """When the certificate ran out, as ``2026-11-30 12:00 UTC``, or empty if it has not."""
    from cryptography import x509

    try:
        end = x509.load_pem_x509_certificate(certificate).not_valid_after_utc
    except ValueError:
        return ""
    return end.strftime("%Y-%m-%d %H:%M UTC") if end < now else ""
