"""A conversion webhook for tests, in a thread: changes apiVersion only, may be told to refuse objects or be down."""

import contextlib
import http.server
import json
import ssl
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from instar.controlplane import certificates


class Converter:
    """``refuse`` names objects that cannot be converted, ``down`` closes every connection unanswered."""

    def __init__(self, port: int, ca: bytes) -> None:
        self.refuse: set[str] = set()
        self.down = False
        self.calls: list[tuple[str, str]] = []
        self.client_config = {"url": f"https://127.0.0.1:{port}/convert", "caBundle": text(ca)}

    def stanza(self) -> dict[str, Any]:
        """What stands under ``spec.conversion`` of the CRD."""
        webhook = {"clientConfig": self.client_config, "conversionReviewVersions": ["v1"]}
        return {"strategy": "Webhook", "webhook": webhook}

    def answer(self, review: dict[str, Any]) -> dict[str, Any]:
        request = review["request"]
        wanted, objects = request["desiredAPIVersion"], request["objects"]
        names = [entry["metadata"].get("name", "") for entry in objects]
        self.calls += [(name, wanted) for name in names]
        refused = [name for name in names if name in self.refuse]
        result = (
            {"status": "Failure", "message": f"{refused[0]}: spec.size: cannot be said at {wanted}"}
            if refused
            else {"status": "Success"}
        )
        converted = [] if refused else [{**entry, "apiVersion": wanted} for entry in objects]
        response = {"uid": request["uid"], "result": result, "convertedObjects": converted}
        return {"apiVersion": review["apiVersion"], "kind": "ConversionReview", "response": response}


def text(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode()


@contextlib.contextmanager
def serve() -> Iterator[Converter]:
    """A converter that listens on loopback until the end of the block."""
    authority = certificates.authority("converter")
    pair = certificates.serving(authority, ("127.0.0.1",), ("localhost",))
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = Path(folder) / "tls.crt", Path(folder) / "tls.key"
        certificate.write_bytes(pair.certificate)
        key.write_bytes(pair.key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.converter = Converter(server.server_address[1], authority.pem)  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.converter  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        converter: Converter = self.server.converter  # type: ignore[attr-defined]
        if converter.down:
            self.close_connection = True
            return
        answer = json.dumps(converter.answer(json.loads(body))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a test has enough to say."""
