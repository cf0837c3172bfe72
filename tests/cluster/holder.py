"""A validating admission webhook for tests: it holds a create back until it is told to let it go."""

import base64
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from tests.cluster import https

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

    def __init__(self) -> None:
        self.releases: dict[str, threading.Event] = {}
        self.held: set[str] = set()
        self.client_config: dict[str, str] = {}

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
                    "clientConfig": self.client_config,
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
    holder = Holder()
    with https.serve(holder.answer) as (url, ca):
        holder.client_config = {"url": url, "caBundle": base64.b64encode(ca).decode()}
        try:
            yield holder
        finally:
            for event in holder.releases.values():
                event.set()
