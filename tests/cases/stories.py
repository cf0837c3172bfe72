"""Conversions that public projects fought with: small CRDs of ours, the reported fault, the right value by hand.

A folder holds ``crd.yaml``, the conversion and ``stories.yaml``. A story is what clients do, one step after another::

    create: an object          patch: {at: version, with: merge patch}
    read: {at: version, spec: ..., status: ..., annotations: ...}     only what is named is compared, and that exactly

Each is played with every version as the storage version, on the model of an API server and on a real one.
"""

from __future__ import annotations

import copy
import dataclasses
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import yaml
from tests.laws import model, subject

HERE = pathlib.Path(__file__).parent
Document = dict[str, Any]


class World(Protocol):
    """What plays a story: clients of a CRD stored at one version."""

    async def create(self, document: Document) -> None: ...

    async def patch(self, version: str, change: Mapping[str, Any]) -> None: ...

    async def read(self, version: str) -> Document: ...


@dataclasses.dataclass(frozen=True, kw_only=True)
class Story:
    project: str
    name: str
    fault: str
    source: str
    steps: tuple[Mapping[str, Any], ...]

    def __str__(self) -> str:
        return f"{self.project}-{self.name}"

    async def play(self, world: World) -> int:
        """Every step in turn; how many reads were compared."""
        compared = 0
        for number, step in enumerate(self.steps):
            ((verb, what),) = step.items()
            if verb == "create":
                await world.create(copy.deepcopy(what))
            elif verb == "patch":
                await world.patch(what["at"], what["with"])
            else:
                found = await world.read(what["at"])
                compared += 1
                for field, wanted in _wanted(what):
                    said = f"{self}, step {number}, {field} at {what['at']}: {self.fault}"
                    assert model.same(_seen(found, field), wanted), f"{said}\nfound {_seen(found, field)}"
        return compared


def _wanted(what: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from ((field, value) for field, value in what.items() if field != "at")


def _seen(document: Document, field: str) -> Any:
    """A top-level field, or the annotations that are not ours; None where it is not there."""
    if field != "annotations":
        return document.get(field)
    found = document["metadata"].get("annotations") or {}
    return {key: value for key, value in found.items() if not key.startswith("carried.")}


def every() -> list[Story]:
    stories = []
    for file in sorted(HERE.glob("*/stories.yaml")):
        for document in yaml.safe_load_all(file.read_text()):
            steps = tuple(document.pop("steps"))
            stories.append(Story(project=file.parent.name, steps=steps, **document))
    return stories


def conversion_file(project: str, folder: pathlib.Path = HERE) -> pathlib.Path:
    return next(path for path in sorted((folder / project).glob("conversion.*")) if path.suffix in (".py", ".yaml"))


class Modelled:
    """The model of an API server around the framework, with one object."""

    def __init__(self, of: subject.Subject, storage: str) -> None:
        self._of = of
        self._storage = storage
        self._stored: Document = {}

    async def create(self, document: Document) -> None:
        self._write(document)

    async def patch(self, version: str, change: Mapping[str, Any]) -> None:
        self._write(merged(await self.read(version), change))

    async def read(self, version: str) -> Document:
        stored = self._of.settled(self._stored)
        return stored if version == self._storage else self._of.move(stored, version)

    def _write(self, document: Document) -> None:
        written = self._of.write(document)
        same = subject.version_of(written) == self._storage
        self._stored = written if same else self._of.move(written, self._storage)


def merged(document: Any, change: Any) -> Any:
    """RFC 7386."""
    if not isinstance(change, Mapping):
        return change
    result = dict(document) if isinstance(document, dict) else {}
    for name, value in change.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result


EVERY = every()
