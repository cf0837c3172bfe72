"""Real HTTP servers on this machine, certificates made on the spot, and kubeconfig files that point at them."""

from __future__ import annotations

import dataclasses
import datetime
import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)


@dataclasses.dataclass(frozen=True)
class Pair:
    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )


def certificate(
    name: str,
    issuer: Pair | None = None,
    *,
    end: datetime.datetime = NOW + DAY,
    addresses: tuple[str, ...] = ("127.0.0.1",),
) -> Pair:
    """A certificate signed by ``issuer``, or an authority of its own."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - 30 * DAY)
        .not_valid_after(end)
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
    )
    if issuer is not None:
        names = [x509.IPAddress(ipaddress.ip_address(address)) for address in addresses]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return Pair(builder.sign(issuer.key if issuer else key, hashes.SHA256()), key)


@pytest.fixture(scope="session")
def authority() -> Pair:
    return certificate("authority")


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[..., Awaitable[str]]


@pytest.fixture
async def serve(tmp_path: Path) -> AsyncIterator[Serve]:
    """Starts an HTTP(S) server that answers everything with one handler; its base URL."""
    runners: list[web.AppRunner] = []

    async def start(handler: Handler, pair: Pair | None = None, clients: Pair | None = None) -> str:
        application = web.Application(client_max_size=2**24)
        application.router.add_route("*", "/{path:.*}", handler)
        runner = web.AppRunner(application, access_log=None)
        runners.append(runner)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=_context(tmp_path, pair, clients))
        await site.start()
        scheme = "https" if pair else "http"
        return f"{scheme}://127.0.0.1:{runner.addresses[0][1]}"

    yield start
    for runner in runners:
        await runner.cleanup()


def _context(folder: Path, pair: Pair | None, clients: Pair | None) -> ssl.SSLContext | None:
    if pair is None:
        return None
    file = folder / "server.pem"
    file.write_bytes(pair.certificate_pem + pair.key_pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    if clients is not None:
        context.load_verify_locations(cadata=clients.certificate_pem.decode())
        context.verify_mode = ssl.CERT_REQUIRED
    return context
