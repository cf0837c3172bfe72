"""Certificate files: proved before they serve, followed while they change; real handshakes, no clock turned."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from cryptography import x509

from instar import errors
from instar.kube import authority
from instar.serving import certificates

NAMES = ["127.0.0.1", "webhook.default.svc"]


@pytest.fixture(scope="module")
def ca() -> authority.Authority:
    return authority.make("test")


@pytest.fixture
def pair(tmp_path: Path, ca: authority.Authority) -> certificates.Pair:
    found = certificates.Pair(certificate=tmp_path / "tls.crt", key=tmp_path / "tls.key")
    write(found, ca.serving(NAMES))
    return found


def write(pair: certificates.Pair, issued: authority.Pair) -> None:
    pair.certificate.write_bytes(issued.certificate)
    pair.key.write_bytes(issued.key)


@contextlib.asynccontextmanager
async def serving(found: certificates.Certificates) -> AsyncIterator[int]:
    """A TLS listener that echoes a line."""

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            while line := await reader.readline():
                writer.write(line)
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0, ssl=found.context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def connect(
    port: int, ca: authority.Authority, *, name: str | None = "127.0.0.1", most: ssl.TLSVersion | None = None
):
    context = ssl.create_default_context(cadata=ca.pem.decode())
    if most is not None:
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = most
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name)
    leaf = x509.load_der_x509_certificate(writer.get_extra_info("ssl_object").getpeercert(binary_form=True))
    return reader, writer, leaf.serial_number


def serial(pair: certificates.Pair) -> int:
    return x509.load_pem_x509_certificate(pair.certificate.read_bytes()).serial_number


@pytest.mark.parametrize("name", NAMES)
async def test_new_connections_get_the_changed_certificate_and_open_ones_live_on(
    pair: certificates.Pair, ca: authority.Authority, name: str
) -> None:
    """With a server name and without one (an IP address): no connection is refused or dropped over a renewal."""
    found = certificates.Certificates(pair)
    async with serving(found) as port:
        reader, writer, first = await connect(port, ca, name=name)
        assert first == serial(pair)
        assert found.reload() is None
        write(pair, ca.serving(NAMES))
        assert found.reload() is True
        _, other, second = await connect(port, ca, name=name)
        assert second == serial(pair) != first
        writer.write(b"still here\n")
        assert await reader.readline() == b"still here\n"
        writer.close()
        other.close()


async def test_a_pair_that_does_not_match_is_never_served(pair: certificates.Pair, ca: authority.Authority) -> None:
    """Between the two writes of a renewal the files are no pair; the one before goes on, and the new one follows."""
    found = certificates.Certificates(pair)
    before, renewed = serial(pair), ca.serving(NAMES)
    async with serving(found) as port:
        pair.certificate.write_bytes(renewed.certificate)
        assert found.reload() is False
        assert found.reload() is None, "what does not hold is said once"
        _, writer, served = await connect(port, ca)
        assert served == before
        writer.close()
        pair.key.write_bytes(renewed.key)
        assert found.reload() is True
        _, writer, served = await connect(port, ca)
        assert served == serial(pair)
        writer.close()


@pytest.mark.parametrize("content", [b"", b"not PEM", None])
def test_files_that_go_bad_do_not_end_the_service(pair: certificates.Pair, content: bytes | None) -> None:
    found = certificates.Certificates(pair)
    expires, good = found.expires, pair.certificate.read_bytes()
    if content is None:
        pair.certificate.unlink()
    else:
        pair.certificate.write_bytes(content)
    assert found.reload() is False
    assert found.expires == expires
    pair.certificate.write_bytes(good)
    assert found.reload() is None


def test_an_expired_renewal_is_refused(pair: certificates.Pair, ca: authority.Authority) -> None:
    found = certificates.Certificates(pair)
    expires = found.expires
    write(pair, ca.serving(NAMES, valid=datetime.timedelta(hours=-1)))
    assert found.reload() is False
    assert found.expires == expires


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
async def test_nothing_older_than_tls_1_2(pair: certificates.Pair, ca: authority.Authority) -> None:
    async with serving(certificates.Certificates(pair)) as port:
        _, writer, _ = await connect(port, ca, most=ssl.TLSVersion.TLSv1_2)
        assert writer.get_extra_info("ssl_object").version() == "TLSv1.2"
        writer.close()
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await connect(port, ca, most=ssl.TLSVersion.TLSv1_1)


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
async def test_the_client_of_the_test_before_speaks_tls_1_1(pair: certificates.Pair, ca: authority.Authority) -> None:
    """So it is the server that refuses."""
    found = certificates.Certificates(pair)
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    old.minimum_version = ssl.TLSVersion.TLSv1_1
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.load_cert_chain(pair.certificate, pair.key)
    found.context = old
    async with serving(found) as port:
        _, writer, _ = await connect(port, ca, most=ssl.TLSVersion.TLSv1_1)
        assert writer.get_extra_info("ssl_object").version() == "TLSv1.1"
        writer.close()


def test_bad_files_at_start_are_named(pair: certificates.Pair, ca: authority.Authority) -> None:
    """One line each, with the file and the remedy."""
    good = pair.certificate.read_bytes()
    for content, words in (
        (None, f"{pair.certificate}: No such file or directory: give a PEM certificate with --tls-cert-file"),
        (b"x", "are no pair of certificate and private key in PEM form"),
        (ca.serving(NAMES).certificate, "are no pair of certificate and private key in PEM form"),
        (b"", "are no pair of certificate and private key in PEM form"),
    ):
        pair.certificate.unlink() if content is None else pair.certificate.write_bytes(content)
        with pytest.raises(errors.UsageError) as caught:
            certificates.Certificates(pair)
        assert words in caught.value.message
        pair.certificate.write_bytes(good)


def test_an_expired_certificate_at_start_is_named(pair: certificates.Pair, ca: authority.Authority) -> None:
    write(pair, ca.serving(NAMES, valid=datetime.timedelta(days=-2)))
    with pytest.raises(errors.UsageError, match=r"tls\.crt: the certificate ended 20.*; give a new one"):
        certificates.Certificates(pair)


def test_an_encrypted_key_does_not_ask_on_the_terminal(pair: certificates.Pair) -> None:
    from cryptography.hazmat.primitives import serialization

    key = serialization.load_pem_private_key(pair.key.read_bytes(), None)
    secret = serialization.BestAvailableEncryption(b"secret")
    pair.key.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, secret))
    with pytest.raises(errors.UsageError, match="the private key is encrypted"):
        certificates.Certificates(pair)
