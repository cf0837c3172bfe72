"""Rules and two schemas become two programs, or complaints that say which rule is wrong, where and why.

One level is an object, or an item within ``each``; what a rule nests is a level of its own, with the schemas of the
items. Every complaint of every level is collected, so that one run of a check shows all that is to be mended.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from instar.conversion.rules import covering, grouping, model, move, only, places, program, shapes
from instar.schema import structural

__all__ = ["Compiled", "compile_rules"]

Steps = tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Compiled:
    """Both directions of a spoke, and what is wrong with its rules; the functions mean nothing if anything is."""

    functions: model.Functions
    problems: tuple[str, ...]


def compile_rules(
    rules: Sequence[model.Rule], spoke: tuple[str, structural.Node], hub: tuple[str, structural.Node], where: str
) -> Compiled:
    """The rules of one spoke between two versions, each given by its name and its schema."""
    problems: list[str] = []
    found = tuple(grouping.parts(rules, where, problems.append))
    level = _Level(names=model.Pair(spoke=spoke[0], hub=hub[0]), at=model.Pair(spoke="", hub=""), say=problems.append)
    functions = level.functions(found, places.rooted(spoke[1]), places.rooted(hub[1]))
    return Compiled(functions, tuple(dict.fromkeys(problems)))


@dataclasses.dataclass(frozen=True, slots=True)
class _Place:
    """One end of a part: where, the schema there, and the slot of its value."""

    name: str
    steps: Steps
    node: structural.Node
    slot: int


@dataclasses.dataclass(frozen=True, slots=True)
class _Placed:
    """A part, its places in the schemas, and its functions once they are made."""

    part: grouping.Part
    spoke: tuple[_Place, ...]
    hub: tuple[_Place, ...]
    functions: model.Functions | None = None

    def at(self, side: model.Side) -> tuple[_Place, ...]:
        return self.spoke if side == "spoke" else self.hub


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Level:
    """An object or an item: the names of the versions, how paths begin here, and where to complain."""

    names: model.Pair
    at: model.Pair
    say: Callable[[str], None]

    def functions(
        self, parts: Iterable[grouping.Part], spoke: structural.Node, hub: structural.Node
    ) -> model.Functions:
        """Both directions of one level."""
        placed = list(self._placed(grouping.split(parts, self.say), spoke, hub))
        ready = [item for item in map(self._ready, placed) if item is not None]
        covering.check(
            [covering.Touch(item.part, _ends(item, "spoke"), _ends(item, "hub")) for item in placed],
            model.Pair(spoke=spoke, hub=hub),
            covering.Place(names=self.names, at=self.at, say=self.say),
        )
        return model.Functions(
            self._program(ready, "spoke", hub, f"rules of {self.names.spoke} to {self.names.hub}"),
            self._program(ready, "hub", spoke, f"rules of {self.names.spoke} from {self.names.hub}"),
        )

    # --- rules to functions -------------------------------------------------------------------------------------------

    def _placed(
        self, parts: Iterable[grouping.Part], spoke: structural.Node, hub: structural.Node
    ) -> Iterator[_Placed]:
        slots = 0
        for part in parts:
            at_spoke = tuple(self._places(part, "spoke", spoke, slots))
            slots += len(part.spoke)
            shared = isinstance(part.rule, move.Move)
            at_hub = tuple(self._places(part, "hub", hub, slots - 1 if shared else slots))
            slots += 0 if shared else len(part.hub)
            yield _Placed(part, at_spoke, at_hub)

    def _places(self, part: grouping.Part, side: model.Side, root: structural.Node, first: int) -> Iterator[_Place]:
        """Those that the schema has; of others it is said."""
        for index, (name, steps) in enumerate(part.spoke if side == "spoke" else part.hub):
            node = places.find(root, steps)
            if node is None:
                whole = getattr(self.at, side) + "".join(steps)
                hint = covering.nearest(root, steps)
                self.say(f"{part.label}: {side}: version {getattr(self.names, side)} has no {whole}{hint}")
            else:
                yield _Place(name, steps, node, first + index)

    def _ready(self, item: _Placed) -> _Placed | None:
        """With its functions; None where a place is missing."""
        if (len(item.spoke), len(item.hub)) != (len(item.part.spoke), len(item.part.hub)):
            return None
        functions = item.part.rule.pair(self._ground(item.part, item.spoke, item.hub))
        return dataclasses.replace(item, functions=functions)

    def _ground(self, part: grouping.Part, spoke: tuple[_Place, ...], hub: tuple[_Place, ...]) -> model.Ground:
        def inner(spoke_item: structural.Node, hub_item: structural.Node) -> model.Functions:
            at = model.Pair(
                spoke=self.at.spoke + "".join(part.paths("spoke")[0]), hub=self.at.hub + "".join(part.paths("hub")[0])
            )
            return dataclasses.replace(self, at=at).functions(part.inner, spoke_item, hub_item)

        return model.Ground(
            spoke=tuple(model.End(place.name, self.at.spoke + "".join(place.steps), place.node) for place in spoke),
            hub=tuple(model.End(place.name, self.at.hub + "".join(place.steps), place.node) for place in hub),
            complain=lambda text: self.say(f"{part.label}: {text}"),
            inner=inner,
        )

    # --- functions to programs ----------------------------------------------------------------------------------------

    def _program(
        self, ready: Sequence[_Placed], source: model.Side, target_node: structural.Node, name: str
    ) -> program.Program:
        target = model.other(source)
        at_root = not getattr(self.at, source)
        taken = [
            (places.level(place.steps), place.slot)
            for item in ready
            for place in item.at(source)
            if not _pruned(item, places.level(place.steps), target_node, at_root=at_root)
        ]
        put = [
            (places.level(place.steps), place.slot, item.part.label)
            for item in ready
            if item.at(source)
            for place in item.at(target)
        ]
        return program.Program(
            name=name,
            slots=1 + max((place.slot for item in ready for place in item.spoke + item.hub), default=0),
            whole_source=next((slot for steps, slot in taken if not steps), None),
            takes=tuple(_takes(taken, _defaulted(ready, source), target_node, at_root=at_root)),
            steps=tuple(self._steps(ready, source)),
            whole_target=next((slot for steps, slot, _ in put if not steps), None),
            puts=tuple(_puts(put)),
            defaults=tuple(_defaults(ready, target)),
        )

    def _steps(self, ready: Iterable[_Placed], source: model.Side) -> Iterator[program.Step]:
        for item in ready:
            if item.functions is not None:
                sources, targets = item.at(source), item.at(model.other(source))
                yield program.Step(
                    function=item.functions.to_hub if source == "spoke" else item.functions.from_hub,
                    sources=_slots(sources),
                    targets=_slots(targets),
                    path=getattr(self.at, source) + "".join(places.level(sources[0].steps)),
                    label=item.part.label,
                )


def _ends(item: _Placed, side: model.Side) -> tuple[tuple[Steps, structural.Node], ...]:
    return tuple((places.level(place.steps), place.node) for place in item.at(side))


def _slots(found: Sequence[_Place]) -> int | tuple[int, ...]:
    named = len(found) != 1 or found[0].name
    return tuple(place.slot for place in found) if named else found[0].slot


def _defaulted(ready: Iterable[_Placed], side: model.Side) -> set[Steps]:
    """The holders in which a rule sets a default: one that is emptied stays, for where it stands the default comes."""
    return {
        places.level(place.steps)[:-1]
        for item in ready
        if isinstance(item.part.rule, only.Only) and item.part.rule.default is not None
        for place in item.at(side)
    }


def _takes(
    taken: Iterable[tuple[Steps, int]], defaulted: set[Steps], target: structural.Node, *, at_root: bool
) -> Iterator[program.Take]:
    """Grouped by the holder, inner ones first."""
    by_holder: dict[Steps, list[tuple[str, int]]] = {}
    for steps, slot in taken:
        if steps:
            by_holder.setdefault(steps[:-1], []).append((places.keys(steps)[-1], slot))
    for parents in sorted(by_holder, key=lambda steps: (-len(steps), steps)):
        floor, alien = _floor(parents, target, at_root=at_root), _alien(parents, target)
        if parents in defaulted and not alien:
            floor = len(parents)
        yield program.Take(places.keys(parents), tuple(by_holder[parents]), floor, alien)


def _alien(parents: Steps, target: structural.Node) -> bool:
    """Whether the target has something else than an object in the holder's place, so that an empty one may not stay."""
    node = places.find(target, parents) if parents else None
    return node is not None and shapes.of(node) not in ("object", shapes.ANY)


