"""A mutating admission webhook for tests: it sees creates at the version that it knows, whatever they were sent at.

Its rules name one version each and match equivalents, so the API server converts what comes at the other version to it
and back. What it changes is told beforehand, by the name of the object.
"""

from __future__ import annotations

import base64
import contextlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from tests.cluster import https

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

    def __init__(self) -> None:
        self.changes: dict[str, Sequence[edits.Edit]] = {}
        self.seen: dict[str, str] = {}
        self.client_config: dict[str, str] = {}

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
            "clientConfig": self.client_config,
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
    mutator = Mutator()
    with https.serve(mutator.answer) as (url, ca):
        mutator.client_config = {"url": url, "caBundle": base64.b64encode(ca).decode()}
        yield mutator
