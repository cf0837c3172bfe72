"""Nothing is left to chance: each leaf of either schema is the same at both, in a rule, or declared to be in one only.

A place that no rule touches stays where it is; so it must mean the same at the other version: the same type, and no
value in one ``enum`` that the other lacks. Bounds and patterns may differ: they do not change what a value says.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Iterator, Sequence

from instar.conversion import patterns
from instar.conversion.rules import grouping, model, move, places, shapes
from instar.model import gojson, path
from instar.schema import structural

__all__ = ["Place", "Touch", "check", "nearest"]

Steps = tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Touch:
    """A rule of a level, and the places it takes from and puts to, with their schemas."""

    part: grouping.Part
    spoke: tuple[tuple[Steps, structural.Node], ...]
    hub: tuple[tuple[Steps, structural.Node], ...]

    def at(self, side: model.Side) -> tuple[tuple[Steps, structural.Node], ...]:
        """Its places at one side."""
        return self.spoke if side == "spoke" else self.hub


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """The names of the two versions, how paths begin at this level, and where to complain."""

    names: model.Pair
    at: model.Pair
    say: Callable[[str], None]


def check(touches: Sequence[Touch], roots: model.Pair, place: Place) -> None:
    """Complains of two rules for one place, and of each leaf that none is for."""
    for side in model.SIDES:
        for problem in _overlaps(touches, side, place):
            place.say(problem)
    walk = _Walk(place, *({steps for touch in touches for steps, _ in touch.at(side)} for side in model.SIDES))
    walk.root(roots.spoke, roots.hub)
    for touch in touches:
        if isinstance(touch.part.rule, move.Move) and touch.spoke and touch.hub:
            spoke, hub = touch.spoke[0], touch.hub[0]
            walk.both(spoke[1], hub[1], spoke[0], hub[0], touch.part.label)


def nearest(root: structural.Node, steps: Steps) -> str:
    """A hint: the field that the author may have meant."""
    for depth, step in enumerate(steps):
        holder = places.find(root, steps[:depth])
        if holder is not None and places.find(root, steps[: depth + 1]) is None and step not in places.WILD:
            found = difflib.get_close_matches(places.keys((step,))[0], list(holder.properties), n=1)
            return f"; did you mean {''.join(steps[:depth])}{path.field(found[0])}?" if found else ""
    return ""


def _overlaps(touches: Sequence[Touch], side: model.Side, place: Place) -> Iterator[str]:
    """Two rules for one place; an outer rule may only be a move, which takes along what is inside."""
    found = [(steps, touch) for touch in touches for steps, _ in touch.at(side)]
    for index, (steps, touch) in enumerate(found):
        for other_steps, other in found[index + 1 :]:
            outer, inner = sorted(((steps, touch), (other_steps, other)), key=lambda pair: len(pair[0]))
            if inner[0][: len(outer[0])] != outer[0]:
                continue
            if inner[0] == outer[0] or not isinstance(outer[1].part.rule, move.Move):
                where = getattr(place.at, side) + "".join(inner[0])
                yield f"{inner[1].part.label}: {where or 'the item'} at {side} is in {outer[1].part.label} too"


class _Walk:
    """Goes through both schemas side by side."""

    def __init__(self, place: Place, spoke: set[Steps], hub: set[Steps]) -> None:
        self._place = place
        self._touched = {"spoke": spoke, "hub": hub}

    def root(self, spoke: structural.Node, hub: structural.Node) -> None:
        """One level from its beginning; the item as a whole may be in a rule."""
        whole = {side: () in self._touched[side] for side in model.SIDES}
        if not whole["spoke"] and not whole["hub"]:
            self.both(spoke, hub, (), (), "")
        elif not whole["spoke"]:
            self._alone(spoke, "spoke", ())
        elif not whole["hub"]:
            self._alone(hub, "hub", ())

    def both(self, spoke: structural.Node, hub: structural.Node, at_spoke: Steps, at_hub: Steps, label: str) -> None:
        """Two places of which the one becomes the other as it is."""
        shapes_ = shapes.of(spoke), shapes.of(hub)
        if shapes.ANY in shapes_:
            return
        if shapes_[0] != shapes_[1]:
            self._differ(at_spoke, at_hub, label, shapes_)
        elif shapes_[0] == "object":
            self._objects(spoke, hub, at_spoke, at_hub, label)
        elif shapes_[0] == "array":
            if spoke.items and hub.items:
                self.both(spoke.items, hub.items, (*at_spoke, patterns.ANY_ITEM), (*at_hub, patterns.ANY_ITEM), label)
        else:
            self._values(spoke, hub, at_spoke, at_hub, label)

    def _objects(
        self, spoke: structural.Node, hub: structural.Node, at_spoke: Steps, at_hub: Steps, label: str
    ) -> None:
        if spoke.additional and hub.additional:
            step = patterns.ANY_KEY
            self.both(spoke.additional, hub.additional, (*at_spoke, step), (*at_hub, step), label)
        for name in dict.fromkeys((*spoke.properties, *hub.properties)):
            if not at_spoke and not at_hub and name == "metadata" and not self._place.at.spoke:
                continue
            step = path.field(name)
            here = self._free(spoke, name, "spoke", (*at_spoke, step))
            there = self._free(hub, name, "hub", (*at_hub, step))
            if here is not None and there is not None:
                self.both(here, there, (*at_spoke, step), (*at_hub, step), label)
            elif here is not None and name in spoke.properties:
                self._alone(here, "spoke", (*at_spoke, step))
            elif there is not None and name in hub.properties:
                self._alone(there, "hub", (*at_hub, step))

    def _free(self, holder: structural.Node, name: str, side: model.Side, at: Steps) -> structural.Node | None:
        """The schema of a field that is there and that no rule moves as a whole."""
        found = None if at in self._touched[side] else structural.child(holder, name)
        return found[0] if found else None

    def _alone(self, node: structural.Node, side: model.Side, at: Steps) -> None:
        """A place that the other version does not have: what no rule touches in it is complained of."""
        touched = self._touched[side]
        if at in touched:
            return
        if any(steps[: len(at)] == at for steps in touched):
            for name, inner in node.properties.items():
                self._alone(inner, side, (*at, path.field(name)))
            return
        where = getattr(self._place.at, side) + "".join(at)
        version, elsewhere = getattr(self._place.names, side), getattr(self._place.names, model.other(side))
        self._place.say(
            f"{where or 'the item'} of version {version} is in no rule, and {elsewhere} has no such field that is "
            f"free for it: write `only: {{{side}: {self._written(side, at)}}}`, or a rule that says what it becomes"
        )

    def _written(self, side: model.Side, at: Steps) -> str:
        """The path as the author would write it at the root of the object, in quotes where YAML wants them."""
        start: str = getattr(self._place.at, side)
        written = start + "".join(at)
        return f'"{written}"' if "[" in written else written

    def _differ(self, at_spoke: Steps, at_hub: Steps, label: str, found: tuple[str, str]) -> None:
        kind = "type" if set(found) <= set(shapes.SCALARS) else "move, single, template or python"
        self._say(at_spoke, at_hub, label, tuple(map(shapes.article, found)), f"write a rule of kind {kind}")

    def _values(self, spoke: structural.Node, hub: structural.Node, at_spoke: Steps, at_hub: Steps, label: str) -> None:
        left, right = spoke.raw.get("enum"), hub.raw.get("enum")
        if left is None or right is None:
            return
        missing = (_lacking(right, left), _lacking(left, right))
        if any(missing):
            found = tuple(f"without {', '.join(names)}" if names else "with more values" for names in missing)
            self._say(at_spoke, at_hub, label, found, "write a rule of kind map")

    def _say(self, at_spoke: Steps, at_hub: Steps, label: str, found: Sequence[str], remedy: str) -> None:
        names, at = self._place.names, self._place.at
        spoke, hub = at.spoke + "".join(at_spoke), at.hub + "".join(at_hub)
        left = f"{spoke or 'the item'} is {found[0]} at {names.spoke}"
        right = f"{found[1]} at {names.hub}" if spoke == hub else f"{hub or 'the item'} {found[1]} at {names.hub}"
        self._place.say(f"{label + ': ' if label else ''}{left} and {right}: {remedy}")


def _lacking(values: Iterable[object], among: Iterable[object]) -> list[str]:
    known = {gojson.encode(gojson.normal(value)) for value in among}
    return [text.decode() for value in values if (text := gojson.encode(gojson.normal(value))) not in known]
