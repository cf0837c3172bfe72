"""What each act makes of an object, said by the model: what is stored, at which version, and what each version reads.

An object lies at one version, with what was last written at the other (its memory). A write at the stored version
leaves that memory as it is, however old: an edit away and back shows nowhere. A write at the other one is converted,
and is remembered as it was written.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from tests.model import example as examples
from tests.model import ownership, relations
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
    left: tuple[Said, ...] = ()
    owners: ownership.Owners = dataclasses.field(default_factory=dict)
    conflict: bool = False
    """Whether the last act was refused because another manager owns what it changes."""

    def read(self, version: str) -> Said:
        assert self.stored is not None
        return self.stored if self.stored.version == version else self.example.converted(self.stored)

    def reads(self, version: str) -> Document:
        return self.example.document(self.read(version))

    def lies(self) -> Document:
        """What is stored."""
        assert self.stored is not None
        return self.example.document(self.stored)

    def originals(self) -> Iterator[dict[str, Document]]:
        """What each version reads of the objects that were copied."""
        for said in self.left:
            there = self.example.converted(said)
            yield {one.version: self.example.document(one) for one in (said, there)}

    def write(self, said: Said, *, new: bool = False) -> None:
        """A write that is no apply."""
        changes, _ = self._changes(said, new)
        self.owners = ownership.updated(self.example, {} if new else self.owners, said.version, changes, said)
        self._store(said)

    def _store(self, said: Said) -> None:
        self.stored = said if said.version == self.storage else self.example.converted(said)

    def _changes(self, said: Said, new: bool = False) -> tuple[dict[str, set[ownership.Leaf]], ...]:
        """By version, the leaves that a write changes, and those that are there after it."""
        before = {} if new else self._compared(self.read(said.version))
        after = self._compared(said)
        changes = {at: ownership.changed(self.example, before.get(at), after[at]) for at in after}
        return changes, {at: set(ownership.leaves(self.example, after[at])) for at in after}

    def _compared(self, said: Said) -> dict[str, Said]:
        return {said.version: said, other(said.version): ownership.undefaulted(self.example, said)}

    # --- acts ---------------------------------------------------------------------------------------------------------

    def take(self, act: acts.Act) -> bool:
        """Whether the act could be taken: one that leads nowhere (in a reduced story) is left out."""
        if (self.stored is None) != isinstance(act, acts.Create):
            return False
        self.conflict = False
        return bool(getattr(self, f"_{type(act).__name__.lower()}")(act))

    def _create(self, act: acts.Create) -> bool:
        if "spec" not in act.body:
            return False
        sent = said = self.example.said(act.version, _without_status(act.body))
        if act.admitted:
            seen = self.example.converted(said)
            changed = examples.edited(self.example.document(seen), act.admitted)
            if changed is None:
                return False
            there = self.example.said(other(act.version), changed, seen.memory)
            back = self.example.converted(there)
            said = self.example.said(act.version, self.example.document(back), back.memory)
        self.write(sent, new=True)  # who creates owns what was sent, whatever admission made of it
        self._store(said)
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
        self.left = (*self.left, self.stored)
        self.write(self.example.said(act.version, _without_status(self.example.document(seen)), seen.memory), new=True)
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
        said = self.example.said(act.version, self.example.document(seen), memory)
        changes, _ = self._changes(said)
        self.owners = ownership.dropped(self.owners, named[act.path], changes, (ownership.EDITOR, act.version))
        self._store(said)
        return True

    def _apply(self, act: acts.Apply) -> bool:
        seen, writer = self.read(act.version), (act.manager, "")
        body = self.example.bare(act.version, act.body)
        wanted = set(ownership.leaves(self.example, body))
        merged = dataclasses.replace(seen, values=_merged(seen.values, body.values))
        pruned = ownership.given_up(self.example, merged, self.owners, writer, wanted)
        document = self.example.document(pruned)
        if not document.get("spec"):
            return False
        said = self.example.said(act.version, document, pruned.memory)
        if not self.example.document(self.example.converted(said)).get("spec"):
            return False
        changes, present = self._changes(said)
        self.conflict = not act.force and ownership.conflicts(self.owners, changes, present, writer)
        if not self.conflict:
            owners = ownership.without(self.owners, changes, writer)
            owners[writer] = ownership.Owned(version=act.version, leaves=frozenset(wanted))
            self.owners = owners
            self._store(said)
        return True

    def _flip(self, act: acts.Flip) -> bool:
        self.storage = act.storage
        return True


def _merged(live: Mapping[str, Any], applied: Mapping[str, Any]) -> dict[str, Any]:
    """What is applied over what is there; maps member by member."""
    merged = dict(live)
    for name, value in applied.items():
        if isinstance(value, dict) and isinstance(live[name], dict):
            merged[name] = {**live[name], **value}
        elif value is not MISSING and value is not relations.FULL:
            merged[name] = value
    return merged


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
