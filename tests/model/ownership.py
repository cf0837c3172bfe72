"""Who owns what by server-side apply, as far as it decides what a give-up removes and what conflicts.

A leaf belongs to a manager at the version that it spoke. Whoever changes a leaf takes it from all who see the change at
their version; an apply that would do so without force is a conflict. What a manager applied and now leaves out goes,
unless somebody else owns it, at whatever version: then it stays as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from tests.model import relations
from tests.model.example import Example, Said, other
from tests.model.relations import FORGOTTEN, MISSING

Leaf = tuple[str, str]
"""A relation, and one of its members where its value is a map."""
Owner = tuple[str, str]
"""A manager, and the version of its updates, or nothing for its applies (they are one, whatever the version)."""
EDITOR, ENTRY = "editor", "entry"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Owned:
    """What one owner owns, in the words of the version that it spoke."""

    version: str
    leaves: frozenset[Leaf]


Owners = Mapping[Owner, Owned]


def leaves(example: Example, said: Said) -> dict[Leaf, object]:
    """What can be owned by appliers of an object, with its values; and its entries, which belong to who sent them."""
    found: dict[Leaf, object] = _entries(example, said)
    for name in example.applied:
        value = said.values[name]
        if isinstance(value, dict):
            found |= {(name, member): below for member, below in value.items()}
        elif value is not MISSING:
            found[name, ""] = value
    return found


def _entries(example: Example, said: Said) -> dict[Leaf, object]:
    """The annotations of what is carried, and the one that is about all of it."""
    carried = example.carried(said)
    texts: dict[Leaf, object] = {(ENTRY, name): repr(said.memory[name]) for name in carried}
    return {**texts, (ENTRY, ""): repr(sorted(said.memory.items()))} if carried else {}


def changed(example: Example, before: Said | None, after: Said) -> set[Leaf]:
    """The leaves that a write added, changed or removed, as seen at one version."""
    was, now = leaves(example, before) if before else {}, leaves(example, after)
    return {leaf for leaf in {*was, *now} if not relations.same(was.get(leaf, MISSING), now.get(leaf, MISSING))}


def without(owners: Owners, changes: Mapping[str, set[Leaf]], writer: Owner) -> dict[Owner, Owned]:
    """The owners once somebody else has made these changes (by version)."""
    return {
        owner: owned if owner == writer else dataclasses.replace(owned, leaves=owned.leaves - changes[owned.version])
        for owner, owned in owners.items()
    }


def undefaulted(example: Example, said: Said) -> Said:
    """What an object is at the other version for ownership: a default is nobody's word there."""
    there = example.converted(said)
    values = dict(there.values)
    for relation in example.all:
        silent = relation.place(said.version) is not None and said.values[relation.name] is MISSING
        if silent and relations.same(values[relation.name], relation.meaning(there.version, MISSING)):
            values[relation.name] = MISSING
    return dataclasses.replace(there, values=values)


def updated(example: Example, owners: Owners, at: str, changes: Mapping[str, set[Leaf]], after: Said) -> Owners:
    """The owners after a write that is no apply."""
    writer = (EDITOR, at)
    kept = without(owners, changes, writer)
    mine = owners[writer].leaves if writer in owners else frozenset()
    present = set(leaves(example, after))
    kept[writer] = Owned(version=at, leaves=frozenset((mine | changes[at]) & present))
    return kept


def dropped(owners: Owners, name: str, changes: Mapping[str, set[Leaf]], writer: Owner) -> Owners:
    """The owners once the entry of a relation is deleted: nobody has it, and nobody gets any other.

    What it said at its version is another value now, and nobody's: the writer said nothing about it.
    """
    gone = frozenset({(ENTRY, name)})
    of_values = {at: {leaf for leaf in found if leaf[0] != ENTRY} for at, found in changes.items()}
    kept = without(owners, of_values, writer)
    return {owner: dataclasses.replace(owned, leaves=owned.leaves - gone) for owner, owned in kept.items()}


def conflicts(owners: Owners, changes: Mapping[str, set[Leaf]], kept: Mapping[str, set[Leaf]], writer: Owner) -> bool:
    """Whether an apply changes (and does not merely remove) what others own."""
    return any(
        owned.leaves & changes[owned.version] & kept[owned.version]
        for owner, owned in owners.items()
        if owner != writer
    )


def given_up(example: Example, seen: Said, owners: Owners, writer: Owner, wanted: set[Leaf]) -> Said:
    """The object at a version without what its manager wanted before, does not want now, and nobody else owns."""
    mine = owners.get(writer)
    if mine is None:
        return seen
    others = [owned for owner, owned in owners.items() if owner != writer]
    values = dict(seen.values)
    for name in sorted({name for name, _ in mine.leaves}):
        here = {leaf for leaf in leaves(example, seen) if leaf[0] == name}
        left = {leaf for leaf in here if _gone(mine, leaf, here, wanted, seen.version)}
        held = {leaf for owned in others if owned.version == seen.version for leaf in owned.leaves}
        elsewhere = {leaf for owned in others if owned.version != seen.version for leaf in owned.leaves}
        left = {leaf for leaf in left - held if not any(_covers(leaf, one) for one in elsewhere)}
        if left:
            values[name] = _less(values[name], left)
    after = dataclasses.replace(seen, values=values)
    return dataclasses.replace(after, memory=_unsaid(example, after, mine, others, wanted))


def _unsaid(
    example: Example, seen: Said, mine: Owned, others: list[Owned], wanted: set[Leaf]
) -> Mapping[str, tuple[object, object]]:
    """The memory without what the manager had said at the other version, and this one does not show."""
    if mine.version == seen.version:
        return seen.memory
    held = {name for owned in others for name, _ in owned.leaves} | {name for name, _ in wanted}
    gone = {name for name, _ in mine.leaves if seen.values[name] is MISSING} - held
    unsaid = {name: _absent(example, name, seen) for name in gone}
    return {**seen.memory, **unsaid}


def _absent(example: Example, name: str, seen: Said) -> tuple[object, object]:
    """What is known of a thing that nobody says any more at the other version: that it is not there."""
    relation, there = next(one for one in example.all if one.name == name), other(seen.version)
    place = relation.place(there)
    if relation.place(seen.version) is None or place is None or example.defaulted(there, place.path):
        return FORGOTTEN, MISSING
    return MISSING, relation.meaning(seen.version, MISSING)


def _gone(mine: Owned, leaf: Leaf, here: set[Leaf], wanted: set[Leaf], version: str) -> bool:
    """Whether the manager had said this leaf, and says it no more."""
    had = leaf in mine.leaves or (mine.version != version and any(_covers(leaf, one) for one in mine.leaves))
    return had and leaf not in wanted


def _covers(leaf: Leaf, one: Leaf) -> bool:
    return leaf == one or (leaf[0] == one[0] and "" in (leaf[1], one[1]))


def _less(value: object, left: set[Leaf]) -> object:
    if not isinstance(value, dict):
        return MISSING
    return {name: below for name, below in value.items() if name not in {member for _, member in left}} or MISSING
