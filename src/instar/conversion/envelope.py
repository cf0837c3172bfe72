"""A ConversionReview as bytes: what an API server sends, and the only two things it may be sent back.

The objects inside stay the bytes they came as; only the envelope around them is read here. Two rules shape it. The API
server compares ``response.uid`` before it looks at the result, so a failure without the uid loses its message: the uid
is looked for even in a body that is no JSON. And it shows a user nothing but ``result.message`` of an answer with HTTP
200, so whatever is wrong becomes such a message.

Read as Go reads: unknown keys are skipped, the last duplicate wins, null and absent are the same for a plain field.
Source: https://kubernetes.io/docs/reference/config-api/apiextensions.v1/#apiextensions-k8s-io-v1-ConversionReview
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from instar import errors
from instar.model import gojson

__all__ = ["Request", "Unreadable", "api_version", "failure", "find_uid", "read", "success"]

GROUP = "apiextensions.k8s.io"
API_VERSIONS = (f"{GROUP}/v1", f"{GROUP}/v1beta1")
KIND = "ConversionReview"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A review that can be answered; ``objects`` are JSON values as they came, in order."""

    api_version: str
    uid: str
    desired: str
    objects: tuple[bytes, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Unreadable:
    """A body that is no answerable review; ``uid`` is None where none could be found."""

    api_version: str
    uid: str | None
    message: str


class _Request(msgspec.Struct):
    uid: str | None = None
    desiredAPIVersion: str | None = None
    objects: list[msgspec.Raw] | None = None


class _Review(msgspec.Struct):
    apiVersion: str | None = None
    kind: str | None = None
    request: _Request | None = None


class _Uid(msgspec.Struct):
    uid: str | None = None


class _ReviewUid(msgspec.Struct):
    request: _Uid | None = None


class _ReviewVersion(msgspec.Struct):
    apiVersion: str | None = None


_REVIEW = msgspec.json.Decoder(_Review)
_REVIEW_UID = msgspec.json.Decoder(_ReviewUid)
_REVIEW_VERSION = msgspec.json.Decoder(_ReviewVersion)

# A string member of an object, without escapes in its key; then the same with the key "uid".
_STRING = rb'"(?:[^"\\\x00-\x1f]|\\.)*"'
_UID_OF_BROKEN = re.compile(
    rb'"request"\s*:\s*\{\s*(?:"[^"\\]*"\s*:\s*' + _STRING + rb'\s*,\s*)*?"uid"\s*:\s*(' + _STRING + rb")", re.DOTALL
)
_VERSION_OF_BROKEN = re.compile(rb'"apiVersion"\s*:\s*"(apiextensions\.k8s\.io/v1(?:beta1)?)"')


def read(body: bytes) -> Request | Unreadable:
    """The review in a body, or what is wrong with it; never raises."""
    try:
        return _check(_REVIEW.decode(body))
    except msgspec.ValidationError as error:
        return Unreadable(api_version=api_version(body), uid=find_uid(body), message=f"{_UNREADABLE}: {error}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _read_as_go(body, error)


_UNREADABLE = "the ConversionReview cannot be read"


def _read_as_go(body: bytes, first: Exception) -> Request | Unreadable:
    """Go replaces what is no Unicode where the fast decoder refuses it; only a body that both refuse is unreadable."""
    try:
        return _check(_REVIEW.decode(gojson.encode(gojson.decode(body))))
    except (errors.JsonError, msgspec.MsgspecError, RecursionError):
        message = "nested too deeply" if isinstance(first, RecursionError) else str(first)
    return Unreadable(
        api_version=api_version(body), uid=find_uid(body), message=f"{_UNREADABLE} ({len(body)} bytes): {message}"
    )


def _check(review: _Review) -> Request | Unreadable:
    version = review.apiVersion or ""
    if review.request is None:
        return Unreadable(api_version=_known(version), uid=None, message=f"{_UNREADABLE}: it has no request")
    uid = review.request.uid or ""
    if version not in API_VERSIONS or review.kind != KIND:
        message = f"{_UNREADABLE}: expected {KIND} of {' or '.join(API_VERSIONS)}, got {review.kind!r} of {version!r}"
        return Unreadable(api_version=_known(version), uid=uid, message=message)
    return Request(
        api_version=version,
        uid=uid,
        desired=review.request.desiredAPIVersion or "",
        objects=tuple(map(bytes, review.request.objects or ())),
    )


def _known(version: str) -> str:
    return version if version in API_VERSIONS else API_VERSIONS[0]


def api_version(body: bytes) -> str:
    """The version to answer an unreadable review in: its own, as far as it can be found."""
    try:
        return _known(_REVIEW_VERSION.decode(body).apiVersion or "")
    except (ValueError, RecursionError):
        found = _VERSION_OF_BROKEN.search(body)
        return found[1].decode() if found else API_VERSIONS[0]


def find_uid(body: bytes) -> str | None:
    """``request.uid`` of a review, or of what is left of one: wrong types elsewhere, cut off, or no JSON at all."""
    try:
        review = _REVIEW_UID.decode(body)
        return (review.request.uid or "") if review.request else None
    except (ValueError, RecursionError):
        found = _UID_OF_BROKEN.search(body)
    try:
        return str(msgspec.json.decode(found[1], type=str)) if found else None
    except (ValueError, RecursionError):
        return None


def success(request: Request, objects: Sequence[bytes]) -> bytes:
    """The answer that carries every object, in the order of the request."""
    converted = [msgspec.Raw(encoded) for encoded in objects]
    return _encode(
        request.api_version,
        {"uid": request.uid, "result": {"status": "Success"}, "convertedObjects": converted},
    )


def failure(version: str, uid: str, message: str) -> bytes:
    """The answer whose message reaches the user; ``version`` is the apiVersion of the review that is answered."""
    return _encode(
        _known(version),
        {"uid": uid, "result": {"status": "Failed", "message": message}, "convertedObjects": []},
    )


def _encode(version: str, response: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"apiVersion": version, "kind": KIND, "response": response})
