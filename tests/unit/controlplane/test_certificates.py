"""One control plane's trust."""

import ipaddress
import stat

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from instar.controlplane import certificates


def load(pair):
    return x509.load_pem_x509_certificate(pair.certificate)


def test_serving_certificate_covers_loopback_and_service_names():
    """A client that dials 127.0.0.1, ::1 or localhost must find the name it dialled."""
    issuer = certificates.authority("one")
    certificate = load(certificates.serving(issuer, addresses=["10.0.0.1"], names=["elsewhere"]))
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert {"localhost", "kubernetes.default.svc", "elsewhere"} <= set(names.get_values_for_type(x509.DNSName))
    numbers = set(names.get_values_for_type(x509.IPAddress))
    assert {ipaddress.ip_address(text) for text in ("127.0.0.1", "::1", "10.0.0.1")} == numbers
    certificate.verify_directly_issued_by(issuer.certificate)


def test_client_certificate_says_user_and_groups():
    """Kubernetes reads the user from CN and the groups from O."""
    issuer = certificates.authority("one")
    certificate = load(certificates.client(issuer, "jane", ["system:masters", "team"]))
    groups = [part.value for part in certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    assert groups == ["system:masters", "team"]
    assert certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value == "jane"
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.CLIENT_AUTH]


def test_authorities_of_two_control_planes_do_not_trust_each_other():
    """A kubeconfig of one control plane is worth nothing at another."""
    one, two = certificates.authority("one"), certificates.authority("two")
    assert one.certificate.public_key() != two.certificate.public_key()
    assert one.certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_key_files_are_private_from_the_start(tmp_path):
    """Nobody else on the machine may read an administrator's key."""
    path = certificates.write(tmp_path / "key", certificates.service_account_keys().key)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
