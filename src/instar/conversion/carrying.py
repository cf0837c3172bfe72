"""Carrying what a version cannot express: one hop from version a to version b, for every converter.

    o, at a ---- bare(a->b) ----> y0          1, 2  which entries for b on o may come back
                                   | restore
    o ?=  <---- bare(b->a) ------ y           3     kept if nothing that the client sees is disturbed
      each leaf at which they differ ------>  4     is an entry for a, on y

1. o is as it was when its entries for b were put on it (its view says so): all of them come back.
2. Otherwise an entry is a candidate where y0 shows its base, where the list items and map keys on its path are still
   there if they were, and where no member of its declared group is refused.
3. All candidates are restored if each leaf of o that comes back without them comes back with them; else one by one in
   path order, a group as one. What o lacks may show, for a restored leaf brings its plain parents: step 4 hides it.
4. What still differs becomes entries for a. Entries for third versions pass; all others of ours go.

So there and back is exact for every converter, an edit always wins, and what no edit touched comes back. Entries are
untrusted: what does not fit the schema, the format or the kind is dropped and named, never an error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from instar import errors
from instar.conversion import bare, budget, categories, entries, leaves, listing, restoring
from instar.conversion.leaves import ABSENT
from instar.model import gojson, path
from instar.schema import settling, structural, validation

__all__ = ["Drop", "Hop", "Outcome", "Side", "convert"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Side:
    """One version: its schema and what was declared about its leaves."""

    version: str
    api_version: str
    node: structural.Node
    plan: categories.Plan


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Hop:
    """From a version to another by one pair of functions."""

    kind: str
    prefix: str
    source: Side
    target: Side
    forward: bare.Direction
    reverse: bare.Direction


@dataclasses.dataclass(frozen=True, slots=True)
class Drop:
    """An entry that did not come back: its path, or its key where it has none, and why."""

    path: str
    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The converted object, what it carries for the version it came from, and what became of the entries it brought."""

    object: dict[str, Any]
    carried: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()
    dropped: tuple[Drop, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Sorted:
    """The annotations of an object: everybody's, ours for third versions, ours for the target by tail."""

    others: dict[str, Any]
    third: dict[str, Any]
    mine: dict[str, Any]


def convert(hop: Hop, obj: Mapping[str, Any]) -> Outcome:
    """The object at the hop's target. Raises ConversionError; changes and shares nothing of its argument."""
    metadata = obj.get("metadata")
    metadata = metadata if type(metadata) is dict else {}
    found = _sort(hop, metadata.get("annotations"))
    own = _own(hop, obj)
    run = _Run(hop, own, _shown(metadata, found))
    restored: tuple[str, ...] = ()
    dropped: tuple[Drop, ...] = ()
    if found.mine:
        restored, dropped = run.merge(found.mine)
    carried, annotations = _carry(hop, run, found)
    result = {
        "apiVersion": hop.target.api_version,
        "kind": hop.kind,
        "metadata": _metadata(metadata, found, annotations),
        **run.result,
    }
    return Outcome(object=result, carried=carried, restored=restored, dropped=dropped)


class _Run:
    """The bodies of one conversion: what came (own), what it became (result), and that taken back (back)."""

    def __init__(self, hop: Hop, own: dict[str, Any], metadata: dict[str, Any]) -> None:
        self._hop = hop
        self._metadata = metadata
        self.own = own
        self.result = bare.convert(hop.forward, own, metadata)
        self._back: dict[str, Any] | None = None

    def reversed(self, body: dict[str, Any]) -> dict[str, Any]:
        """A body of the target, taken back."""
        return bare.convert(self._hop.reverse, body, self._metadata)

    def back(self) -> dict[str, Any]:
        """The result taken back; a converter that raises here is found by ``prove`` first."""
        if self._back is None:
            try:
                self._back = self.reversed(self.result)
            except errors.ConversionError as error:
                text = f"and back to {self._hop.source.version}: {error.message}"
                raise errors.ConversionError(text, path=error.path) from error
        return self._back

    def merge(self, mine: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[Drop, ...]]:
        """Steps 1 to 3: puts entries back into the result."""
        read, dropped = _read(self._hop, mine)
        if mine.get(entries.VIEW) == entries.view(self._viewed()):
            self.result = restoring.restore(self.result, self._hop.target.node, _leaves(read))
            return tuple(sorted(read)), tuple(dropped)
        refused = _refused(self._hop.target, restoring.Body(self.result, self._hop.target.node), read)
        candidates = {where: entry for where, entry in read.items() if where not in refused}
        kept = self._accept(candidates) if candidates else []
        dropped += [Drop(where, refused[where]) for where in sorted(refused)]
        dropped += [Drop(where, "an edit would be lost") for where in sorted(candidates.keys() - set(kept))]
        return tuple(sorted(kept)), tuple(dropped)

    def _viewed(self) -> dict[str, Any]:
        return {"apiVersion": self._hop.source.api_version, "kind": self._hop.kind, **self.own}

    def _accept(self, candidates: Mapping[str, entries.Entry]) -> list[str]:
        """Step 3: the paths of those that were restored."""
        try:
            without = self.reversed(self.result)
        except errors.ConversionError:
            return []
        first, self._back = self.result, without
        lost = self._missing(without)
        if self._restored(first, candidates, candidates, lost):
            return list(candidates)
        kept: list[str] = []
        for unit in categories.units(candidates, self._hop.target.plan):
            if self._restored(first, candidates, kept + unit, lost):
                kept += unit
        return kept

    def _restored(
        self, first: dict[str, Any], candidates: Mapping[str, entries.Entry], paths: Iterable[str], lost: set[str]
    ) -> bool:
        """Takes the entries into the result if that disturbs nothing."""
        chosen = _leaves({where: candidates[where] for where in paths})
        result = restoring.restore(first, self._hop.target.node, chosen)
        try:
            back = self.reversed(result)
        except errors.ConversionError:
            return False
        if not all(path.within(where, lost) for where in self._missing(back)):
            return False
        self.result, self._back = result, back
        return True

    def _missing(self, back: dict[str, Any]) -> set[str]:
        """The leaves that came and that this does not give back."""
        side = self._hop.source
        found = leaves.differences(self.own, back, side.node, same=_same(side), judging=True)
        return {difference.path for difference in found if difference.value is not ABSENT}


def _same(side: Side) -> Callable[[str, Any, Any], bool] | None:
    return side.plan.same if side.plan.normalised else None


def _leaves(chosen: Mapping[str, entries.Entry]) -> list[tuple[str, Any]]:
    return [(where, entry.value) for where, entry in chosen.items()]


def _own(hop: Hop, obj: Mapping[str, Any]) -> dict[str, Any]:
    body = {name: value for name, value in obj.items() if name not in structural.META}
    try:
        own: dict[str, Any] = settling.settle(body, hop.source.node, defaults=False)
    except errors.JsonError as error:
        raise errors.ConversionError(error.message, path=error.path) from error
    except RecursionError:
        raise errors.ConversionError(f"nested deeper than {gojson.MAX_DEPTH} levels") from None
    return own


def _shown(metadata: Mapping[str, Any], found: _Sorted) -> dict[str, Any]:
    """The metadata that a converter sees: without managedFields and without our annotations."""
    shown = {name: value for name, value in metadata.items() if name != "managedFields"}
    if found.third or found.mine:
        shown["annotations"] = found.others
    return shown


def _sort(hop: Hop, annotations: Any) -> _Sorted:
    others: dict[str, Any] = {}
    third: dict[str, Any] = {}
    mine: dict[str, Any] = {}
    for key, text in annotations.items() if type(annotations) is dict else ():
        if not key.startswith(hop.prefix):
            others[key] = text
            continue
        version, tail = entries.split(key[len(hop.prefix) :])
        if version == hop.target.version:
            mine[tail] = text
        elif version != hop.source.version and tail:
            third[key] = text
    return _Sorted(others=others, third=third, mine=mine)


def _metadata(metadata: Mapping[str, Any], found: _Sorted, written: Mapping[str, str]) -> dict[str, Any]:
    """The object's own metadata; only our keys come and go."""
    result: dict[str, Any] = gojson.copy(metadata)
    if type(result.get("annotations")) is not dict and not written:
        return result
    annotations = {**found.others, **found.third, **written}
    if annotations or not metadata["annotations"]:
        result["annotations"] = annotations
    else:
        del result["annotations"]
    return result


def _read(hop: Hop, mine: Mapping[str, Any]) -> tuple[dict[str, entries.Entry], list[Drop]]:
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
    if not steps or not isinstance(steps[0], path.Field) or steps[0].name in structural.META:
        raise entries.Malformed("not a place for entries")
    node = structural.find(side.node, steps)
    if node is None:
        raise entries.Malformed("no such place in the schema")
    if of is not None:
        _judge_order(side, of, node, entry)
        return
    problem = None if entry.value is ABSENT else validation.problem(entry.value, node)
    if problem:
        raise entries.Malformed(f"not valid there: {problem}")
    _judge_keys(side, steps, entry.value)


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
        item = structural.find(side.node, steps[:-1])
        found = value if value is not ABSENT or item is None else item.defaulted.get(last.name)
        if last.name in wanted and not gojson.equal(found, wanted[last.name]):
            raise entries.Malformed("not the key of its item")


def _refused(side: Side, shown: restoring.Body, read: Mapping[str, entries.Entry]) -> dict[str, str]:
    """Step 2: why entries are no candidates."""
    refused: dict[str, str] = {}
    fallen: set[categories.Instance] = set()
    for where, entry in read.items():
        reason = _edited(shown, entry) or _regrouped(side, shown, entry)
        if reason:
            refused[where] = reason
            fallen.update(side.plan.instances(where))
    while fallen:
        more = {where for where in read.keys() - refused.keys() if fallen.intersection(side.plan.instances(where))}
        if not more:
            break
        refused.update(dict.fromkeys(more, "its group was edited"))
        fallen.update(instance for where in more for instance in side.plan.instances(where))
    return refused


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


def _carry(hop: Hop, run: _Run, found: _Sorted) -> tuple[tuple[str, ...], dict[str, str]]:
    """Step 4: the entries for the source, as annotations, and their view."""
    side, back = hop.source, run.back()
    differences = leaves.differences(run.own, back, side.node, same=_same(side))
    if not differences:
        return (), {}
    seen = restoring.Body(back, side.node)
    written: dict[str, tuple[str, str]] = {}
    for difference in sorted(differences, key=lambda leaf: leaf.path):
        if not _sensitive(side, difference):
            key = hop.prefix + entries.key(side.version, difference.path)
            written[key] = (difference.path, entries.write(_entry(side, seen, difference), hop.kind))
    if not written:
        return (), {}
    target = {"apiVersion": hop.target.api_version, "kind": hop.kind, **run.result}
    written[f"{hop.prefix}{side.version}.{entries.VIEW}"] = ("", entries.view(target))
    kept = budget.fit({**found.others, **found.third}, written, side.plan)
    return tuple(where for where, _ in kept.values() if where), {key: text for key, (_, text) in kept.items()}


def _entry(side: Side, seen: restoring.Body, difference: leaves.Difference) -> entries.Entry:
    return entries.Entry(
        difference.path,
        difference.value,
        entries.shortened(difference.seen) if path.of_order(difference.path) is None else difference.seen,
        difference.anchors,
        side.plan.shown(seen, side.plan.instances(difference.path)),
    )


def _sensitive(side: Side, difference: leaves.Difference) -> bool:
    """Whether the leaf is lost by declaration; ConversionError where it may not be."""
    declared = side.plan.secret(difference.path, (difference.value, difference.seen)) if side.plan.sensitive else None
    if declared is not None and not declared.loss:
        raise errors.ConversionError(
            f"{difference.path} is sensitive, does not survive, and is never written to an annotation: "
            "express it in both versions, or declare its loss",
            path=difference.path,
        )
    return declared is not None
