"""One object around its conversion: taken apart without decoding what nobody reads, checked, and put together again.

The API server takes nothing but labels and annotations from the metadata of an answer, and checks that apiVersion is
the wanted one and that kind, name, namespace and uid are what it sent. So every other member of metadata goes back as
the bytes it came as; ``managedFields``, often half of the object, is not decoded, and only that there are some is known
(to the framework: converters do not see it). What the API server would refuse in words that name nobody is refused here
in words that its author can act on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import msgspec

from instar import errors
from instar.conversion import hop
from instar.model import gojson

__all__ = ["Split", "carried_bytes", "check", "join", "split", "written"]

CHANGEABLE = ("labels", "annotations")
IDENTITY = ("name", "namespace", "uid")

_UNREAD = msgspec.Raw(b'[{"unread":true}]')
_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """One object of a request: ``whole`` decoded but for what is in managedFields, ``metadata`` as bytes by member.

    ``identity`` holds what must come back unchanged; it is its own copy, for converters may change ``whole``.
    """

    api_version: str
    kind: str
    whole: dict[str, Any]
    metadata: Mapping[str, msgspec.Raw]
    identity: Mapping[str, Any]


def split(raw: bytes | msgspec.Raw) -> Split:
    """An object taken apart; a missing or null metadata is an empty one. ConversionError where it is no object."""
    try:
        members = _members(raw)
        metadata = _members(members["metadata"]) if _is_set(members.get("metadata")) else {}
        seen = {key: _UNREAD if _unread(key, value) else value for key, value in metadata.items()}
        members.pop("metadata", None)
        whole = gojson.decode_unsettled(msgspec.json.encode(members))
        whole["metadata"] = gojson.decode(msgspec.json.encode(seen))
    except (msgspec.MsgspecError, errors.JsonError, UnicodeError, RecursionError) as error:
        raise errors.ConversionError(f"is no readable object: {error}", reason="Unreadable") from error
    for key in ("apiVersion", "kind"):
        if not isinstance(whole.get(key), str):
            raise errors.ConversionError(
                f"is no object of an API: {key} is {whole.get(key)!r:.60}", reason="Unreadable"
            )
    return Split(
        api_version=whole["apiVersion"],
        kind=whole["kind"],
        whole=whole,
        metadata=metadata,
        identity={key: whole["metadata"].get(key) for key in IDENTITY},
    )


def _unread(key: str, value: msgspec.Raw) -> bool:
    """Whether it is managedFields that say something: calculations of server-side apply have none, or ``[{}]``."""
    return key == "managedFields" and bool(bytes(value).strip(b"[]{}, \t\r\nnul"))


def _is_set(raw: msgspec.Raw | None) -> bool:
    return raw is not None and bytes(raw) != b"null"


def _members(raw: bytes | msgspec.Raw) -> dict[str, msgspec.Raw]:
    """The members of an object as bytes; what is no Unicode is replaced first, as Go does."""
    try:
        return _MEMBERS.decode(raw)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeError):
        return _MEMBERS.decode(gojson.encode(gojson.decode(bytes(raw))))


def check(found: Any, split: Split, desired: str) -> None:
    """Raises ConversionError where a converted object is not one that the API server would take."""
    if not isinstance(found, dict) or not isinstance(found.get("metadata"), dict):
        text = f"the converter returned no object with a metadata but {type(found).__name__}: {found!r:.200}"
        raise errors.ConversionError(text, path="/metadata", reason="BadObject")
    for key, wanted in (("apiVersion", desired), ("kind", split.kind)):
        _check_same(f"/{key}", wanted, found.get(key))
    for key, wanted in split.identity.items():
        _check_same(f"/metadata/{key}", wanted, found["metadata"].get(key))
    for key in CHANGEABLE:
        _check_strings(key, found["metadata"].get(key))


def _check_same(path: str, wanted: Any, found: Any) -> None:
    if wanted != found:
        field = path[1:].replace("/", ".")
        text = f"the converter changed {field} from {wanted!r:.200} to {found!r:.200}: it must leave it as it is"
        raise errors.ConversionError(text, path=path, reason="BadObject")


def _check_strings(key: str, value: Any) -> None:
    entries = {} if value is None else value
    if isinstance(entries, dict) and all(type(n) is str and type(v) is str for n, v in entries.items()):
        return
    text = f"the converter set metadata.{key} to what is no map of strings: {value!r:.200}"
    raise errors.ConversionError(text, path=f"/metadata/{key}", reason="BadObject")


def join(split: Split, found: Mapping[str, Any]) -> bytes:
    """The bytes of a converted object, with the metadata that came but for its labels and annotations."""
    metadata: dict[str, Any] = {key: value for key, value in split.metadata.items() if key not in CHANGEABLE}
    try:
        for key in CHANGEABLE:
            if key in found["metadata"]:
                metadata[key] = msgspec.Raw(gojson.encode(found["metadata"][key]))
        members = {key: msgspec.Raw(gojson.encode(value)) for key, value in found.items() if key != "metadata"}
        return msgspec.json.encode({**members, "metadata": metadata})
    except (errors.JsonError, TypeError, ValueError, RecursionError) as error:
        text = f"the converter returned what is no JSON: {error}"
        raise errors.ConversionError(text, path=getattr(error, "path", ""), reason="BadObject") from error


def written(split: Split, outcome: hop.Outcome, desired: str) -> bytes:
    """The same for what our own conversion gives: its body has its text already, and its head is as it must be."""
    if outcome.api_version != desired:  # a spoke converted to itself, say: nobody else's answer has another version
        _check_same("/apiVersion", desired, outcome.api_version)
    metadata: dict[str, Any] = {key: value for key, value in split.metadata.items() if key not in CHANGEABLE}
    for key in CHANGEABLE:
        if key in outcome.metadata:
            _check_strings(key, outcome.metadata[key])
            metadata[key] = outcome.metadata[key]
    head = msgspec.json.encode({"apiVersion": desired, "kind": outcome.kind, "metadata": metadata})
    body = outcome.encoded()
    return head if body == b"{}" else head[:-1] + b"," + body[1:]


def carried_bytes(metadata: Mapping[str, Any]) -> int:
    """How many bytes of a converted object's annotations hold carried values."""
    annotations = metadata.get("annotations") or {}
    return sum(len(key) + len(value.encode()) for key, value in annotations.items() if key.startswith("carried."))
