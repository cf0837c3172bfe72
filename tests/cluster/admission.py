"""A mutating admission webhook for tests: it sees creates at the version that it knows, whatever they were sent at.

Its rules name one version each and match equivalents, so the API server converts what comes at the other version to it
and back. What it changes is told beforehand, by the name of the object.
"""

from __future__ import annotations

import base64
import contextlib
import http.server
import json
import ssl
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.cluster import converter

from instar.controlplane import certificates
from instar.model import resource as resource_model
from instar.testing import edits, patches

CONFIGURATIONS = resource_model.Resource(
    group="admissionregistration.k8s.io",
    version="v1",
    plural="mutatingwebhookconfigurations",
    kind="MutatingWebhookConfiguration",
    namespaced=False,
)
MARK = "-admitted-"


def marked(name: str, version: str) -> str:
    """A name that the webhook of a version takes up."""
    return f"{name}{MARK}{version}"


class Mutator:
    """``changes``: by object name, what is edited. ``seen``: by object name, the apiVersion that came."""

    def __init__(self, port: int, ca: bytes) -> None:
        self.changes: dict[str, Sequence[edits.Edit]] = {}
        self.seen: dict[str, str] = {}
        self._client_config = {"url": f"https://127.0.0.1:{port}/", "caBundle": converter.text(ca)}

    def configuration(self, group: str, versions: Sequence[str]) -> dict[str, Any]:
        return {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": f"mutator.{group}"},
            "webhooks": [self._webhook(group, version) for version in versions],
        }

    def _webhook(self, group: str, version: str) -> dict[str, Any]:
        named = f"object.metadata.name.endsWith({MARK + version!r})"
        return {
            "name": f"{version}.mutator.example.com",
            "clientConfig": self._client_config,
            "rules": [{"apiGroups": [group], "apiVersions": [version], "operations": ["CREATE"], "resources": ["*"]}],
            "matchPolicy": "Equivalent",
            "matchConditions": [{"name": "marked", "expression": named}],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            "failurePolicy": "Fail",
        }

    def answer(self, review: dict[str, Any]) -> dict[str, Any]:
        request = review["request"]
        before = request["object"]
        name = before["metadata"]["name"]
        self.seen[name] = before["apiVersion"]
        patch = patches.json_patch(before, edits.apply_all(before, self.changes[name]))
        response = {
            "uid": request["uid"],
            "allowed": True,
            "patchType": "JSONPatch",
            "patch": base64.b64encode(json.dumps(patch).encode()).decode(),
        }
        return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


@contextlib.contextmanager
def serve() -> Iterator[Mutator]:
    """A mutator that listens on loopback until the end of the block."""
    authority = certificates.authority("mutator")
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
    mutator = Mutator(server.server_address[1], authority.pem)
    server.mutator = mutator  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield mutator
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = json.dumps(self.server.mutator.answer(json.loads(body))).encode()  # type: ignore[attr-defined]
        with contextlib.suppress(OSError):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a test has enough to say."""