def _pruned(item: _Placed, steps: Steps, target: structural.Node, *, at_root: bool) -> bool:
    """Whether a field of one version alone goes without being taken: pruning by the target's schema drops it."""
    if not isinstance(item.part.rule, only.Only) or not steps:
        return False
    holder = places.find(target, steps[:-1])
    if holder is None or not holder.properties or holder.embedded:
        return False
    stays = len(steps) - 1 <= _floor(steps[:-1], target, at_root=at_root)
    return stays and structural.child(holder, places.keys(steps)[-1]) is None


def _floor(parents: Steps, target: structural.Node, *, at_root: bool) -> int:
    """How many of the holder's keys stay though they are emptied: first-level fields, and what the target requires."""
    floor = 1 if at_root else 0
    for depth in range(1, len(parents) + 1):
        above = places.find(target, parents[: depth - 1])
        if above is not None and places.keys(parents[:depth])[-1] in (above.raw.get("required") or ()):
            floor = max(floor, depth)
    return floor


def _puts(put: Iterable[tuple[Steps, int, str]]) -> Iterator[program.Put]:
    """Grouped by the holder, outer ones first."""
    by_holder: dict[Steps, list[tuple[str, int, str]]] = {}
    for steps, slot, label in put:
        if steps:
            by_holder.setdefault(steps[:-1], []).append((places.keys(steps)[-1], slot, label))
    for parents in sorted(by_holder, key=lambda steps: (len(steps), steps)):
        yield program.Put(places.keys(parents), tuple(by_holder[parents]))


def _defaults(ready: Iterable[_Placed], target: model.Side) -> Iterator[program.Default]:
    for item in ready:
        default: Any = item.part.rule.default if isinstance(item.part.rule, only.Only) else None
        if default is not None:
            for place in item.at(target):
                keys = places.keys(places.level(place.steps))
                if keys:
                    yield program.Default(keys[:-1], keys[-1], default)
