"""Stories told to the framework alone: an API server of one object, made of the model of its pipeline.

It knows no server-side apply (that needs the real one); all else it does as the API server does.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import yaml
from tests.laws import model, subject
from tests.model.telling import Step, Story, retold

import instar.conversion as conversion
from instar import loading
from instar.model import crd as crd_model
from instar.testing import acts, edits

Document = dict[str, Any]
WORDS = ("labels", "annotations")


def judged(name: str) -> subject.Subject:
    """An example of the repository, its conversion in Python or as rules."""
    folder = subject.EXAMPLES / name
    crd = crd_model.parse(yaml.safe_load((folder / "crd.yaml").read_text()))
    file = next(path for path in folder.glob("conversion.*") if path.suffix in (".py", ".yaml"))
    whole = loading.conversion(str(file))
    bound = conversion.bind(whole, crd)
    return subject.Subject(crd=crd, bound=bound, domain=whole.domain or whole.group, functions={})


class Server:
    """One object, stored as bytes would be."""

    def __init__(self, judged: subject.Subject, storage: str) -> None:
        self._judged, self._storage = judged, storage
        self._stored: Document = {}
        self._saved: Document = {}

    def read(self, version: str) -> Document:
        decoded = self._judged.settled(self._stored)
        return decoded if subject.version_of(decoded) == version else self._judged.move(decoded, version)

    def _store(self, document: Document) -> None:
        written = self._judged.write(document)
        here = subject.version_of(written) == self._storage
        self._stored = written if here else self._judged.move(written, self._storage)

    def take(self, act: acts.Act) -> None:
        getattr(self, f"_{type(act).__name__.lower()}")(act)

    def _head(self, version: str, metadata: Document) -> Document:
        crd = self._judged.crd
        kept = {name: value for name, value in metadata.items() if name in WORDS}
        return {"apiVersion": f"{crd.group}/{version}", "kind": crd.kind, "metadata": {"name": "one", **kept}}

    def _create(self, act: acts.Create) -> None:
        document = {**self._head(act.version, act.body.get("metadata", {})), "spec": copy.deepcopy(act.body["spec"])}
        if act.admitted:
            there = subject.other(self._judged, act.version)
            seen = self._judged.move(self._unstored(document), there)
            changed = self._judged.settled(edits.apply_all(seen, act.admitted))
            document = self._judged.move(changed, act.version)
        self._store(document)

    def _unstored(self, document: Document) -> Document:
        """What admission sees of a create: defaults and managedFields, and no uid yet."""
        written = self._judged.write(document)
        metadata = {name: value for name, value in written["metadata"].items() if name != "uid"}
        return {**written, "metadata": metadata}

    def _write(self, act: acts.Write) -> None:
        before = self.read(act.version)
        after = edits.apply_all(before, act.edits)
        taken, kept = (after, before) if act.subresource else (before, after)
        self._store(_parts(kept, taken))

    def _replace(self, act: acts.Replace) -> None:
        before = self.read(act.version)
        metadata = {} if act.blind else before["metadata"]
        self._store({**self._head(act.version, metadata), **_status(before), "spec": copy.deepcopy(act.spec)})

    def _touch(self, act: acts.Touch) -> None:
        self._store(self.read(act.version))

    def _copy(self, act: acts.Copy) -> None:
        before = self.read(act.version)
        self._store({**self._head(act.version, before["metadata"]), **_spec(before)})

    def _save(self, act: acts.Save) -> None:
        self._saved = self.read(act.version)

    def _restore(self, act: acts.Restore) -> None:
        version = subject.version_of(self._saved)
        self._store(
            {**self._head(version, self._saved["metadata"]), **_spec(self._saved), **_status(self.read(version))}
        )

    def _drop(self, act: acts.Drop) -> None:
        before = self.read(act.version)
        name = entry_of(before, act.path)
        del before["metadata"]["annotations"][name]
        self._store(before)

    def _flip(self, act: acts.Flip) -> None:
        self._storage = act.storage


def entry_of(document: Document, path: str) -> str:
    """The annotation that carries a leaf: the path is in its value, for people to read."""
    notes = document["metadata"].get("annotations", {})
    found = [name for name, value in notes.items() if name.startswith("carried.") and _path(value) == path]
    assert len(found) == 1, f"{path} is carried {len(found)} times in {notes}"
    return found[0]


def _path(value: str) -> Any:
    entry = json.loads(value) if value.startswith("[") else []
    return entry[1] if len(entry) > 1 else None


def _parts(document: Document, other: Document) -> Document:
    return {**{name: value for name, value in document.items() if name != "status"}, **_status(other)}


def _spec(document: Document) -> Document:
    return {"spec": copy.deepcopy(document["spec"])} if "spec" in document else {}


def _status(document: Document) -> Document:
    return {"status": copy.deepcopy(document["status"])} if "status" in document else {}


def said(judged_domain: str, document: Document) -> Document:
    """What clients wrote, in the form of the model."""
    bare = model.stripped(model.wire(document), judged_domain)
    metadata = {name: value for name, value in bare["metadata"].items() if name in WORDS and value}
    return {**bare, "metadata": metadata}


def told(judged: subject.Subject, story: Story) -> list[str]:
    """The story told to the framework: the first step after which it does not read as the model says, and how."""
    server = Server(judged, story.storage)
    for number, step in enumerate(story.steps):
        server.take(step.act)
        found = differing(judged.domain, step, server.read) if step.reads else []
        if found:
            return [f"step {number}: {step.act}", *found]
    return []


def differing(domain: str, step: Step, read: Any) -> list[str]:
    lines = []
    for version, wanted in step.reads.items():
        lines += [f"{version}{line}" for line in model.differences(said(domain, read(version)), wanted)]
    return lines


def reduced(story: Story, fails: Callable[[Story], object]) -> Story:
    """The smallest story found that still fails."""
    again = True
    while again:
        again = False
        for less in acts.smaller([step.act for step in story.steps]):
            shorter = retold(story, less)
            if shorter.steps and len(shorter.steps) == len(less) and fails(shorter):
                story, again = shorter, True
                break
    return story
