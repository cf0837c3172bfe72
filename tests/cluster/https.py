"""What a webhook of a test has in common with every other: a TLS server in a thread that answers POSTs."""

import contextlib
import http.server
import json
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from instar.kube import authority

Answer = Callable[[dict[str, Any]], dict[str, Any] | None]
"""The JSON answer to a JSON body; None closes the connection unanswered."""


@contextlib.contextmanager
def serve(answer: Answer) -> Iterator[tuple[str, bytes]]:
    """A server on loopback until the end of the block: its URL, and the PEM to trust it by."""
    issuer = authority.make("test")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(answer))
    server.daemon_threads = True
    context = _context(issuer.serving(["127.0.0.1", "localhost"]))
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_address[1]}", issuer.pem
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _context(pair: authority.Pair) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = Path(folder) / "tls.crt", Path(folder) / "tls.key"
        certificate.write_bytes(pair.certificate)
        key.write_bytes(pair.key)
        context.load_cert_chain(certificate, key)
    return context


def _handler(answer: Answer) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            found = answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            if found is None:
                self.close_connection = True
                return
            body = json.dumps(found).encode()
            with contextlib.suppress(OSError):  # the API server may have given up meanwhile
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: a test has enough to say."""

    return Handler
