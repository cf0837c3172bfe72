"""The API server's own checks of a webhook's answer, in its order and its words, written from the numbered contract.

An oracle of the tests: it knows nothing of how the answer was made. `accept` gives the objects that the API server
would go on with, or raises Refused with the text that its user would read.
"""

from __future__ import annotations

import json
from typing import Any


class Refused(Exception):
    """What the user of the API server reads after ``conversion webhook for ... failed:``."""


def accept(sent: bytes, code: int, content_type: str, body: bytes) -> list[dict[str, Any]]:
    """P1 to P16 of the contract."""
    request = json.loads(sent.decode(errors="replace"))
    expect(200 <= code <= 206, f"the server answered {code}")
    expect("/" in content_type, "no media type")
    expect(body != b"", f"0-length response with status code: {code} and content type: {content_type}")
    review = json.loads(body, parse_constant=refuse_constant)
    expect(review.get("kind") == "ConversionReview", f"no kind {review.get('kind')!r} is registered")
    expect(review.get("apiVersion") == request["apiVersion"], "unknown conversion")
    response = review.get("response")
    expect(isinstance(response, dict), "no response provided")
    wanted, found = request["request"]["uid"], response.get("uid")
    expect(found == wanted, f'expected response.uid="{wanted}", got "{found}"')
    result = response.get("result") or {}
    status = result.get("status")
    expect(status == "Success", result.get("message") or f"response.result.status was '{status}', not 'Success'")
    return accept_objects(request["request"], response.get("convertedObjects"))


def accept_objects(request: dict[str, Any], converted: Any) -> list[dict[str, Any]]:
    sent = request.get("objects") or []
    expect(len(converted or []) == len(sent), f"returned {len(converted or [])} objects, expected {len(sent)}")
    return [accept_object(a, b, request["desiredAPIVersion"]) for a, b in zip(sent, converted or [], strict=True)]


def accept_object(sent: dict[str, Any], found: Any, desired: str) -> dict[str, Any]:
    expect(isinstance(found, dict), "unexpected end of JSON input")
    expect(found.get("apiVersion") == desired, f"invalid groupVersion (expected {desired})")
    expect(found.get("kind") == sent["kind"], "invalid kind")
    before, after = sent.get("metadata", {}), found.get("metadata")
    expect(isinstance(after, dict), "invalid metadata in converted object")
    for key in ("name", "namespace", "uid"):
        expect(before.get(key) == after.get(key), f"must have the same {key}: {before.get(key)} != {after.get(key)}")
    kept = {key: value for key, value in before.items() if key not in ("labels", "annotations")}
    for key in ("labels", "annotations"):
        if after.get(key) is not None:
            for name, value in after[key].items():
                expect(isinstance(value, str), f"metadata.{key}[{name}] must be a string")
            kept[key] = after[key]
    size = sum(len(name.encode()) + len(value.encode()) for name, value in kept.get("annotations", {}).items())
    expect(size <= 262144, "metadata.annotation: Too long: may not be more than 262144 bytes")
    return {**found, "metadata": kept}


def expect(held: bool, words: str) -> None:
    if not held:
        raise Refused(words)


def refuse_constant(token: str) -> None:
    raise Refused(f"json parse error: invalid character {token[0]!r}")
