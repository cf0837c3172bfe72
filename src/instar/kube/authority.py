"""A certificate authority of one's own: what a disposable control plane trusts, and what a webhook's caBundle carries.

The rules are those of whoever reads the certificates. An API server that dials a host looks at the subject alternative
names only, an IP address as an IP. An API server that is dialled reads the user of a client certificate from CN and the
groups from O. Each authority has a subject of its own, so that two in one bundle cannot be taken for each other.
Source: https://kubernetes.io/docs/setup/best-practices/certificates/
"""

from __future__ import annotations

import dataclasses
import datetime
import ipaddress
import os
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509 import oid

__all__ = ["Authority", "Pair", "encode_key", "load", "make", "new_key", "write_secret"]

BACKDATED = datetime.timedelta(hours=1)
"""Clocks of two machines differ: what is issued is valid from a little while ago."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """A certificate (or a public key) and its private key, both PEM."""

    certificate: bytes
    key: bytes


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Authority:
    """What signs; ``valid`` is how long what it issues is valid unless something else is asked for."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey
    valid: datetime.timedelta

    @property
    def pem(self) -> bytes:
        """The authority's certificate, for who is to trust it."""
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        """Its private key."""
        return encode_key(self.key)

    def serving(self, names: Sequence[str], *, common: str = "", valid: datetime.timedelta | None = None) -> Pair:
        """A server's certificate for host names and IP addresses; a negative ``valid`` makes one that has ended."""
        alternative = x509.SubjectAlternativeName([_general_name(name) for name in names])
        return self._leaf(_name(common or names[0]), oid.ExtendedKeyUsageOID.SERVER_AUTH, valid, alternative)

    def client(self, user: str, groups: Sequence[str] = (), *, valid: datetime.timedelta | None = None) -> Pair:
        """A client's certificate, which says who it is to an API server."""
        return self._leaf(_name(user, groups), oid.ExtendedKeyUsageOID.CLIENT_AUTH, valid, None)

    def _leaf(
        self,
        subject: x509.Name,
        usage: x509.ObjectIdentifier,
        valid: datetime.timedelta | None,
        alternative: x509.SubjectAlternativeName | None,
    ) -> Pair:
        key = new_key()
        builder = (
            _builder(subject, self.certificate.subject, key, self.valid if valid is None else valid)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
        )
        if alternative is not None:
            builder = builder.add_extension(alternative, critical=False)
        signed = builder.sign(self.key, hashes.SHA256())
        return Pair(certificate=signed.public_bytes(serialization.Encoding.PEM), key=encode_key(key))


def make(name: str, *, valid: datetime.timedelta = datetime.timedelta(days=365)) -> Authority:
    """A new authority; it and what it issues are valid that long."""
    key = new_key()
    subject = _name(f"{name}-ca {x509.random_serial_number():x}")
    usage = dict.fromkeys(_KEY_USAGES, False) | {"key_cert_sign": True, "crl_sign": True, "digital_signature": True}
    builder = (
        _builder(subject, subject, key, valid)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(**usage), critical=True)
    )
    return Authority(certificate=builder.sign(key, hashes.SHA256()), key=key, valid=valid)


def load(certificate: bytes, key: bytes) -> Authority:
    """One that was made before, from PEM; what it issues is valid no longer than itself."""
    loaded = serialization.load_pem_private_key(key, None)
    if not isinstance(loaded, ec.EllipticCurvePrivateKey):
        raise ValueError("not a key that was made here")
    authority = x509.load_pem_x509_certificate(certificate)
    left = authority.not_valid_after_utc - datetime.datetime.now(datetime.UTC)
    return Authority(certificate=authority, key=loaded, valid=left)


def new_key() -> ec.EllipticCurvePrivateKey:
    """A private key."""
    return ec.generate_private_key(ec.SECP256R1())


def encode_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    """A private key as PEM, without a passphrase."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def write_secret(path: Path, content: bytes) -> Path:
    """Write a file that nobody else may read, private from its first moment."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    return path


_KEY_USAGES = (
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, valid: datetime.timedelta
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(now, now + valid) - BACKDATED)
        .not_valid_after(now + valid)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _name(common: str, organisations: Sequence[str] = ()) -> x509.Name:
    groups = [x509.NameAttribute(oid.NameOID.ORGANIZATION_NAME, group) for group in organisations]
    return x509.Name([*groups, x509.NameAttribute(oid.NameOID.COMMON_NAME, common[:64])])


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
