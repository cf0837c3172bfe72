"""Carrying what a version cannot express: one hop from version a to version b, for every converter.

    o, at a ---- bare(a->b) ----> y0          1, 2  which entries for b on o may come back
                                   | restore
    o ?=  <---- bare(b->a) ------ y           3     kept if nothing that the client sees is disturbed
      each leaf at which they differ ------>  4     is an entry for a, on y

1. o and its entries for b are as they were when these were put on it (its view says so): all of them come back.
2. Otherwise an entry is a candidate where y0 shows its base, where the list items and map keys on its path are still
   there if they were, and where no member of its declared group is refused.
3. All candidates are restored if each leaf of o that comes back without them comes back with them; else one by one in
   path order, a group as one. What o lacks may show, for a restored leaf brings its plain parents: step 4 hides it.
4. What still differs becomes entries for a. Entries for third versions pass; all others of ours go.

So there and back is exact for every converter, an edit always wins, and what no edit touched comes back. Entries are
untrusted: what does not fit the schema, the format or the kind is dropped and named, never an error.

Server-side apply converts objects to and fro and looks at which paths the answers have: one that is there only because
b has a default for it would keep what a manager has just given up. So where no stored object is decoded or encoded, the
answer lacks what b's defaults alone put there, and step 4 carries what would come back by a's defaults alone; all
entries are judged and based as for any other object. Stored objects have a uid and at that moment no resourceVersion;
those of the calculation have one, or no uid (measured on 1.37.2).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from instar import errors
from instar.conversion import (
    annotated,
    bare,
    budget,
    candidates,
    categories,
    emptied,
    entries,
    leaves,
    listing,
    named,
    restoring,
    untrusted,
)
from instar.conversion.hop import Drop, Hop, Outcome, Side
from instar.conversion.leaves import ABSENT
from instar.model import gojson, path
from instar.schema import settled, structural
from instar.schema.settled import Settled

__all__ = ["convert"]


def convert(hop: Hop, obj: Mapping[str, Any], *, owned: bool = False) -> Outcome:
    """The object at the hop's target. Raises ConversionError; shares nothing of its argument.

    It changes nothing of it either, unless it is the caller's to give (``owned``).
    """
    metadata = obj.get("metadata")
    metadata = metadata if type(metadata) is dict else {}
    found = annotated.sort(hop, metadata.get("annotations"))
    own = _own(hop, obj, metadata)
    run = _Run(hop, own, annotated.shown(metadata, found), stored=_stored(metadata), seen=_seen(metadata), owned=owned)
    dropped = run.merge(found.mine) if found.mine else ()
    answer = run.answer()
    framed = annotated.framed(metadata, found, hop.names, answer.value.get("metadata"))
    carried, written = _carry(hop, run, framed.get("annotations"), run.differing(answer))
    return Outcome(
        api_version=hop.target.api_version,
        kind=hop.kind,
        metadata=annotated.added(framed, written),
        body=answer,
        carried=carried,
        restored=run.restored,
        dropped=dropped,
    )


def _stored(metadata: Mapping[str, Any]) -> bool:
    return bool(metadata.get("uid")) and not metadata.get("resourceVersion")


def _seen(metadata: Mapping[str, Any]) -> bool:
    """Whether somebody sees it: clients and admission do. In a calculation there are no managedFields, or ``[{}]``."""
    return _stored(metadata) or any(metadata.get("managedFields") or ())


class _Run:
    """The bodies of one conversion: what came (own), what it became (result), and that taken back (back)."""

    def __init__(self, hop: Hop, own: _Own, metadata: dict[str, Any], *, stored: bool, seen: bool, owned: bool) -> None:
        self._hop = hop
        self._metadata = metadata
        self._stored = stored
        self._seen = seen
        self._sparse = not seen or (not stored and bool(metadata.get("resourceVersion")))
        self.own = own.body
        self._whole = own.body if own.whole else None
        argument = own.body.give() if owned else own.body.copy()
        self._plain = bare.run(hop.forward, argument, metadata, defaults=stored)
        self.result = self._plain if stored else settled.settle(self._plain.value, hop.target.node, defaults=True)
        self._first = self.result
        self._back: Settled | None = None
        self._put_back: list[tuple[str, Any]] = []
        self.restored: tuple[str, ...] = ()

    def reversed(self, body: Settled, *, defaults: bool = True) -> Settled:
        """A body of the target, taken back."""
        return bare.run(self._hop.reverse, body.copy(), self._metadata, defaults=defaults, expected=self._whole)

    def back(self) -> Settled:
        """The result taken back."""
        if self._back is None:
            self._back = self._returned(self.result, defaults=True)
        return self._back

    def answer(self) -> Settled:
        """The result; without what the target's defaults alone put there where it is no stored object."""
        if self._stored:
            return self.result
        node = self._hop.target.node
        said = restoring.put(self._plain, node, self._put_back) if self._put_back else self._plain
        first = restoring.Body(self._first.value, node)
        alone = [
            (leaf.path, ABSENT)
            for leaf in _differences(said, self.result, node)
            if leaf.value is ABSENT and gojson.equal(first.get(path.parse(leaf.path))[0], leaf.seen)
        ]
        answer = restoring.put(self.result, node, alone) if alone else self.result
        return self._unemptied(answer) if self._sparse else answer

    def _unemptied(self, answer: Settled) -> Settled:
        """The answer without the plain objects that are empty and that entries bring back anyway."""
        node, kept = self._hop.target.node, set(self.restored)
        while places := sorted(set(emptied.places(answer.value, node)) - kept):
            less = restoring.put(answer, node, [(places[0], ABSENT)])
            if all(self._lost(less, defaults) <= self._lost(answer, defaults) for defaults in (False, True)):
                answer = less
            else:
                kept.add(places[0])
        return answer

    def _lost(self, answer: Settled, defaults: bool) -> set[str]:
        """The leaves that the answer alone does not bring back: those of entries here, or of a stored object."""
        side, back = self._hop.source, self._returned(answer, defaults=defaults)
        return {leaf.path for leaf in _differences(self.own, back, side.node)}

    def differing(self, answer: Settled) -> list[leaves.Difference]:
        """The leaves that need an entry: they do not come back from the answer, as it is or with its defaults."""
        side = self._hop.source
        if self._stored:
            return _differences(self.own, self.back(), side.node, same=_same(side))
        found = _differences(self.own, self._returned(answer, defaults=False), side.node, same=_same(side))
        if self._seen and answer is not self.result:
            found += self._defaulted({leaf.path for leaf in found})
        return [leaf for leaf in found if leaf.value is not ABSENT or leaf.seen != {}] if self._sparse else found

    def _defaulted(self, known: set[str]) -> list[leaves.Difference]:
        """What the defaults of the target would change: the API server sets them on what an admission webhook saw."""
        side = self._hop.source
        own = restoring.Body(self.own.value, side.node)
        whole = settled.settle(self.own.value, side.node, defaults=True)
        return [
            leaf
            for leaf in _differences(whole, self.back(), side.node, same=_same(side))
            if path.of_order(leaf.path) is None
            and gojson.equal(own.get(path.parse(leaf.path))[0], leaf.value)
            and not any(path.within(leaf.path, {one}) or path.within(one, {leaf.path}) for one in known)
        ]

    def _returned(self, body: Settled, *, defaults: bool) -> Settled:
        """A body taken back in step 4; a converter that raises here is found by ``prove`` first."""
        try:
            return self.reversed(body, defaults=defaults)
        except errors.ConversionError as error:
            text = f"and back to {self._hop.source.version}: {error.message}"
            raise errors.ConversionError(text, path=error.path) from error

    def merge(self, mine: Mapping[str, Any]) -> tuple[Drop, ...]:
        """Steps 1 to 3: puts entries back into the result."""
        read, dropped = untrusted.read(self._hop, mine)
        carried = {tail: text for tail, text in mine.items() if tail != entries.VIEW}
        if entries.VIEW in mine and mine[entries.VIEW] == _view(self._hop, self._hop.source, self._viewed(), carried):
            self._put_back = _leaves(read)
            self.result = restoring.put(self.result, self._hop.target.node, self._put_back)
            self.restored = tuple(sorted(read))
            return tuple(dropped)
        judged = candidates.judge(self._hop.target, restoring.Body(self.result.value, self._hop.target.node), read)
        kept = self._accept(judged.chosen, judged.partly) if judged.chosen else []
        dropped += [Drop(where, judged.refused[where]) for where in sorted(judged.refused)]
        dropped += [Drop(where, "an edit would be lost") for where in sorted(judged.chosen.keys() - set(kept))]
        dropped += [Drop(where, judged.partly[where]) for where in sorted(judged.partly.keys() & set(kept))]
        self.restored = tuple(sorted(kept))
        return tuple(dropped)

    def _with(self, body: Settled, back_in: list[tuple[str, Any]]) -> Settled:
        """A body with leaves put back. Parents that come with them have their defaults, as a read would give them."""
        node = self._hop.target.node
        if not self._stored:
            return restoring.put(body, node, back_in)
        absent = [(where, value) for where, value in back_in if value is ABSENT]
        holders = restoring.holders(body, node, [where for where, _ in absent])
        whole = settled.settle(restoring.restored(body.copy(), node, [*holders, *back_in]), node, defaults=True)
        return restoring.put(whole, node, absent) if absent else whole

    def _viewed(self) -> Settled:
        return self.own if self._stored else settled.settle(self.own.value, self._hop.source.node, defaults=True)

    def _accept(self, chosen: Mapping[str, entries.Entry], partly: Mapping[str, str]) -> list[str]:
        """Step 3: the paths of those that were restored."""
        try:
            without = self.reversed(self.result)
        except errors.ConversionError:
            return []
        first, self._back = self.result, without
        lost = self._missing(without)
        if self._restored(first, chosen, chosen, lost, merged=bool(partly)):
            return list(chosen)
        kept: list[str] = []
        units = categories.units(chosen, self._hop.target.plan)
        untried = [units[middle:], units[:middle]] if (middle := len(units) // 2) else []
        refused: list[str] = []
        while untried:  # halves first: where few of many disturb, most are taken together
            units = untried.pop()
            more = [where for unit in units for where in unit]
            if self._restored(first, chosen, kept + more, lost, merged=not partly.keys().isdisjoint(more)):
                kept += more
            elif middle := len(units) // 2:
                untried += [units[middle:], units[:middle]]
            else:
                refused += more
        for more in _side_by_side(refused):
            if self._restored(first, chosen, kept + more, lost, merged=not partly.keys().isdisjoint(more)):
                kept += more
        return kept

    def _restored(
        self,
        first: Settled,
        chosen: Mapping[str, entries.Entry],
        paths: Iterable[str],
        lost: set[str],
        *,
        merged: bool,
    ) -> bool:
        """Takes the entries into the result if that disturbs nothing."""
        back_in = _leaves({where: chosen[where] for where in paths})
        result = self._with(first, back_in)
        try:
            back = self.reversed(result)
        except errors.ConversionError:
            return False
        if not all(path.within(where, lost) for where in self._missing(back)):
            return False
        if merged and not self._nearer(back):
            return False
        self.result, self._back, self._put_back = result, back, back_in
        return True

    def _nearer(self, back: Settled) -> bool:
        """Whether all that comes back in another way than before comes back as it came.

        A list merged with its edits is nobody's value: where items moved, it would say of one what was said of another.
        """
        node, before = self._hop.source.node, self.back()
        off = {leaf.path for leaf in _differences(self.own, back, node)}
        moved = {leaf.path for leaf in _differences(before, back, node)}
        return not any(path.within(where, off) for where in moved) and not any(
            path.within(where, moved) for where in off
        )

    def _missing(self, back: Settled) -> set[str]:
        """The leaves that came and that this does not give back."""
        side = self._hop.source
        found = _differences(self.own, back, side.node, same=_same(side), judging=True)
        return {difference.path for difference in found if difference.value is not ABSENT}


def _side_by_side(refused: list[str]) -> list[list[str]]:
    """Leaves of one parent: what disturbs alone may disturb nothing beside its neighbours, declared a group or not."""
    by_parent: dict[str, list[str]] = {}
    for where in refused:
        by_parent.setdefault(path.parent(where), []).append(where)
    return [found for found in by_parent.values() if len(found) > 1]


def _same(side: Side) -> Callable[[str, Any, Any], bool] | None:
    return side.plan.same if side.plan.normalised else None


def _leaves(chosen: Mapping[str, entries.Entry]) -> list[tuple[str, Any]]:
    return [(where, entry.value) for where, entry in chosen.items()]


def _differences(
    own: Settled, seen: Settled, node: structural.Node, *, same: leaves.Same | None = None, judging: bool = False
) -> list[leaves.Difference]:
    if own.text == seen.text:
        return []
    return leaves.differences(own.value, seen.value, node, same=same, judging=judging)


@dataclasses.dataclass(frozen=True, slots=True)
class _Own:
    """What came; ``whole`` where it has all its defaults."""

    body: Settled
    whole: bool


def _own(hop: Hop, obj: Mapping[str, Any], metadata: Mapping[str, Any]) -> _Own:
    body = {name: value for name, value in obj.items() if name not in structural.META}
    if hop.names:
        body["metadata"] = named.take(hop.names, metadata)
    try:
        whole = settled.proven(body, hop.source.node, defaults=True)
        return _Own(whole or settled.settle(body, hop.source.node, defaults=False), whole is not None)
    except errors.JsonError as error:
        raise errors.ConversionError(error.message, path=error.path) from error
    except RecursionError:
        raise errors.ConversionError(f"nested deeper than {gojson.MAX_DEPTH} levels") from None


def _view(hop: Hop, side: Side, body: Settled, carried: Mapping[str, Any]) -> str:
    seen = {"apiVersion": side.api_version, "kind": hop.kind, **body.value}
    return entries.view(seen, carried, named=body.value.get("metadata"), printed=body.printed)


def _carry(
    hop: Hop, run: _Run, others: Any, differences: list[leaves.Difference]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Step 4: the entries for the source, as annotations, and their view."""
    side = hop.source
    if not differences:
        return (), {}
    seen = restoring.Body(run.back().value, side.node)
    written: dict[str, tuple[str, str]] = {}
    for difference in sorted(differences, key=lambda leaf: leaf.path):
        if not _sensitive(side, difference):
            key = hop.prefix + entries.key(side.version, difference.path)
            written[key] = (difference.path, entries.write(_entry(side, seen, difference), hop.kind))
    if not written:
        return (), {}
    view = f"{hop.prefix}{side.version}.{entries.VIEW}"
    written[view] = ("", "0" * entries.VIEW_LENGTH)
    kept = budget.fit(others if type(others) is dict else {}, written, side.plan)
    texts = {key: text for key, (_, text) in kept.items() if key != view}
    carried = {entries.split(key[len(hop.prefix) :])[1]: text for key, text in texts.items()}
    texts[view] = _view(hop, hop.target, run.result, carried)
    return tuple(where for where, _ in kept.values() if where), texts


def _entry(side: Side, seen: restoring.Body, difference: leaves.Difference) -> entries.Entry:
    base, anchors = difference.seen, difference.anchors
    if path.of_order(difference.path) is None:
        found, there = seen.get(path.parse(difference.path))
        base, anchors = _based(side, difference, found), max(there, 0)
    return entries.Entry(
        difference.path,
        difference.value,
        base,
        anchors,
        side.plan.shown(seen, side.plan.instances(difference.path)),
    )


def _based(side: Side, difference: leaves.Difference, found: Any) -> Any:
    """The base as it is written: of a list without identity for each item, so that an edit of one spares the others."""
    if type(difference.value) is list and type(found) is list:
        node = structural.find(side.node, path.parse(difference.path))
        if node is not None and not listing.keyed(node):
            return entries.itemised(difference.value, found)
    return entries.shortened(found)


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
