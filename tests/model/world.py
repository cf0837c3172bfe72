"""What each act makes of an object, said by the model: what is stored, at which version, and what each version reads.

An object lies at one version, with what was last written at the other (its memory). A write at the stored version
leaves that memory as it is, however old: an edit away and back shows nowhere. A write at the other one is converted,
and is remembered as it was written.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from tests.model import example as examples
from tests.model import relations
from tests.model.example import Example, Said, other
from tests.model.relations import FORGOTTEN, MISSING, Document

from instar.testing import acts

PARTS = ("spec", "metadata")
"""What a write of the main resource takes; the status it leaves alone."""


@dataclasses.dataclass(kw_only=True)
class World:
    """One object of an example, and what is known outside of it (a manifest in Git, the originals of copies)."""

    example: Example
    storage: str
    stored: Said | None = None
    saved: Said | None = None
    left: list[Said] = dataclasses.field(default_factory=list)

    def read(self, version: str) -> Said:
        assert self.stored is not None
        return self.stored if self.stored.version == version else self.example.converted(self.stored)

    def reads(self, version: str) -> Document:
        return self.example.document(self.read(version))

    def write(self, said: Said) -> None:
        self.stored = said if said.version == self.storage else self.example.converted(said)

    # --- acts ---------------------------------------------------------------------------------------------------------

    def take(self, act: acts.Act) -> bool:
        """Whether the act could be taken: one that leads nowhere (in a reduced story) is left out."""
        if (self.stored is None) != isinstance(act, acts.Create):
            return False
        return bool(getattr(self, f"_{type(act).__name__.lower()}")(act))

    def _create(self, act: acts.Create) -> bool:
        if "spec" not in act.body:
            return False
        said = self.example.said(act.version, _without_status(act.body))
        if act.admitted:
            seen = self.example.converted(said)
            changed = examples.edited(self.example.document(seen), act.admitted)
            if changed is None:
                return False
            there = self.example.said(other(act.version), changed, seen.memory)
            back = self.example.converted(there)
            said = self.example.said(act.version, self.example.document(back), back.memory)
        self.write(said)
        return True

    def _write(self, act: acts.Write) -> bool:
        seen = self.read(act.version)
        before = self.example.document(seen)
        after = examples.edited(before, act.edits)
        if after is None:
            return False
        taken = after if act.subresource else before
        kept = before if act.subresource else after
        whole = {**{part: kept[part] for part in PARTS if part in kept}, **_status(taken)}
        self.write(self.example.said(act.version, whole, seen.memory))
        return True

    def _replace(self, act: acts.Replace) -> bool:
        seen = self.read(act.version)
        before = self.example.document(seen)
        metadata = {} if act.blind else before["metadata"]
        whole = {"metadata": metadata, "spec": act.spec, **_status(before)}
        self.write(self.example.said(act.version, whole, {} if act.blind else seen.memory))
        return True

    def _touch(self, act: acts.Touch) -> bool:
        seen = self.read(act.version)
        self.write(self.example.said(act.version, self.example.document(seen), seen.memory))
        return True

    def _copy(self, act: acts.Copy) -> bool:
        assert self.stored is not None
        seen = self.read(act.version)
        self.left.append(self.stored)
        self.write(self.example.said(act.version, _without_status(self.example.document(seen)), seen.memory))
        return True

    def _save(self, act: acts.Save) -> bool:
        self.saved = self.read(act.version)
        return True

    def _restore(self, act: acts.Restore) -> bool:
        if self.saved is None or act.verb != "put":
            return False
        now = self.example.document(self.read(self.saved.version))
        whole = {**_without_status(self.example.document(self.saved)), **_status(now)}
        self.write(self.example.said(self.saved.version, whole, self.saved.memory))
        return True

    def _drop(self, act: acts.Drop) -> bool:
        seen = self.read(act.version)
        named = {text(found): name for name, found in droppable(self.example, seen).items()}
        if act.path not in named:
            return False
        memory = {**seen.memory, named[act.path]: (FORGOTTEN, MISSING)}
        self.write(self.example.said(act.version, self.example.document(seen), memory))
        return True

    def _flip(self, act: acts.Flip) -> bool:
        self.storage = act.storage
        return True


def droppable(example: Example, said: Said) -> dict[str, tuple[str, ...]]:
    """The carried relations that are one plain leaf, and its path at the other version."""
    found = {}
    for relation in example.all:
        place = relation.place(other(said.version))
        kept = said.memory.get(relation.name, (FORGOTTEN, MISSING))[0]
        plain = kept is MISSING or isinstance(kept, str | int | float)
        if relation.name in example.carried(said) and isinstance(place, relations.Field) and plain:
            found[relation.name] = place.path
    return found


def text(path: tuple[str, ...]) -> str:
    return "/" + "/".join(path)


def _status(document: Mapping[str, Any]) -> Document:
    return {"status": relations.copied(document["status"])} if "status" in document else {}


def _without_status(document: Mapping[str, Any]) -> Document:
    return {name: value for name, value in document.items() if name != "status"}
