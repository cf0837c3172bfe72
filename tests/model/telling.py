"""Stories from a seed: an object with something to lose in both directions, and what clients then do to it.

The model says beforehand what both versions read after every act; whoever runs a story only has to agree. What a write
hits is judged too: the visible cause of a carried leaf, a sibling of one, or neither.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Sequence
from typing import Any

from tests.model import relations
from tests.model.example import Example, Said, other
from tests.model.relations import MISSING, NEW, OLD, Document, Field, Parts, Relation
from tests.model.world import World, droppable, text

from instar.testing import acts, edits, sources

LABELS = {
    "properties": {
        "labels": {
            "type": "object",
            "properties": {name: {"enum": ["", "x", "1", "true"]} for name in ("app", "example.com/team")},
        }
    }
}
MANAGERS = ("ann", "bob")
HITS = ("cause", "sibling", "unrelated")
FILLED, STARTS, CANDIDATES = 0.8, 16, 6


@dataclasses.dataclass(frozen=True, kw_only=True)
class Step:
    """An act, what both versions read after it, and what it hit."""

    act: acts.Act
    reads: dict[str, Document]
    hit: str = ""
    conflict: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class Story:
    example: Example
    storage: str
    seed: str
    steps: tuple[Step, ...]
    begun: int
    """How many steps make the object what the story is about."""
    carried: dict[str, int]
    """How many leaves of each version were carried then."""
    stored: Document
    """What is stored at the end."""
    originals: tuple[dict[str, Document], ...]
    """What each version reads at the end of the objects that were copied."""


def tell(example: Example, seed: str, *, storage: str, length: int, flip: str = "", applies: bool = False) -> Story:
    """A story of so many acts after its beginning; with ``flip`` that version is stored from the middle on.

    ``applies``: with server-side apply among the acts.
    """
    teller = _Teller(example, random.Random(seed), storage, applies)
    teller.begin()
    begun, carried = len(teller.steps), teller.carried()
    for number in range(length):
        if flip and number == length // 2:
            teller.take(acts.Flip(storage=flip))
        teller.next()
    return Story(
        example=example,
        storage=storage,
        seed=seed,
        steps=tuple(teller.steps),
        begun=begun,
        carried=carried,
        stored=teller.world.lies(),
        originals=tuple(teller.world.originals()),
    )


def retold(story: Story, told: Sequence[acts.Act]) -> Story:
    """A story of other acts; those that lead nowhere are left out."""
    teller = _Teller(story.example, random.Random(story.seed), story.storage, applies=False)
    for act in told:
        teller.take(act)
    return dataclasses.replace(story, steps=tuple(teller.steps))


class _Teller:
    def __init__(self, example: Example, chance: random.Random, storage: str, applies: bool) -> None:
        self.example, self.chance, self._applies = example, chance, applies
        self._wants: dict[str, tuple[str, dict[str, Any]]] = {}
        self.source = sources.Seeded(chance)
        self.world = World(example=example, storage=storage)
        self.steps: list[Step] = []

    def take(self, act: acts.Act, hit: str = "") -> bool:
        world = dataclasses.replace(self.world)
        if not world.take(act):
            return False
        self.world = world
        reads = {version: world.reads(version) for version in (OLD, NEW)} if world.stored else {}
        self.steps.append(Step(act=act, reads=reads, hit=hit, conflict=world.conflict))
        return True

    def carried(self) -> dict[str, int]:
        """By version, how many of its leaves are carried while the other is seen."""
        return {version: len(self.example.carried(self.world.read(other(version)))) for version in (OLD, NEW)}

    # --- the beginning ------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """A new object at one version, and what the other has to add: rich enough, or the richest of a few."""
        found: list[tuple[int, list[acts.Act]]] = []
        while len(found) < STARTS and not any(score == sum(self.example.most_carried.values()) for score, _ in found):
            found.append(self._beginning(self.chance.choice((OLD, OLD, NEW))))
        for act in max(found, key=lambda one: one[0])[1]:
            self.take(act)

    def _beginning(self, here: str) -> tuple[int, list[acts.Act]]:
        trial = _Teller(self.example, self.chance, self.world.storage, applies=False)
        create = acts.Create(version=here, body={"spec": self._filled(here)}, admitted=self._admitted(here))
        if not trial.take(create):
            create = dataclasses.replace(create, admitted=())
            trial.take(create)
        told: list[acts.Act] = [create]
        added = trial.unseen(other(here))
        if added is not None:
            trial.take(added)
            told.append(added)
        carried = trial.carried()
        return sum(min(carried[version], wanted) for version, wanted in self.example.most_carried.items()), told

    def _filled(self, version: str) -> Any:
        """A spec with most of what a version can say."""
        document: Document = {"spec": self._value(version, "spec")}
        for relation in self.example.relations:
            place = relation.place(version)
            if not isinstance(place, Field | Parts) or place.path[0] != "spec":
                continue
            said, chance = place.take(document), self.chance.random()
            shared = relation.place(other(version)) is not None
            if said is MISSING and chance < (0.15 if shared else FILLED):
                said = self._fresh(place, version)
            elif shared and chance > 0.6:
                said = MISSING
            place.put(document, said)
        return document["spec"]

    def _admitted(self, here: str) -> tuple[edits.Edit, ...]:
        """What a mutating webhook sets at the other version: a field of the spec, or a label."""
        if self.chance.random() < 0.7:
            return ()
        there = other(here)
        fields = self.example.schema(there)["properties"]["spec"]["properties"]
        name = self.chance.choice(sorted(fields))
        value = self.source.value(fields[name])
        return (edits.Edit(kind="set", path=("spec", name), value=value),)

    def _value(self, version: str, part: str) -> Any:
        return self.source.value(self.example.schema(version)["properties"][part])

    def unseen(self, version: str) -> acts.Write | None:
        """A write of a spec that says more at a version, and nothing else at the other: all of it is carried."""
        seen = self.world.read(version)
        values = dict(seen.values)
        for relation in self.example.relations:
            place = relation.place(version)
            if isinstance(place, Field | Parts) and place.path[0] == "spec" and self.chance.random() < FILLED:
                values[relation.name] = self._unseen(relation, place, seen)
        before = self.example.document(seen)
        after = self.example.document(dataclasses.replace(seen, values=values))
        if relations.same(before, after):
            return None
        spec = edits.Edit(kind="replace", path=("spec",), value=after["spec"])
        return acts.Write(version=version, verb=self._verb((spec,)), edits=(spec,))

    def _unseen(self, relation: Relation, place: relations.Place, seen: Said) -> Any:
        """Another word for a thing, of which the other version sees nothing, if one of a few is found."""
        now, (kept, then) = seen.values[relation.name], seen.memory[relation.name]
        for _ in range(2 * CANDIDATES):
            word = self._fresh(place, seen.version)
            quiet = relations.same(relation.restored(other(seen.version), kept, then, word), kept)
            if quiet and not relations.same(relation.meaning(seen.version, kept), word):
                return word
        return now

    # --- what follows -------------------------------------------------------------------------------------------------

    def next(self) -> None:
        """One more act; what is drawn and cannot be taken is drawn anew."""
        kinds: list[Callable[[], tuple[acts.Act, str] | None]] = [self._write, self._replace, self._touch]
        kinds += [self._copy, self._git, self._drop, self._status, self._apply]
        weights = (64, 5, 7, 4, 7, 4, 9, 40 if self._applies else 0)
        while True:
            kind = self.chance.choices(kinds, weights=weights)[0]
            drawn = kind()
            if drawn is not None and self.take(*drawn):
                return

    def _version(self) -> str:
        return self.chance.choice((OLD, NEW))

    def _write(self) -> tuple[acts.Act, str] | None:
        """Edits that hit what is wanted, if any of a few do."""
        version, wanted = self._version(), self.chance.choices(HITS, weights=(4, 4, 2))[0]
        seen = self.world.read(version)
        found = None
        for _ in range(CANDIDATES):
            made = self._edits(version, seen, self._within(version, seen) if wanted == "cause" else ())
            if not made:
                continue
            hit = self.hit(seen, made)
            found = (acts.Write(version=version, verb=self._verb(made), edits=made), hit)
            if hit == wanted:
                return found
        return found

    def _verb(self, made: tuple[edits.Edit, ...]) -> acts.Verb:
        verbs: tuple[acts.Verb, ...] = ("put", "json") if any(_nulls(edit.value) for edit in made) else _VERBS
        return self.chance.choice(verbs)

    def _within(self, version: str, seen: Said) -> tuple[str, ...]:
        """Where a version shows something of which the other has more to say."""
        carried = self.example.carried(seen)
        places = [relation.place(version) for relation in self.example.all if relation.name in carried]
        shown = [place.path for place in places if place is not None and place.path[0] == "spec"]
        return self.chance.choice(shown) if shown else ()

    def _edits(self, version: str, seen: Said, within: tuple[str, ...]) -> tuple[edits.Edit, ...]:
        document, made = self.example.document(seen), []
        for _ in range(1 if within else self.chance.choice((1, 1, 2))):
            label = not within and self.chance.random() < 0.12
            edit = self._label(document) if label else self._edit(document, version, "spec", within)
            if edit is not None:
                document = edits.apply(document, edit)
                made.append(edit)
        return tuple(made)

    def _edit(self, document: Document, version: str, part: str, within: tuple[str, ...] = ()) -> edits.Edit | None:
        edit = edits.choose(self.source, document, self.example.schema(version), below=(part,), within=within)
        return None if edit is None or (edit.path == ("spec",) and edit.kind == "delete") else edit

    def _label(self, document: Document) -> edits.Edit | None:
        labels = {"labels": document["metadata"]["labels"]} if "labels" in document["metadata"] else {}
        edit = edits.choose(self.source, labels, LABELS, below=("labels",))
        return edit and dataclasses.replace(edit, path=("metadata", *edit.path))

    def hit(self, seen: Said, made: tuple[edits.Edit, ...]) -> str:
        """What edits do to what is carried of the other version: hit its cause, what stands beside it, or neither."""
        changed = edits.apply_all(self.example.document(seen), made)
        return self.hit_of(seen, self.example.said(seen.version, changed, seen.memory))

    def hit_of(self, seen: Said, after: Said) -> str:
        to, carried = other(seen.version), set(self.example.carried(seen))
        now = self.example.converted(after)
        changed = {r.name for r in self.example.all if not relations.same(seen.values[r.name], after.values[r.name])}
        touched = changed & carried
        if any(_hit(self.example, name, seen, now) for name in touched):
            return "cause"
        parents = {_parent(relation.place(to)) for relation in self.example.all if relation.name in carried}
        beside = {_parent(r.place(to) or r.place(seen.version)) for r in self.example.all if r.name in changed}
        return "sibling" if parents & beside or touched else "unrelated"

    def _status(self) -> tuple[acts.Act, str] | None:
        version = self._version()
        document = self.world.reads(version)
        edit = self._edit(document, version, "status")
        if edit is None:
            return None
        made = (edit,)
        hit = self.hit(self.world.read(version), made)
        return acts.Write(version=version, verb=self._verb(made), edits=made, subresource="status"), hit

    def _replace(self) -> tuple[acts.Act, str]:
        version = self._version()
        blind = self.chance.random() < 0.3
        return acts.Replace(version=version, spec=self._value(version, "spec"), blind=blind), ""

    def _touch(self) -> tuple[acts.Act, str]:
        return acts.Touch(version=self._version(), verb=self.chance.choice(("put", "merge"))), ""

    def _copy(self) -> tuple[acts.Act, str]:
        return acts.Copy(version=self._version()), ""

    def _git(self) -> tuple[acts.Act, str]:
        if self.world.saved is None:
            return acts.Save(version=self._version()), ""
        return acts.Restore(verb="put"), ""

    def _apply(self) -> tuple[acts.Act, str] | None:
        """A manager wants other things than last time: some more, some less, some at another version."""
        manager = self.chance.choice(MANAGERS)
        version, words = self._wants.get(manager, (self._version(), {}))
        if self.chance.random() < 0.25:
            version, words = other(version), {}
        words, seen = dict(words), self.world.read(version)
        for name in self.chance.sample(self.example.applied, self.chance.randint(1, 3)):
            if name in words and self.chance.random() < 0.6:
                del words[name]
            elif (value := self._word(name, version, seen)) is not MISSING:
                words[name] = value
        body = self.example.document(Said(version=version, values={**_nothing(self.example), **words}))
        # An emptied spec is a leaf to server-side apply: whoever has it conflicts with all who put something there.
        emptied = any(self.example.document(self.world.read(at)).get("spec") == {} for at in (OLD, NEW))
        force = self.chance.random() < 0.6 or emptied
        act = acts.Apply(version=version, manager=manager, body=body, force=force)
        world = dataclasses.replace(self.world)
        if world.take(act) and not world.conflict:
            self._wants[manager] = version, words
        return act, self.hit_of(seen, world.read(version)) if not world.conflict else ""

    def _word(self, name: str, version: str, seen: Said) -> Any:
        """Something to want: often what is there."""
        place = next(one for one in self.example.all if one.name == name).place(version)
        if place is None:
            return MISSING
        value = seen.values[name] if self.chance.random() < 0.4 else self._fresh(place, version)
        return value if value is not MISSING and value != {} and _plain(value) else MISSING

    def _fresh(self, place: relations.Place, version: str) -> Any:
        schema = self.example.schema(version)
        for step in place.path:
            schema = schema["properties"][step]
        document: Document = {}
        Field(place.path).put(document, self.source.value(schema))
        return place.take(document)

    def _drop(self) -> tuple[acts.Act, str] | None:
        version = self._version()
        found = droppable(self.example, self.world.read(version))
        if not found:
            return None
        return acts.Drop(version=version, path=text(found[self.chance.choice(sorted(found))])), ""


_VERBS: tuple[acts.Verb, ...] = ("put", "merge", "json")


def _plain(value: Any) -> bool:
    """What an apply body can say: it is read as YAML."""
    if isinstance(value, dict):
        return all(name and _plain(name) and _plain(below) for name, below in value.items())
    return not isinstance(value, str) or (value.isascii() and value.isprintable())


def _nothing(example: Example) -> dict[str, Any]:
    return {relation.name: MISSING for relation in example.all}


def _nulls(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_nulls(below) for below in value.values())
    return value is None or (isinstance(value, list) and any(_nulls(item) for item in value))


def _hit(example: Example, name: str, seen: Said, now: Said) -> bool:
    """Whether an edit of something carried hit its cause: of a list, the key of an item that had more to say."""
    relation = next(one for one in example.all if one.name == name)
    kept, after = seen.memory[name][0], now.values[name]
    if not relation.key or not isinstance(kept, list):
        return True
    plain = relation.meaning(now.version, seen.values[name])
    rich = [item for item in kept if not _among(item, plain)]
    return any(not _among(item, after) for item in rich)


def _among(item: Any, items: Any) -> bool:
    return isinstance(items, list) and any(relations.same(item, one) for one in items)


def _parent(place: relations.Place | None) -> tuple[str, ...]:
    if place is None:
        return ()
    return place.path if isinstance(place, Parts) else place.path[:-1]
