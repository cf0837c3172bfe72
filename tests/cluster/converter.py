"""A conversion webhook for tests, in a thread: changes apiVersion only, may be told to refuse objects or be down."""

import base64
import contextlib
from collections.abc import Iterator
from typing import Any

from tests.cluster import https


class Converter:
    """``refuse`` names objects that cannot be converted, ``down`` closes every connection unanswered."""

    def __init__(self) -> None:
        self.refuse: set[str] = set()
        self.down = False
        self.calls: list[tuple[str, str]] = []
        self.client_config: dict[str, str] = {}

    def stanza(self) -> dict[str, Any]:
        """What stands under ``spec.conversion`` of the CRD."""
        webhook = {"clientConfig": self.client_config, "conversionReviewVersions": ["v1"]}
        return {"strategy": "Webhook", "webhook": webhook}

    def answer(self, review: dict[str, Any]) -> dict[str, Any] | None:
        if self.down:
            return None
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


@contextlib.contextmanager
def serve() -> Iterator[Converter]:
    """A converter that listens on loopback until the end of the block."""
    converter = Converter()
    with https.serve(converter.answer) as (url, ca):
        converter.client_config = {"url": f"{url}/convert", "caBundle": base64.b64encode(ca).decode()}
        yield converter
