"""Step 2 of carrying: which entries an edit has made void.

An entry is a candidate where the body shows its base, where the list items and map keys on its path are still there if
they were when it was made (plain parents need not be: where one is gone, what counts is the default that would be seen
once it is back), and where no member of its declared group is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from instar.conversion import categories, entries, restoring
from instar.conversion.hop import Side
from instar.conversion.leaves import ABSENT
from instar.model import gojson, path
from instar.schema import settling, structural

__all__ = ["refused"]


def refused(side: Side, shown: restoring.Body, read: Mapping[str, entries.Entry]) -> dict[str, str]:
    """Step 2: why entries are no candidates."""
    found: dict[str, str] = {}
    fallen: set[categories.Instance] = set()
    for where, entry in read.items():
        reason = _edited(side, shown, entry) or _regrouped(side, shown, entry)
        if reason:
            found[where] = reason
            fallen.update(side.plan.instances(where))
    while fallen:
        more = {where for where in read.keys() - found.keys() if fallen.intersection(side.plan.instances(where))}
        if not more:
            break
        found.update(dict.fromkeys(more, "its group was edited"))
        fallen.update(instance for where in more for instance in side.plan.instances(where))
    return found


def _reordered(shown: restoring.Body, of: str, entry: entries.Entry) -> str:
    """An order is a candidate where the items that were seen and are still there stand as they stood."""
    steps = shown.steps(path.parse(of))
    if steps is None:
        return "an edit changed it"
    seen = [entry.value[index] for index in entry.base]
    left, now = set(steps).intersection(seen), set(seen)
    same = [step for step in seen if step in left] == [step for step in steps if step in now]
    return "" if same else "an edit changed it"


def _edited(side: Side, shown: restoring.Body, entry: entries.Entry) -> str:
    of = path.of_order(entry.path)
    if of is not None:
        return _reordered(shown, of, entry)
    steps = path.parse(entry.path)
    value, anchors = shown.get(steps)
    if entry.base is ABSENT:
        if value is not ABSENT:
            return "an edit put something there"
        return "" if anchors >= entry.anchors else "its item is gone"
    if value is ABSENT:
        value = _once_parents_are_back(side, shown, steps)
    if value is ABSENT:
        return "an edit removed it"
    if isinstance(entry.base, entries.Digest):
        same = entries.digest(value) == entry.base.text
    else:
        same = gojson.equal(value, entry.base)
    return "" if same else "an edit changed it"


def _once_parents_are_back(side: Side, shown: restoring.Body, steps: tuple[path.Step, ...]) -> Any:
    """The default that a leaf has once its plain parents are there again; ABSENT if they are there, or if none."""
    there = next(size for size in range(len(steps) - 1, -1, -1) if shown.get(steps[:size])[0] is not ABSENT)
    if there == len(steps) - 1:
        return ABSENT
    for size in range(there, len(steps)):
        node, step = structural.find(side.node, steps[:size]), steps[size]
        if node is None or not isinstance(step, path.Field) or step.name not in node.properties:
            return ABSENT
    leaf = structural.find(side.node, steps)
    if leaf is None or leaf.default is structural.MISSING:
        return ABSENT
    return settling.settle(leaf.default, leaf, defaults=True)


def _regrouped(side: Side, shown: restoring.Body, entry: entries.Entry) -> str:
    instances = side.plan.instances(entry.path) if entry.group else []
    return "its group was edited" if instances and side.plan.shown(shown, instances) != entry.group else ""
