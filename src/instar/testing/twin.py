"""What the API server does around a conversion, so that what is proved is what a user sees.

    write at v:  prune, drop nulls, defaults of v -> convert to the storage version -> prune there
    read at v:   prune, drop nulls, defaults of the stored version -> convert to v -> prune there

Neither fills in the target's defaults nor validates after a conversion (measured on 1.37.2). What was asked of the same
bytes is remembered, for laws ask the same questions; the law on purity goes around that. Answers are not to be changed.
Source: apiextensions-apiserver, and kubernetes.io on versions of CRDs.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import orjson

import instar.conversion as conversion_module
from instar import errors
from instar.conversion import bare, entries, hop, leaves, named
from instar.model import gojson
from instar.schema import settling, structural, validation
from instar.testing import cases, places

__all__ = ["Twin"]

Document = dict[str, Any]
Answer = TypeVar("Answer")
_MOST_REMEMBERED = 10_000


class _Memory(Generic[Answer]):
    """Answers by what was asked and of which object."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, bytes], Answer] = {}

    def get(self, what: str, document: Mapping[str, Any], ask: Callable[[], Answer]) -> Answer:
        key = (what, _bytes(document))
        if key not in self._known:
            answer = ask()
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            self._known[key] = answer
        return self._known[key]


class Twin:
    """A bound conversion between the two halves of an API server."""

    def __init__(self, bound: conversion_module.Bound) -> None:
        self.bound = bound
        self.prefix = entries.prefix(bound.conversion.domain)
        self.names = {version: _names(bound, version) for version in bound.versions}
        self.sides = {version: _side(bound, version, self.names[version]) for version in bound.versions}
        self.versions = bound.versions
        self.conversions = 0
        self.slowest_seconds = 0.0
        self._answers: _Memory[hop.Outcome | errors.ConversionError] = _Memory()
        self._written: _Memory[Document] = _Memory()
        self._stored: _Memory[Document] = _Memory()
        self._problems: _Memory[str | None] = _Memory()

    def others(self, version: str) -> tuple[str, ...]:
        """The other versions."""
        return tuple(name for name in self.versions if name != version)

    # --- the pipeline -------------------------------------------------------------------------------------------------

    def written(self, document: Mapping[str, Any]) -> Document:
        """An object as the API server holds it once it has decoded a write: defaults of its version, a uid."""
        return self._written.get("", document, lambda: self._decoded(document))

    def _decoded(self, document: Mapping[str, Any]) -> Document:
        return self._settled(document, defaults=True, metadata=_metadata(document))

    def store(self, document: Mapping[str, Any], storage: str) -> Document:
        """What stands in etcd after a write of this object, with that storage version."""
        return self._stored.get(storage, document, lambda: self._encoded(document, storage))

    def _encoded(self, document: Mapping[str, Any], storage: str) -> Document:
        converted = self.convert(self.written(document), storage)
        return self._settled(converted, defaults=False, metadata=converted["metadata"])

    def read(self, stored: Mapping[str, Any], version: str) -> Document:
        """What a client reads at a version."""
        return self.store(stored, version)

    def convert(self, document: Mapping[str, Any], to: str) -> Document:
        """What the webhook answers; ConversionError as it raises it."""
        return self.outcome(document, to).object

    def outcome(self, document: Mapping[str, Any], to: str) -> hop.Outcome:
        """The same, with what was carried, restored and dropped."""
        answer = self._answers.get(to, document, lambda: self._run(document, to))
        if isinstance(answer, errors.ConversionError):
            raise answer
        return answer

    def _run(self, document: Mapping[str, Any], to: str) -> hop.Outcome | errors.ConversionError:
        self.conversions += 1
        started = time.perf_counter()
        try:
            return self.bound.outcome(document, to)
        except errors.ConversionError as error:
            return error
        finally:
            self.slowest_seconds = max(self.slowest_seconds, time.perf_counter() - started)

    def bare(self, document: Mapping[str, Any], to: str) -> Document:
        """What the author's functions alone make of an object: nothing restored, nothing carried."""
        version, hub = cases.version_of(document), self.bound.conversion.hub
        body, metadata = self.body(document), {"name": "x", "uid": "1"}
        for target in (to,) if hub in (version, to) else (hub, to):
            body = bare.convert(self.bound.hops[version, target].forward, body, metadata)
            version = target
        head = {"apiVersion": self.sides[to].api_version, "kind": document["kind"], "metadata": metadata}
        return self.with_body(head, body)

    def _settled(self, document: Mapping[str, Any], *, defaults: bool, metadata: Mapping[str, Any]) -> Document:
        side = self.sides[cases.version_of(document)]
        body = settling.settle(_plain(document), side.node, defaults=defaults)
        head = {"apiVersion": side.api_version, "kind": self.bound.conversion.kind}
        return {**head, "metadata": dict(metadata), **body}

    # --- what is asked of objects -------------------------------------------------------------------------------------

    def body(self, document: Mapping[str, Any]) -> Document:
        """All that a conversion is about: what stands beside metadata, and what rules name in it."""
        body, names = _plain(document), self.names.get(cases.version_of(document), ())
        return {**body, "metadata": named.take(names, document.get("metadata"))} if names else body

    def with_body(self, document: Mapping[str, Any], body: Mapping[str, Any]) -> Document:
        """An object with another body."""
        head = {name: document[name] for name in structural.META if name in document}
        names = self.names.get(cases.version_of(document), ())
        if names:
            head["metadata"] = named.join(names, dict(head.get("metadata") or {}), body.get("metadata"))
        return {**head, **_plain(body)}

    def problem(self, document: Mapping[str, Any]) -> str | None:
        """Why the API server would refuse an object at its version, but for CEL; None if it would not."""
        node = self.sides[cases.version_of(document)].node
        return self._problems.get("", document, lambda: validation.problem(self.body(document), node))

    def differences(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> list[leaves.Difference]:
        """The leaves at which two objects of one version differ; spellings declared to be one do not."""
        side = self.sides[cases.version_of(one)]
        same = side.plan.same if side.plan.normalised else None
        return leaves.differences(self.body(one), self.body(other), side.node, same=same)

    def stripped(self, document: Mapping[str, Any]) -> Document:
        """The object without our annotations."""
        result: Document = gojson.copy(dict(document))
        metadata = result.get("metadata")
        notes = metadata.get("annotations") if type(metadata) is dict else None
        if type(notes) is dict and type(metadata) is dict:
            kept = {key: text for key, text in notes.items() if not key.startswith(self.prefix)}
            if kept or not notes:
                metadata["annotations"] = kept
            else:
                del metadata["annotations"]
        return result

    def place(self, version: str, where: str) -> str:
        """The pattern of a path."""
        return places.pattern(where.removesuffix("[]"), self.sides[version].node)


def _bytes(document: Mapping[str, Any]) -> bytes:
    """Bytes that only this object has; sorted they need not be, nor spelt as Go spells numbers."""
    try:
        return orjson.dumps(document)
    except TypeError:
        return gojson.encode(document)


def _names(bound: conversion_module.Bound, version: str) -> named.Names:
    """The labels and annotations that rules name, on any way from a version."""
    found = {name for (source, _), between in bound.hops.items() if source == version for name in between.names}
    return tuple(sorted(found))


def _side(bound: conversion_module.Bound, version: str, names: named.Names) -> hop.Side:
    side = next(between.source for (source, _), between in bound.hops.items() if source == version)
    return dataclasses.replace(side, node=named.node(side.node, names))


def _plain(document: Mapping[str, Any]) -> Document:
    return {name: value for name, value in document.items() if name not in structural.META}


def _metadata(document: Mapping[str, Any]) -> Document:
    found = document.get("metadata")
    metadata = {"name": "x", "uid": "1", **(found if isinstance(found, dict) else {})}
    return {name: value for name, value in metadata.items() if name != "resourceVersion"}
