"""A validating admission webhook for tests: it holds a create back until it is told to let it go."""

import contextlib
import http.server
import json
import ssl
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.cluster import converter

from instar.controlplane import certificates
from instar.model import resource as resource_model

CONFIGURATIONS = resource_model.Resource(
    group="admissionregistration.k8s.io",
    version="v1",
    plural="validatingwebhookconfigurations",
    kind="ValidatingWebhookConfiguration",
    namespaced=False,
)


class Holder:
    """Objects with label ``hold`` wait for the event of that label's value."""

    def __init__(self, port: int, ca: bytes) -> None:
        self.releases: dict[str, threading.Event] = {}
        self.held: set[str] = set()
        self._client_config = {"url": f"https://127.0.0.1:{port}/", "caBundle": converter.text(ca)}

    def release(self, label: str) -> None:
        """Let go of all that wait for this label, now and later."""
        self.releases.setdefault(label, threading.Event()).set()

    def configuration(self, group: str) -> dict[str, Any]:
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": f"hold.{group}"},
            "webhooks": [
                {
                    "name": "hold.example.com",
                    "clientConfig": self._client_config,
                    "rules": [
                        {"apiGroups": [group], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["*"]}
                    ],
                    "objectSelector": {"matchExpressions": [{"key": "hold", "operator": "Exists"}]},
                    "sideEffects": "None",
                    "admissionReviewVersions": ["v1"],
                    "timeoutSeconds": 30,
                    "failurePolicy": "Fail",
                }
            ],
        }

    def answer(self, review: dict[str, Any]) -> dict[str, Any]:
        request = review["request"]
        label = request["object"]["metadata"]["labels"]["hold"]
        self.held.add(label)
        self.releases.setdefault(label, threading.Event()).wait(29)
        response = {"uid": request["uid"], "allowed": True}
        return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


@contextlib.contextmanager
def serve() -> Iterator[Holder]:
    """A holder that listens on loopback until the end of the block."""
    authority = certificates.authority("holder")
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
    holder = Holder(server.server_address[1], authority.pem)
    server.holder = holder  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield holder
    finally:
        for event in holder.releases.values():
            event.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = json.dumps(self.server.holder.answer(json.loads(body))).encode()  # type: ignore[attr-defined]
        with contextlib.suppress(OSError):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a test has enough to say."""
