"""Step 2 of carrying: which entries an edit has made void.

An entry is a candidate where the body shows its base, where the list items and map keys on its path are still there if
they were when it was made (plain parents need not be: where one is gone, what counts is the default that would be seen
once it is back), and where no member of its declared group is refused.

A list without identity is one leaf, and yet an edit of one item is no edit of the others: where value and base have one
length, each position whose item is as it was takes what it carried, and each other keeps what the client put there. In
a list that became longer or shorter a position says less: there only an item that is like no other is known again.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from instar.conversion import entries, listing, restoring
from instar.conversion.hop import Side
from instar.conversion.leaves import ABSENT
from instar.model import gojson, path
from instar.schema import settling, structural

__all__ = ["Judged", "judge"]

CHANGED = "an edit changed it"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Judged:
    """Candidates by path, lists merged with their edits; why others are none, and of which items a list lost what."""

    chosen: Mapping[str, entries.Entry]
    refused: Mapping[str, str]
    partly: Mapping[str, str]


def judge(side: Side, shown: restoring.Body, read: Mapping[str, entries.Entry]) -> Judged:
    """Step 2."""
    chosen, partly = dict(read), {}
    found: dict[str, str] = {}
    for where, entry in read.items():
        found[where] = _edited(side, shown, entry) or _regrouped(side, shown, entry)
        merged = _merged(side, shown, entry) if found[where] == CHANGED else None
        if merged is not None:
            chosen[where], partly[where] = merged
            found[where] = _regrouped(side, shown, entry)
    refused = _fallen(side, {where: reason for where, reason in found.items() if reason}, read)
    return Judged(
        chosen={where: entry for where, entry in chosen.items() if where not in refused},
        refused=refused,
        partly={where: reason for where, reason in partly.items() if where not in refused},
    )


def _fallen(side: Side, refused: dict[str, str], read: Mapping[str, entries.Entry]) -> dict[str, str]:
    """With what is refused falls the rest of its groups."""
    if not side.plan.groups:
        return refused
    fallen = {instance for where in refused for instance in side.plan.instances(where)}
    while fallen:
        more = {where for where in read.keys() - refused.keys() if fallen.intersection(side.plan.instances(where))}
        if not more:
            break
        refused.update(dict.fromkeys(more, "its group was edited"))
        fallen.update(instance for where in more for instance in side.plan.instances(where))
    return refused


def _merged(side: Side, shown: restoring.Body, entry: entries.Entry) -> tuple[entries.Entry, str] | None:
    """A list without identity, item by item, and what was edited in it; None where nothing of it is left."""
    base, value = entry.base, entry.value
    steps = path.parse(entry.path) if path.of_order(entry.path) is None else ()
    node = structural.find(side.node, steps) if steps else None
    if type(value) is not list or node is None or listing.keyed(node):
        return None
    if type(base) is list:
        base = entries.items(base)
    now, _ = shown.get(steps)
    if not isinstance(base, entries.Items) or len(base.digests) != len(value) or type(now) is not list:
        return None
    same = _unedited(base.digests, entries.items(now).digests)
    merged = [value[index] if index in same else item for index, item in enumerate(now)]
    edited = [str(index) for index in range(len(value)) if index not in same]
    if not same:
        return None
    return dataclasses.replace(entry, value=merged), f"an edit changed its items {', '.join(edited[:10])}"


def _unedited(base: tuple[str, ...], now: tuple[str, ...]) -> set[int]:
    """The positions at which the item is the one that was there."""
    same = {index for index, (was, found) in enumerate(zip(base, now, strict=False)) if was == found}
    if len(base) == len(now):
        return same
    were, are = collections.Counter(base), collections.Counter(now)
    return {index for index in same if were[base[index]] == are[base[index]] == 1}


def _reordered(shown: restoring.Body, of: str, entry: entries.Entry) -> str:
    """An order is a candidate where the items that were seen and are still there stand as they stood."""
    steps = shown.steps(path.parse(of))
    if steps is None:
        return CHANGED
    seen = [entry.value[index] for index in entry.base]
    left, now = set(steps).intersection(seen), set(seen)
    same = [step for step in seen if step in left] == [step for step in steps if step in now]
    return "" if same else CHANGED


def _edited(side: Side, shown: restoring.Body, entry: entries.Entry) -> str:
    of = path.of_order(entry.path)
    if of is not None:
        return _reordered(shown, of, entry)
    steps = path.parse(entry.path)
    value, anchors = shown.get(steps)
    if entry.base is ABSENT:
        if value is not ABSENT and not _defaulted(side, steps, value):
            return "an edit put something there"
        return "" if anchors >= entry.anchors else "its item is gone"
    if value is ABSENT:
        value = _once_parents_are_back(side, shown, steps)
    if value is ABSENT:
        return "an edit removed it"
    if isinstance(entry.base, entries.Digest):
        same = entries.digest(value) == entry.base.text
    elif isinstance(entry.base, entries.Items):
        same = type(value) is list and entries.items(value) == entry.base
    else:
        same = gojson.equal(value, entry.base)
    return "" if same else CHANGED


def _once_parents_are_back(side: Side, shown: restoring.Body, steps: tuple[path.Step, ...]) -> Any:
    """The default that a leaf has once its plain parents are there again; ABSENT if they are there, or if none."""
    there = next(size for size in range(len(steps) - 1, -1, -1) if shown.get(steps[:size])[0] is not ABSENT)
    return next((value for size, value in _defaults(side, steps) if size > there), ABSENT)


def _defaulted(side: Side, steps: tuple[path.Step, ...], value: Any) -> bool:
    """Whether defaults alone put this there, once a plain parent came: that says nothing against what was carried."""
    return any(gojson.equal(found, value) for _, found in _defaults(side, steps))


def _defaults(side: Side, steps: tuple[path.Step, ...]) -> Iterator[tuple[int, Any]]:
    """What defaults put at a place, by how many of its parents are there; only where these are plain."""
    body: dict[str, Any] = {}
    inner, node = body, side.node
    for size, step in enumerate(steps[:-1], 1):
        if not isinstance(step, path.Field) or step.name not in node.properties:
            return
        inner, node = inner.setdefault(step.name, {}), node.properties[step.name]
        found, _ = restoring.Body(settling.settle(body, side.node, defaults=True), side.node).get(steps)
        if found is not ABSENT:
            yield size, found


def _regrouped(side: Side, shown: restoring.Body, entry: entries.Entry) -> str:
    instances = side.plan.instances(entry.path) if entry.group else []
    return "its group was edited" if instances and side.plan.shown(shown, instances) != entry.group else ""
