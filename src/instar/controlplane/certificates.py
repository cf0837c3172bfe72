"""The trust of one control plane: its own authority, one serving certificate, one administrator, one key for tokens.

All API servers of a control plane share them, or a token signed by one would be refused by the other. Keys never leave
the run's folder and die with it.
"""

from __future__ import annotations

import datetime
import ipaddress
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

__all__ = ["ADMINISTRATOR", "Authority", "Pair", "authority", "client", "service_account_keys", "serving", "write"]

ADMINISTRATOR = "instar-administrator"
_LIFETIME = datetime.timedelta(days=365)
_SKEW = datetime.timedelta(hours=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """A certificate (or a public key) and its private key, both PEM."""

    certificate: bytes
    key: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class Authority:
    """What signs the others."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)


def authority(name: str) -> Authority:
    """A new certificate authority that signs nothing but this control plane."""
    key = _key()
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    subject = _name(f"{name}-ca")
    built = (
        _builder(subject, subject, key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return Authority(certificate=built.sign(key, hashes.SHA256()), key=key)


def serving(issuer: Authority, addresses: Sequence[str] = (), names: Sequence[str] = ()) -> Pair:
    """The API servers' own certificate: loopback, the service's cluster names, and what is asked for."""
    hosts = ["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", *names]
    numbers = [ipaddress.ip_address(text) for text in ("127.0.0.1", "::1", *addresses)]
    subjects = x509.SubjectAlternativeName([*map(x509.DNSName, hosts), *map(x509.IPAddress, numbers)])
    return _leaf(issuer, _name("kube-apiserver"), ExtendedKeyUsageOID.SERVER_AUTH, subjects)


def client(issuer: Authority, user: str, groups: Sequence[str]) -> Pair:
    """A client certificate: Kubernetes reads the user from CN and the groups from O."""
    return _leaf(issuer, _name(user, groups), ExtendedKeyUsageOID.CLIENT_AUTH, None)


def service_account_keys() -> Pair:
    """What signs and checks service account tokens."""
    key = _key()
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return Pair(certificate=public, key=_private(key))


def write(path: Path, content: bytes) -> Path:
    """Write a file that nobody else may read, private from its first moment."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)
    return path


def _leaf(
    issuer: Authority, subject: x509.Name, usage: x509.ObjectIdentifier, subjects: x509.SubjectAlternativeName | None
) -> Pair:
    key = _key()
    builder = (
        _builder(subject, issuer.certificate.subject, key)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key()), critical=False)
    )
    if subjects is not None:
        builder = builder.add_extension(subjects, critical=False)
    signed = builder.sign(issuer.key, hashes.SHA256())
    return Pair(certificate=signed.public_bytes(serialization.Encoding.PEM), key=_private(key))


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + _LIFETIME)
    )


def _name(common: str, organisations: Sequence[str] = ()) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in organisations]
    return x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
