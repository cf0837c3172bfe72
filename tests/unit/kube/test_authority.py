"""Certificates of our own, as those who read them do."""

import datetime
import stat
from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from instar.kube import authority


def load(pair: authority.Pair) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pair.certificate)


def test_client_certificate_says_user_and_groups() -> None:
    """Kubernetes reads the user from CN and the groups from O."""
    certificate = load(authority.make("one").client("jane", ["system:masters", "team"]))
    groups = [part.value for part in certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    assert groups == ["system:masters", "team"]
    assert certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value == "jane"
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.CLIENT_AUTH]


def test_two_authorities_are_told_apart() -> None:
    """A bundle of two authorities of one name lets Go pick the wrong one; and neither trusts what the other signed."""
    one, two = authority.make("one"), authority.make("one")
    assert one.certificate.subject != two.certificate.subject
    assert one.certificate.public_key() != two.certificate.public_key()
    assert one.certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    load(one.serving(["localhost"])).verify_directly_issued_by(one.certificate)


def test_an_authority_loaded_again_signs_as_before() -> None:
    """What it issues later is trusted by who trusts it already, and ends no later than itself."""
    made = authority.make("one", valid=datetime.timedelta(days=2))
    again = authority.load(made.pem, made.key_pem)
    issued = load(again.serving(["127.0.0.1"]))
    issued.verify_directly_issued_by(made.certificate)
    assert issued.not_valid_after_utc <= made.certificate.not_valid_after_utc + datetime.timedelta(seconds=1)


def test_key_files_are_private_from_the_start(tmp_path: Path) -> None:
    """Nobody else on the machine may read an administrator's key."""
    path = authority.write_secret(tmp_path / "key", authority.make("one").key_pem)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
