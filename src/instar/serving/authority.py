"""A certificate authority of one's own: for a webhook of a test or a demo, whose CRD carries the authority's PEM.

The API server looks at the subject alternative names only: for ``clientConfig.url`` the host, an IP address as an IP.
Each authority has a subject of its own, so that two of them in one bundle cannot be taken for each other.
"""

from __future__ import annotations

import dataclasses
import datetime
import ipaddress
from collections.abc import Sequence

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509 import oid

__all__ = ["Authority", "Issued", "load", "make"]

BACKDATED = datetime.timedelta(minutes=5)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Issued:
    """A certificate and its private key, PEM."""

    certificate: bytes
    key: bytes


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Authority:
    """What signs; ``bundle`` is the PEM that a client is to trust."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def bundle(self) -> bytes:
        """The authority's certificate, PEM."""
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def encoded_key(self) -> bytes:
        """Its private key, PEM."""
        return _encode_key(self.key)

    def issue(self, names: Sequence[str], *, valid: datetime.timedelta = datetime.timedelta(days=7)) -> Issued:
        """A serving certificate for host names and IP addresses; a negative ``valid`` makes one that has ended."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _name(f"instar webhook {names[0]}")
        builder = (
            _builder(subject, self.certificate.subject, key, valid)
            .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
            .add_extension(x509.ExtendedKeyUsage([oid.ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
        )
        signed = builder.sign(self.key, hashes.SHA256())
        return Issued(certificate=signed.public_bytes(serialization.Encoding.PEM), key=_encode_key(key))


def make(*, valid: datetime.timedelta = datetime.timedelta(days=30)) -> Authority:
    """A new authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _name(f"instar authority {x509.random_serial_number():x}")
    usage = dict.fromkeys(_KEY_USAGES, False) | {"key_cert_sign": True, "crl_sign": True, "digital_signature": True}
    builder = (
        _builder(subject, subject, key, valid)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(**usage), critical=True)
    )
    return Authority(certificate=builder.sign(key, hashes.SHA256()), key=key)


def load(certificate: bytes, key: bytes) -> Authority:
    """One that was made before, from PEM."""
    loaded = serialization.load_pem_private_key(key, None)
    if not isinstance(loaded, ec.EllipticCurvePrivateKey):
        raise ValueError("not a key that was made here")
    return Authority(certificate=x509.load_pem_x509_certificate(certificate), key=loaded)


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


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(oid.NameOID.COMMON_NAME, common_name[:64])])


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _encode_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
