"""Puts carried leaves back into a body, and looks up what a body shows at a path.

Absences first, then values, then orders, each in path order. Removing never removes a parent; setting creates the
parents, and replaces one that can hold nothing. Each list is indexed once for a body, not once for an entry.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from instar.conversion import listing
from instar.conversion.leaves import ABSENT
from instar.model import gojson, path
from instar.schema import settled, structural

__all__ = ["Body", "holders", "put", "restore", "restored"]


_CONTAINERS = frozenset((dict, list))


class Body:
    """A body with the indexes of its lists. Lookups and changes by path."""

    def __init__(self, body: dict[str, Any], root: structural.Node) -> None:
        self.body = body
        self._root = root
        self._indexes: dict[int, tuple[list[Any], listing.Index | None]] = {}
        self._stale: set[int] = set()

    def get(self, steps: Iterable[path.Step]) -> tuple[Any, int]:
        """What stands at a path (ABSENT if nothing), and how many items and map keys on the way are there.

        -1 where a list on the way is not regular: there is no way to one of its items.
        """
        value: Any = self.body
        node, anchors = self._root, 0
        for step in steps:
            if type(value) is list and not isinstance(step, path.Field) and self._index(value, node) is None:
                return ABSENT, -1
            value, inner, anchor = self._down(value, node, step)
            if value is ABSENT:
                return ABSENT, anchors
            node, anchors = inner, anchors + anchor
        return value, anchors

    def steps(self, steps: Iterable[path.Step]) -> list[str] | None:
        """The steps of the items of the list at a path, none if there is no list; None where it is not regular."""
        items, _ = self.get(steps := tuple(steps))
        node = structural.find(self._root, steps)
        if type(items) is not list or node is None:
            return []
        index = self._index(items, node)
        return None if index is None else list(index)

    def set(self, steps: tuple[path.Step, ...], value: Any) -> None:
        """The value at the path, whatever was there."""
        holder, node = self._holder(steps)
        self._put(holder, node, steps[-1], value)

    def remove(self, steps: tuple[path.Step, ...]) -> None:
        """Nothing at the path; its parents stay."""
        holder, node = self.body, self._root
        value: Any = holder
        for step in steps[:-1]:
            value, node, _ = self._down(value, node, step)
            if value is ABSENT:
                return
        last = steps[-1]
        if isinstance(last, path.Field):
            if type(value) is dict:
                value.pop(last.name, None)
        elif type(value) is list:
            index = self._index(value, node)
            if index is not None and index.pop(last.text, ABSENT) is not ABSENT:
                self._stale.add(id(value))

    def order(self, steps: tuple[path.Step, ...], wanted: list[str]) -> None:
        """The items of a list in this order; one that it does not name stays behind its predecessor."""
        items, _ = self.get(steps)
        node = structural.find(self._root, steps)
        index = self._index(items, node) if type(items) is list and node is not None else None
        if not index:
            return
        present, named = list(index), set(wanted)
        behind: dict[str, str] = dict(itertools.pairwise(["", *(step for step in wanted if step in index)]))
        for before, step in itertools.pairwise(["", *present]):
            if step not in named:
                if before in behind:
                    behind[step] = behind[before]
                behind[before] = step
        result, at = {}, ""
        while at in behind:
            at = behind[at]
            result[at] = index[at]
        items[:] = result.values()
        self._indexes[id(items)] = (items, result)
        self._stale.discard(id(items))

    def settle(self) -> None:
        """Brings lists up to their indexes: an item that goes, or is another, moves none of the others at once."""
        for known in self._stale:
            items, index = self._indexes[known]
            if index is not None:
                items[:] = index.values()
        self._stale.clear()

    def _holder(self, steps: tuple[path.Step, ...]) -> tuple[Any, structural.Node]:
        value: Any = self.body
        node = self._root
        for step, following in itertools.pairwise(steps):
            wanted = dict if isinstance(following, path.Field) else list
            inner, below, _ = self._down(value, node, step)
            if type(inner) is not wanted:
                self._put(value, node, step, wanted())
                inner, below, _ = self._down(value, node, step)
            value, node = inner, below
        return value, node

    def _put(self, holder: Any, node: structural.Node, step: path.Step, value: Any) -> None:
        if isinstance(step, path.Field):
            holder[step.name] = value
            return
        if isinstance(step, path.Item) and type(value) is dict and not value:
            value.update(step.keys)
        index = self._index(holder, node)
        if index is None:  # an irregular list has no way to one item; who asks has checked
            return
        if step.text in index:
            self._stale.add(id(holder))
        else:
            holder.append(value)
        index[step.text] = value

    def _down(self, value: Any, node: structural.Node, step: path.Step) -> tuple[Any, structural.Node, bool]:
        if isinstance(step, path.Field):
            if type(value) is not dict:
                return ABSENT, structural.ANY, False
            known = node.properties.get(step.name)
            if known is not None:
                return value.get(step.name, ABSENT), known, False
            return value.get(step.name, ABSENT), node.additional or structural.ANY, True
        if type(value) is not list:
            return ABSENT, structural.ANY, False
        return (self._index(value, node) or {}).get(step.text, ABSENT), node.items or structural.ANY, True

    def _index(self, items: list[Any], node: structural.Node) -> listing.Index | None:
        known = self._indexes.get(id(items))
        if known is None:  # the list is kept beside its index: an id is only one while its owner lives
            known = self._indexes[id(items)] = (items, listing.index(items, node))
        return known[1]


def restore(body: dict[str, Any], root: structural.Node, leaves: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """A copy of the body with these leaves (path, value or ABSENT) put back."""
    return restored(gojson.copy(body), root, leaves)


def put(body: settled.Settled, root: structural.Node, leaves: Iterable[tuple[str, Any]]) -> settled.Settled:
    """The same of a settled body. It is not settled anew: what is put there is to stand as it is."""
    leaves = list(leaves)
    printed = body.printed and not any(_may_hold_float(value) for _, value in leaves)
    return settled.as_it_is(restored(body.copy(), root, leaves), printed=printed)


def holders(body: settled.Settled, root: structural.Node, absent: Iterable[str]) -> list[tuple[str, Any]]:
    """Leaves that bring back the plain parents of absences, empty: else defaults would come with the parents."""
    shown = Body(body.value, root)
    found = {path.parent(where) for where in absent if path.of_order(where) is None}
    return [(where, {}) for where in sorted(found) if where and shown.get(path.parse(where))[0] is ABSENT]


def _may_hold_float(value: Any) -> bool:
    if type(value) is dict or type(value) is list:
        return gojson.may_hold_float(gojson.encode_printed(value))
    return type(value) is float


def restored(body: dict[str, Any], root: structural.Node, leaves: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The body, the caller's own, with these leaves put back."""
    target = Body(body, root)
    ordered = sorted(leaves, key=lambda leaf: leaf[0])
    lists = [(path.of_order(where), value) for where, value in ordered]
    for where, value in ordered:
        if value is ABSENT:
            target.remove(path.parse(where))
    for (where, value), (of, _) in zip(ordered, lists, strict=True):
        if value is not ABSENT and of is None:
            target.set(path.parse(where), gojson.copy(value) if type(value) in _CONTAINERS else value)
    for of, value in lists:
        if of is not None:
            target.order(path.parse(of), value)
    target.settle()
    return target.body
