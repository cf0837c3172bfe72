"""One example of the repository, as the model knows it: its schemas, and its relations between two versions.

An object at a version is what each relation says there (``values``), and what is known of the other version
(``memory``: what it said, and what this one said then). That is what an annotation of the framework stands for, but no
annotation is looked at here.
"""

from __future__ import annotations

import dataclasses
import functools
import pathlib
from collections.abc import Mapping
from typing import Any

import yaml
from tests.laws import model
from tests.model import relations
from tests.model.relations import FORGOTTEN, MISSING, NEW, OLD, Document, Relation

from instar.testing import edits

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
WORDS = ("labels", "annotations")


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Said:
    """An object at one version."""

    version: str
    values: Mapping[str, Any]
    memory: Mapping[str, tuple[Any, Any]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Example:
    """``applied``: the relations that managers apply. ``most_carried``: how many leaves of a version, at least, most

    objects of the tests carry while they are seen at the other.
    """

    name: str
    relations: tuple[Relation, ...]
    applied: tuple[str, ...]
    most_carried: Mapping[str, int]

    @functools.cached_property
    def crd(self) -> Document:
        return yaml.safe_load((EXAMPLES / self.name / "crd.yaml").read_text())

    def schema(self, version: str) -> Document:
        return next(one for one in self.crd["spec"]["versions"] if one["name"] == version)["schema"]["openAPIV3Schema"]

    @functools.cached_property
    def all(self) -> tuple[Relation, ...]:
        words = {word: relations.Field(("metadata", word)) for word in WORDS}
        return (*self.relations, *(Relation(name=f"its {word}", old=place, new=place) for word, place in words.items()))

    def said(self, version: str, document: Document, memory: Mapping[str, tuple[Any, Any]] | None = None) -> Said:
        """What a document says, after the pruning and defaults of its version."""
        settled = model.settle(self.schema(version), {**document, **self.head(version)})
        settled["metadata"] = {word: found for word in WORDS if (found := settled.get("metadata", {}).get(word))}
        values = {}
        for relation in self.all:
            place = relation.place(version)
            values[relation.name] = place.take(settled) if place else MISSING
        left = {name: value for name, value in settled.items() if name not in self.head(version) and value}
        for hull in [name for name, value in left.items() if isinstance(value, dict) and not _leaves(value)]:
            del left[hull]
        assert not left, f"the model of {self.name} has no relation for {left}"
        return Said(version=version, values=values, memory=memory or {})

    def defaulted(self, version: str, path: tuple[str, ...]) -> bool:
        """Whether a field has a default at a version."""
        schema = self.schema(version)
        for step in path:
            schema = schema["properties"][step]
        return "default" in schema

    def head(self, version: str) -> Document:
        spec = self.crd["spec"]
        return {"apiVersion": f"{spec['group']}/{version}", "kind": spec["names"]["kind"]}

    def document(self, said: Said) -> Document:
        """The object as a client reads it. Not to be changed."""
        return _document(self, said)

    def converted(self, said: Said) -> Said:
        """The same object at the other version."""
        return _converted(self, said)

    def bare(self, version: str, document: Document) -> Said:
        """What a document says as it stands, without the defaults of its version: so are reads, and applied parts."""
        left, values = relations.copied(dict(document)), {}
        for relation in self.all:
            place = relation.place(version)
            values[relation.name] = place.take(left) if place else MISSING
        return Said(version=version, values=values)

    def carried(self, said: Said) -> tuple[str, ...]:
        """The relations of which the other version said more than is seen here."""
        to = other(said.version)
        return tuple(relation.name for relation in self.all if self._more(relation, to, said))

    def _more(self, relation: Relation, to: str, said: Said) -> bool:
        kept, then = said.memory.get(relation.name, (FORGOTTEN, MISSING))
        known = relation.place(to) is not None and kept is not FORGOTTEN and kept is not relations.FULL
        return known and not relations.same(relation.meaning(to, then), kept)


@functools.lru_cache(maxsize=256)
def _document(example: Example, said: Said) -> Document:
    document: Document = {**example.head(said.version), "metadata": {}}
    for relation in example.all:
        place = relation.place(said.version)
        if place is not None:
            place.put(document, said.values[relation.name])
    return document


@functools.lru_cache(maxsize=256)
def _converted(example: Example, said: Said) -> Said:
    to = other(said.version)
    values = {}
    for relation in example.all:
        kept, then = said.memory.get(relation.name, (FORGOTTEN, MISSING))
        read = relation.restored(to, kept, then, said.values[relation.name])
        values[relation.name] = MISSING if relation.place(to) is None else read
    settled = example.bare(to, _document(example, Said(version=to, values=values)))
    memory = {name: (value, settled.values[name]) for name, value in said.values.items()}
    return dataclasses.replace(settled, memory=memory)


def other(version: str) -> str:
    return OLD if version == NEW else NEW


def _leaves(value: Any) -> bool:
    """Whether there is anything but maps that others have emptied."""
    return any(_leaves(below) for below in value.values()) if isinstance(value, dict) else True


def edited(document: Document, made: tuple[edits.Edit, ...]) -> Document | None:
    """The document with all edits made; None where one of them leads nowhere."""
    try:
        return edits.apply_all(document, made)
    except (KeyError, IndexError, TypeError):
        return None
