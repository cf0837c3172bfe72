"""The least conversion there is, for tests of what is around it."""

from __future__ import annotations

import json
from typing import Any

from instar import errors

GROUP = "platform.acme.io"
REVIEW = "apiextensions.k8s.io/v1"


class Relabelling:
    """Changes nothing but the version; `spec.fail` makes it fail."""

    versions = ("v1", "v1alpha1")

    def convert(self, obj: dict[str, Any], to: str) -> dict[str, Any]:
        if "fail" in obj.get("spec", {}):
            raise errors.ConversionError(f"spec.fail: {obj['spec']['fail']!r}: told to fail", path="/spec/fail")
        return {**obj, "apiVersion": f"{GROUP}/{to}"}


BOUNDS = {(GROUP, "Tenant"): Relabelling()}


def body(uid: str = "7f3", *, count: int = 1, **spec: Any) -> bytes:
    """A ConversionReview from v1alpha1 to v1."""
    metadata = {"name": "acme", "namespace": "default", "uid": "u"}
    tenant = {"apiVersion": f"{GROUP}/v1alpha1", "kind": "Tenant", "metadata": metadata, "spec": spec}
    request = {"uid": uid, "desiredAPIVersion": f"{GROUP}/v1", "objects": [tenant] * count}
    return json.dumps({"apiVersion": REVIEW, "kind": "ConversionReview", "request": request}).encode()


def response(answer: bytes) -> dict[str, Any]:
    """The response of an answered review."""
    found: dict[str, Any] = json.loads(answer)["response"]
    return found
