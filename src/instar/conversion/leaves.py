"""Leaves, and at which of them two objects of one version differ.

A leaf is what server-side apply sees as one: a scalar, an atomic list, map or struct, an empty collection, an item of a
set, a field of an item of a keyed list. A keyless list is atomic; a keyed list or set that is not regular on either
side is one leaf. Absent is a value. Paths are readable texts (model/path.py).

=====================================  =============================================================================
``own`` against ``seen``               what differs
=====================================  =============================================================================
a leaf that is not seen, or otherwise  its path, its value, and what is seen there (a subtree counts)
a subtree that is not seen             each of its leaves; of an item of a keyed list not its keys, for its path says
                                       them, unless it has nothing else: then the item itself
something seen that own lacks          once, at the highest path that own lacks; the subtree seen there
an empty collection, and a full one    each thing in it that own lacks
the order of a keyed list or a set     at the place of its order (``/spec/containers[]``), where its items alone would
                                       not bring it back: the steps of own's items in order, and of these the indexes
                                       of those that are seen, as they are seen
=====================================  =============================================================================

``anchors`` counts the list items and map keys on the path that are seen: whether the place was there at all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from instar.conversion import listing
from instar.model import gojson, path
from instar.schema import structural

__all__ = ["ABSENT", "Difference", "differences"]


class _Absent:
    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Any = _Absent()
_CONTAINERS = frozenset((dict, list))
_EMPTY: dict[str, Any] = {}
Same = Callable[[str, Any, Any], bool]


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """One leaf: ``value`` of the one side, ``seen`` on the other (either may be ABSENT)."""

    path: str
    value: Any
    seen: Any
    anchors: int


def differences(
    own: dict[str, Any], seen: dict[str, Any], root: structural.Node, *, same: Same | None = None, judging: bool = False
) -> list[Difference]:
    """Every leaf at which ``own`` is not what is ``seen``.

    ``same(path, own, seen)`` may call two unequal values the same. In the judgement of what a client sees
    (``judging``), order differs only among the items that are seen.
    """
    if gojson.equal(own, seen):
        return []
    walk = _Walk(same, judging)
    walk.both(own, seen, root, "", 0)
    return walk.found


def _is(own: Any, seen: Any) -> bool:
    return type(own) is type(seen) and bool(own == seen)


class _Walk:
    def __init__(self, same: Same | None, judging: bool) -> None:
        self.found: list[Difference] = []
        self._same = same
        self._judging = judging

    def both(self, own: dict[str, Any], seen: dict[str, Any], node: structural.Node, where: str, anchors: int) -> None:
        """Two objects at a granular node."""
        properties = node.properties
        for name, value in own.items():
            other = seen.get(name, ABSENT)
            if gojson.equal(value, other) if type(value) in _CONTAINERS else _is(value, other):
                continue
            inner, is_key = structural.child(node, name) or (structural.ANY, True)
            self.value(value, other, inner, where + path.field(name), anchors + (is_key and other is not ABSENT))
        if len(seen) > len(own) or not own.keys() >= seen.keys():
            for name, other in seen.items():
                if name not in own:
                    anchor = 0 if name in properties else 1
                    self._add(where + path.field(name), ABSENT, other, anchors + anchor)

    def value(self, own: Any, seen: Any, node: structural.Node, where: str, anchors: int) -> None:
        """Anything at any node; ``own`` is there."""
        if type(own) is dict and not node.atomic:
            if type(seen) is dict:
                return self.both(own, seen, node, where, anchors)
            if own:
                for name, value in own.items():
                    inner, _ = structural.child(node, name) or (structural.ANY, True)
                    self.value(value, ABSENT, inner, where + path.field(name), anchors)
                return None
        elif type(own) is list and listing.keyed(node):
            return self._list(own, seen, node, where, anchors)
        if not gojson.equal(own, seen):
            self._add(where, own, seen, anchors)
        return None

    def _list(self, own: list[Any], seen: Any, node: structural.Node, where: str, anchors: int) -> None:
        mine = listing.index(own, node)
        theirs = listing.index(seen, node) if type(seen) is list else _EMPTY
        if mine is None or theirs is None or not (own or type(seen) is list):
            if not gojson.equal(own, seen):
                self._add(where, own, seen, anchors)
            return
        for step, item in mine.items():
            self._item(item, theirs.get(step, ABSENT), node, where, step, anchors)
        for step, item in theirs.items():
            if step not in mine:
                self._add(where + step, ABSENT, item, anchors + 1)
        self._ordered(list(mine), list(theirs), where, anchors)

    def _item(self, own: Any, seen: Any, node: structural.Node, where: str, step: str, anchors: int) -> None:
        assert node.items is not None
        if seen is not ABSENT:
            return self.value(own, seen, node.items, where + step, anchors + 1)
        if node.list_type == "set" or not all(key in own for key in node.map_keys):
            return self._add(where + step, own, ABSENT, anchors)
        others = {name: value for name, value in own.items() if name not in node.map_keys}
        if not others or node.items.atomic:
            return self._add(where + step, own, ABSENT, anchors)
        return self.value(others, ABSENT, node.items, where + step, anchors)

    def _ordered(self, mine: list[str], theirs: list[str], where: str, anchors: int) -> None:
        """Items come back where they were seen, new ones behind these in the order of their steps."""
        at = {step: index for index, step in enumerate(mine)}
        known = [at[step] for step in theirs if step in at]
        new = [] if self._judging else sorted(at.keys() - set(theirs))
        now = [mine[index] for index in sorted(known)] if self._judging else mine
        if [mine[index] for index in known] + new != now:
            self.found.append(Difference(path.order(where), mine, known, anchors))

    def _add(self, where: str, own: Any, seen: Any, anchors: int) -> None:
        if self._same is None or own is ABSENT or seen is ABSENT or not self._same(where, own, seen):
            self.found.append(Difference(where, own, seen, anchors))
