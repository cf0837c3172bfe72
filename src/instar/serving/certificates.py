"""The serving certificate: read from files, proved before it is used, and replaced while connections are open.

A pair that does not match, loaded into a context that serves, breaks every new connection (measured). So each pair gets
a context of its own, which is made and thrown away if it does not hold; only then do new handshakes get it, through the
server-name callback, which OpenSSL calls for each of them. Open connections keep the certificate that they began with.
Files are compared by content: a Secret's volume changes by a symbolic link, whose times say little.
"""

from __future__ import annotations

import dataclasses
import datetime
import logging
import ssl
from pathlib import Path

from cryptography import x509

from instar import errors

__all__ = ["Certificates", "Pair"]

log = logging.getLogger("instar.serving")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Where a certificate chain and its private key are, both PEM."""

    certificate: Path
    key: Path

    def read(self) -> bytes:
        """Both files' bytes, to see whether they changed."""
        return self.certificate.read_bytes() + b"\0" + self.key.read_bytes()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Proved:
    content: bytes
    context: ssl.SSLContext
    expires: datetime.datetime


class Certificates:
    """A TLS context whose certificate follows its files; ``context`` is what a listener is given."""

    def __init__(self, pair: Pair) -> None:
        """Raises UsageError if the pair cannot be served."""
        self._pair = pair
        self._current = _prove(pair)
        self._refused = b""
        self.context = _context(pair)
        self.context.sni_callback = self._choose

    @property
    def expires(self) -> datetime.datetime:
        """When the certificate that new connections get ends."""
        return self._current.expires

    def _choose(self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        connection.context = self._current.context

    def reload(self) -> bool | None:
        """Take over changed files: True if they are served now, False if they do not hold, None if nothing changed.

        What does not hold is said once; the certificate before it stays, and the files are looked at again next time.
        """
        try:
            content = self._pair.read()
        except OSError as error:
            return self._refuse(str(error).encode(), f"{error.filename}: {error.strerror}")
        if content == self._current.content:
            self._refused = b""
            return None
        try:
            self._current = _prove(self._pair)
        except errors.UsageError as error:
            return self._refuse(content, error.message)
        log.info("certificate reloaded", extra={"fields": {"expires": self._current.expires.isoformat()}})
        return True

    def _refuse(self, content: bytes, message: str) -> bool | None:
        if content == self._refused:
            return None
        self._refused = content
        log.error("certificate not reloaded; the one before it stays", extra={"fields": {"problem": message}})
        return False


def _prove(pair: Pair) -> _Proved:
    """The pair in a context of its own; read again until the files did not change meanwhile."""
    for _ in range(5):
        content = _read(pair)
        proved = _Proved(content=content, context=_context(pair), expires=_expiry(pair))
        if _read(pair) == content:
            return proved
    raise errors.UsageError(f"{pair.certificate} and {pair.key} change faster than they can be read")


def _read(pair: Pair) -> bytes:
    try:
        return pair.read()
    except OSError as error:
        raise errors.UsageError(
            f"{error.filename}: {error.strerror}: give a PEM certificate with --tls-cert-file and its key with "
            "--tls-private-key-file"
        ) from error


def _context(pair: Pair) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(pair.certificate, pair.key, password=_no_password)
    except (ssl.SSLError, OSError, ValueError) as error:
        why = getattr(error, "reason", None) or str(error)
        raise errors.UsageError(
            f"{pair.certificate} and {pair.key} are no pair of certificate and private key in PEM form: {why}"
        ) from error
    return context


def _no_password() -> str:
    raise ValueError("the private key is encrypted; give one without a password")


def _expiry(pair: Pair) -> datetime.datetime:
    try:
        leaf = x509.load_pem_x509_certificate(pair.certificate.read_bytes())
    except (ValueError, OSError) as error:
        raise errors.UsageError(f"{pair.certificate}: no certificate in PEM form: {error}") from error
    expires = leaf.not_valid_after_utc
    if expires <= datetime.datetime.now(datetime.UTC):
        raise errors.UsageError(f"{pair.certificate}: the certificate ended {expires.isoformat()}; give a new one")
    return expires
