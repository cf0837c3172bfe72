"""Step 2 of carrying: which entries an edit has made void.

An entry is a candidate where the body shows its base, where the list items and map keys on its path are still there if
they were when it was made (plain parents need not be), and where no member of its declared group is refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from instar.conversion import categories, entries, restoring
from instar.conversion.hop import Side
from instar.conversion.leaves import ABSENT
from instar.model import gojson, path

__all__ = ["refused"]


def refused(side: Side, shown: restoring.Body, read: Mapping[str, entries.Entry]) -> dict[str, str]:
    """Step 2: why entries are no candidates."""
    found: dict[str, str] = {}
    fallen: set[categories.Instance] = set()
    for where, entry in read.items():
        reason = _edited(shown, entry) or _regrouped(side, shown, entry)
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


def _edited(shown: restoring.Body, entry: entries.Entry) -> str:
    of = path.of_order(entry.path)
    if of is not None:
        return _reordered(shown, of, entry)
    value, anchors = shown.get(path.parse(entry.path))
    if entry.base is ABSENT:
        if value is not ABSENT:
            return "an edit put something there"
        return "" if anchors >= entry.anchors else "its item is gone"
    if value is ABSENT:
        return "an edit removed it"
    if isinstance(entry.base, entries.Digest):
        same = entries.digest(value) == entry.base.text
    else:
        same = gojson.equal(value, entry.base)
    return "" if same else "an edit changed it"


def _regrouped(side: Side, shown: restoring.Body, entry: entries.Entry) -> str:
    instances = side.plan.instances(entry.path) if entry.group else []
    return "its group was edited" if instances and side.plan.shown(shown, instances) != entry.group else ""
