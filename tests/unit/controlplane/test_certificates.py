"""One control plane's trust."""

import ipaddress

from cryptography import x509

from instar.controlplane import certificates
from instar.kube import authority


def test_serving_certificate_covers_loopback_and_service_names():
    """A client that dials 127.0.0.1, ::1 or localhost must find the name it dialled."""
    issuer = authority.make("one")
    certificate = x509.load_pem_x509_certificate(certificates.serving(issuer, ["10.0.0.1", "elsewhere"]).certificate)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert {"localhost", "kubernetes.default.svc", "elsewhere"} <= set(names.get_values_for_type(x509.DNSName))
    numbers = set(names.get_values_for_type(x509.IPAddress))
    assert {ipaddress.ip_address(text) for text in ("127.0.0.1", "::1", "10.0.0.1")} == numbers


def test_tokens_are_signed_by_a_key_of_their_own():
    """Two control planes refuse each other's tokens: each draws its own pair."""
    one, two = certificates.service_account_keys(), certificates.service_account_keys()
    assert one.certificate.startswith(b"-----BEGIN PUBLIC KEY-----")
    assert one.certificate != two.certificate
