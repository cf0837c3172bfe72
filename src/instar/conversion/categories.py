"""What was declared about leaves of one version, ready to be asked for one path.

*carried* is what is not declared; *normalised* leaves differ only where their normaliser says so; *sensitive* ones are
never written to an annotation; *droppable* ones go first when the annotations are full. *Groups* stand or fall
together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from instar.conversion import definition, entries, patterns, restoring
from instar.conversion.leaves import ABSENT
from instar.model import gojson, path

__all__ = ["Instance", "Plan", "plan", "units"]

Pattern = tuple[str, ...]
Instance = tuple[int, tuple[str, ...]]
"""A declared group, and the items and keys that its wildcards stand for."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The declarations for one version."""

    groups: tuple[tuple[Pattern, ...], ...]
    normalised: tuple[tuple[Pattern, Callable[[Any], Any]], ...]
    sensitive: tuple[tuple[Pattern, definition.Sensitive], ...]
    droppable: tuple[Pattern, ...]

    def same(self, where: str, left: Any, right: Any) -> bool:
        """Whether two unequal values are two spellings of one."""
        steps = path.parse(where)
        for pattern, by in self.normalised:
            if len(pattern) == len(steps) and patterns.binding(pattern, steps) is not None:
                return _same(by, left, right)
        return False

    def secret(self, where: str, values: Iterable[Any]) -> definition.Sensitive | None:
        """The declaration that keeps this leaf, or something in its values, out of annotations."""
        steps = path.parse(path.of_order(where) or where)
        for pattern, declared in self.sensitive:
            if patterns.binding(pattern, steps) is not None:
                return declared
            if patterns.above(pattern, steps) and any(_holds(value, pattern[len(steps) :]) for value in values):
                return declared
        return None

    def instances(self, where: str) -> list[Instance]:
        """The groups of which this leaf is a member."""
        if not self.groups or path.of_order(where) is not None:
            return []
        steps = path.parse(where)
        found = []
        for number, members in enumerate(self.groups):
            bound = next((b for b in (patterns.binding(m, steps) for m in members) if b is not None), None)
            if bound is not None:
                found.append((number, bound[: _shared(members)]))
        return found

    def shown(self, body: restoring.Body, instances: Sequence[Instance]) -> str:
        """A digest of what a body shows at all members of these groups."""
        state = []
        for number, bound in instances:
            for member in self.groups[number]:
                where = _concrete(member, bound)
                value, _ = body.get(path.parse(where))
                state.append([where, [] if value is ABSENT else [value]])
        return entries.digest(state) if instances else ""


def plan(conversion: definition.Conversion, version: str) -> Plan:
    """What a conversion declares for one of its versions."""
    groups = (group.paths for group in conversion.groups if group.version == version)
    return Plan(
        groups=tuple(tuple(map(patterns.parse, members)) for members in groups),
        normalised=tuple(
            (patterns.parse(leaf.path), leaf.by) for leaf in conversion.normalised if leaf.version == version
        ),
        sensitive=tuple((patterns.parse(leaf.path), leaf) for leaf in conversion.sensitive if leaf.version == version),
        droppable=tuple(patterns.parse(leaf.path) for leaf in conversion.droppable if leaf.version == version),
    )


def units(leaves: Iterable[str], of: Plan) -> list[list[str]]:
    """The leaves in path order, those of a group together."""
    result: list[tuple[set[Instance], list[str]]] = []
    for leaf in sorted(leaves):
        instances = set(of.instances(leaf))
        joined = [unit for unit in result if unit[0] & instances]
        if not joined:
            result.append((instances, [leaf]))
            continue
        first, *others = joined
        first[0].update(instances, *(unit[0] for unit in others))
        first[1].extend([path_ for unit in others for path_ in unit[1]] + [leaf])
        result = [unit for unit in result if not any(unit is other for other in others)]
    return [unit[1] for unit in result]


def _same(by: Callable[[Any], Any], left: Any, right: Any) -> bool:
    try:
        return gojson.equal(by(gojson.copy(left)), by(gojson.copy(right)))
    except Exception:
        return False  # a value that its normaliser cannot read has one spelling: its own


def _holds(value: Any, tail: Pattern) -> bool:
    if value is ABSENT:
        return False
    if not tail:
        return True
    step, rest = tail[0], tail[1:]
    if type(value) is list:
        return step == patterns.ANY_ITEM and any(_holds(item, rest) for item in value)
    if type(value) is not dict:
        return False
    return any(_holds(item, rest) for name, item in value.items() if step in (patterns.ANY_KEY, path.field(name)))


def _shared(members: Sequence[Pattern]) -> int:
    """How many wildcards all members have: so many tell the instances of a group apart."""
    return min(sum(step in (patterns.ANY_ITEM, patterns.ANY_KEY) for step in member) for member in members)


def _concrete(member: Pattern, bound: tuple[str, ...]) -> str:
    """The member's path in one instance, up to a wildcard that is not bound."""
    left = list(bound)
    steps = []
    for step in member:
        if step in (patterns.ANY_ITEM, patterns.ANY_KEY):
            if not left:
                break
            step = left.pop(0)
        steps.append(step)
    return "".join(steps)
