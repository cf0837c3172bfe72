"""Entries are input that anyone can write: what may stand where it says, and nothing else.

Never into metadata but where a rule names a label or an annotation, never a value that the schema refuses at that
place, never an item other than its path's. What is dropped is named with its reason; it is never an error, for one
client's garbage must not fail everybody's list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from instar import errors
from instar.conversion import entries, listing
from instar.conversion.hop import Drop, Hop, Side
from instar.conversion.leaves import ABSENT
from instar.model import gojson, path
from instar.schema import structural, validation

__all__ = ["read"]

NAMED = 3  # steps to a label or an annotation: /metadata/labels/<key>; the schema has those that rules name


def read(hop: Hop, mine: Mapping[str, Any]) -> tuple[dict[str, entries.Entry], list[Drop]]:
    """The entries for the target by path, each fit to stand there; and those that are not."""
    read: dict[str, entries.Entry] = {}
    dropped = []
    for tail in sorted(mine):
        if tail == entries.VIEW:
            continue
        try:
            entry = entries.read(mine[tail], tail, hop.kind)
            _judge(hop.target, entry)
        except entries.Malformed as error:
            dropped.append(Drop(f"{hop.prefix}{hop.target.version}.{tail}", str(error)))
        else:
            read[entry.path] = entry
    return read, dropped


def _judge(side: Side, entry: entries.Entry) -> None:
    """Entries can be forged: never into metadata, never what the schema would refuse."""
    of = path.of_order(entry.path)
    steps = path.parse(entry.path if of is None else of)
    first = steps[0].name if steps and isinstance(steps[0], path.Field) else "metadata"
    if first in structural.META and (first != "metadata" or len(steps) != NAMED or of is not None):
        raise entries.Malformed("not a place for entries")
    node = structural.place(side.node, entry.path if of is None else of)
    if node is None and first in structural.META:
        raise entries.Malformed("not a place for entries")
    if node is None:
        raise entries.Malformed("no such place in the schema")
    if of is not None:
        _judge_order(side, of, node, entry)
        return
    problem = None if entry.value is ABSENT else _problem(entry.value, node, steps[-1])
    if problem:
        raise entries.Malformed(f"not valid there: {problem}")
    _judge_keys(side, steps, entry.value)


def _problem(value: Any, node: structural.Node, last: path.Step) -> str | None:
    """Why a value may not stand there. An item of nothing but its keys is one leaf, its other fields are others: what
    the whole item requires is no question of it (server-side apply hands such items around)."""
    if isinstance(last, path.Item) and type(value) is dict and value.keys() <= dict(last.keys).keys():
        found = ((structural.child(node, name), item) for name, item in value.items())
        return next((text for child, item in found if child and (text := validation.problem(item, child[0]))), None)
    return validation.problem(value, node)


def _judge_order(side: Side, of: str, node: structural.Node, entry: entries.Entry) -> None:
    """Steps of items of that list, each once, and indexes of some of them."""
    steps, base = entry.value, entry.base
    if not listing.keyed(node) or type(steps) is not list or type(base) is not list:
        raise entries.Malformed("not an order")
    if any(type(step) is not str for step in steps) or any(type(index) is not int for index in base):
        raise entries.Malformed("not an order")
    if len(set(steps)) < len(steps) or len(set(base)) < len(base) or not set(base) <= set(range(len(steps))):
        raise entries.Malformed("not an order")
    try:
        places = [structural.find(side.node, path.parse(of + step)) for step in steps]
    except errors.UsageError:
        raise entries.Malformed("not an order") from None
    if any(place is not node.items for place in places):
        raise entries.Malformed("not an order")


def _judge_keys(side: Side, steps: tuple[path.Step, ...], value: Any) -> None:
    """What an item's path says of its keys, its value must say too."""
    last, before = steps[-1], steps[-2] if len(steps) > 1 else None
    if isinstance(last, path.Element) and value is not ABSENT and not gojson.equal(value, last.value):
        raise entries.Malformed("not the item of its path")
    if isinstance(last, path.Item) and value is not ABSENT:
        node = structural.find(side.node, steps)
        defaults = node.defaulted if node else {}
        if any(not gojson.equal(value.get(key, defaults.get(key)), wanted) for key, wanted in last.keys):
            raise entries.Malformed("not the item of its path")
    if isinstance(last, path.Field) and isinstance(before, path.Item):
        wanted = dict(before.keys)
        if last.name not in wanted:
            return
        item = structural.find(side.node, steps[:-1])
        found = value if value is not ABSENT or item is None else item.defaulted.get(last.name)
        if not gojson.equal(found, wanted[last.name]):
            raise entries.Malformed("not the key of its item")
