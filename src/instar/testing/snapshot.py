"""L15: which leaves a pair of versions carries is known, reviewed and kept beside the conversion.

A converter that loses a field it used to convert breaks no other law: the field is carried from then on, unseen by
clients of the other version. So the carried places are a file, written by ``instar prove --update`` and read by people.
It is made from the corpus, the golden pairs, objects that span the schemas, and a fixed number of drawn ones: whatever
the seed of the run, it is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from instar import errors
from instar.conversion import leaves, restoring
from instar.model import path
from instar.testing import cases, gathering, twin

__all__ = ["HOLDS", "KIND", "NAME", "TITLE", "Carried", "carried", "document", "judge", "parse", "survey"]

NAME, TITLE = "L15", "carried paths"
HOLDS = "each pair of versions carries the places that the snapshot lists, no more and no fewer"
KIND = "CarriedPaths"
What = Literal["values", "absences", "orders"]
WHATS: tuple[What, ...] = ("values", "absences", "orders")
Carried = tuple[str, str, What, str]
"""From, to, what is carried, and its place."""
_DRAWN = 800


def survey(of: twin.Twin, real: Sequence[gathering.Source]) -> dict[Carried, str]:
    """What is carried, each with the first object that shows it."""
    found: dict[Carried, str] = {}
    for sources in (real, gathering.spanned(of, real), gathering.drawn(of, real, _DRAWN, "fixed")):
        for source in sources:
            for entry in carried(of, source.object):
                found.setdefault(entry, source.origin)
    return found


def carried(of: twin.Twin, written: cases.Document) -> Iterator[Carried]:
    """What one object carries at each other version."""
    source = cases.version_of(written)
    document_ = of.written(written)
    there = restoring.Body(of.body(document_), of.sides[source].node)
    for target in of.others(source):
        try:
            outcome = of.outcome(document_, target)
        except errors.ConversionError:
            continue
        for where in outcome.carried:
            yield source, target, _what(there, where), of.place(source, where)


def _what(there: restoring.Body, where: str) -> What:
    if path.of_order(where) is not None:
        return "orders"
    return "absences" if there.get(path.parse(where))[0] is leaves.ABSENT else "values"


def judge(
    snapshot: frozenset[Carried] | None, fixed: Mapping[Carried, str], met: Mapping[Carried, str]
) -> Iterator[cases.Finding]:
    """Places that are new, and places that are carried no more."""
    if snapshot is None:
        text = "there is no snapshot of what is carried: run `instar prove --update` and review the file it writes"
        yield cases.Finding(law=NAME, path="/", place="/", problem=text)
        return
    for entry, origin in sorted({**met, **fixed}.items()):
        if entry not in snapshot:
            known = "" if entry in fixed else "; put this object into the corpus first"
            text = f"{_named(entry)} is carried, and not in the snapshot (seen on: {origin}); if that is meant, run "
            yield _finding(entry, f"{text}`instar prove --update`{known}")
    for entry in sorted(snapshot - fixed.keys()):
        text = f"{_named(entry)} is in the snapshot, and no object carries it any more; if that is meant, run "
        yield _finding(entry, f"{text}`instar prove --update`")


def _named(entry: Carried) -> str:
    return {"values": "", "absences": "the absence of ", "orders": "the order of "}[entry[2]] + entry[3]


def _finding(entry: Carried, problem: str) -> cases.Finding:
    source, target, _, where = entry
    return cases.Finding(law=NAME, path=where, place=where, problem=problem, source=source, target=target)


def document(group: str, kind: str, entries: Iterable[Carried]) -> dict[str, Any]:
    """The snapshot as it is written."""
    pairs: dict[tuple[str, str], dict[str, list[str]]] = {}
    for source, target, what, where in sorted(entries):
        pairs.setdefault((source, target), {}).setdefault(what, []).append(where)
    return {
        "apiVersion": "instar.dev/v1alpha1",
        "kind": KIND,
        "group": group,
        "for": kind,
        "carried": [
            {"from": source, "to": target, **{what: found[what] for what in WHATS if what in found}}
            for (source, target), found in pairs.items()
        ],
    }


def parse(read: Any) -> frozenset[Carried]:
    """The snapshot as it was read; UsageError where it is none."""
    try:
        if read["kind"] != KIND:
            raise errors.UsageError(f"kind is {read['kind']!r}, not {KIND}")
        return frozenset(
            (pair["from"], pair["to"], what, str(where))
            for pair in read["carried"]
            for what in WHATS
            for where in pair.get(what) or ()
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise errors.UsageError(f"not a snapshot of carried paths: {type(error).__name__}: {error}") from error
