"""The cases of a run: real objects, objects that span each schema, drawn ones, and what is made of all of these.

Each object is a case by itself; read at each other version and changed there; taken in part; now and then spoilt, and
now and then sent with others in one call. Each draw has a seed of its own, from the seed of the run and the object's
origin, so that one case is the same whatever runs before it.
"""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from instar import errors
from instar.testing import cases, changing, making, places, spanning, spoiling, twin

__all__ = ["Source", "Sources", "drawn", "gather", "spanned"]

_DENSITIES = (0.2, 0.5, 0.8, 1.0)
_WORDS = (
    {"name": "x"},
    {"name": "x", "labels": {"app": "x"}},
    {"name": "x", "labels": {}, "annotations": {"example.com/note": "a"}},
)
_ODD, _BATCH, _BATCHED = 4, 16, 3


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """A real object and where it is from."""

    origin: str
    object: cases.Document


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Sources:
    """Where the objects of a run come from; ``examples`` are drawn besides, of each version its share.

    ``real`` ones stand beside the conversion and are the same in each run, ``live`` ones are not.
    """

    real: tuple[Source, ...] = ()
    live: tuple[Source, ...] = ()
    examples: int = 500
    seed: int = 0


def gather(of: twin.Twin, sources: Sources) -> Iterator[cases.Case]:
    """Every case, in a fixed order."""
    for version in of.versions:
        head, node = _head(of, version), of.sides[version].node
        odd = itertools.chain(spoiling.emptied(head, node), spoiling.outgrown(head, node))
        for number, document in enumerate(odd):
            yield cases.Case(kind="odd", origin=f"odd {number} at {version}", object=document)
    before: list[cases.Document] = []
    for number, source in enumerate(_all(of, sources)):
        yield from _cases(of, source, number, sources, before)
        before = [*before[-_BATCHED:], source.object]


def _all(of: twin.Twin, sources: Sources) -> Iterator[Source]:
    yield from sources.real
    yield from sources.live
    yield from spanned(of, sources.real)
    yield from drawn(of, sources.real, sources.examples, str(sources.seed))


def spanned(of: twin.Twin, real: Sequence[Source]) -> Iterator[Source]:
    """Objects that span the schema of each version, whatever the seed."""
    for version in of.versions:
        bodies = spanning.bodies(of.sides[version].node, _seen(of, real, version))
        for number, body in enumerate(bodies):
            document = of.with_body({**_head(of, version), "metadata": {"name": "x"}}, body)
            if of.problem(document) is None:
                yield Source(origin=f"spanning {number} at {version}", object=document)


def drawn(of: twin.Twin, real: Sequence[Source], number: int, seed: str) -> Iterator[Source]:
    """So many valid objects, the versions in turn."""
    seen = {version: _seen(of, real, version) for version in of.versions}
    for index in range(number):
        version = of.versions[index % len(of.versions)]
        origin = f"drawn {index} at {version}, seed {seed}"
        document = _drawn(of, version, seen[version], random.Random(origin))
        if document is not None:
            yield Source(origin=origin, object=document)


def _drawn(
    of: twin.Twin, version: str, seen: Mapping[str, Sequence[Any]], chance: random.Random
) -> cases.Document | None:
    for _ in range(12):
        maker = making.Maker(chance=chance, density=chance.choice(_DENSITIES), seen=seen)
        metadata = dict(chance.choice(_WORDS))
        document = of.with_body({**_head(of, version), "metadata": metadata}, maker.body(of.sides[version].node))
        if of.problem(document) is None:
            return document
    return None


def _seen(of: twin.Twin, real: Sequence[Source], version: str) -> dict[str, list[Any]]:
    """What real objects have at each place; whole values at places that have nothing below."""
    seen: dict[str, list[Any]] = {}
    for source in real:
        if cases.version_of(source.object) == version and of.problem(source.object) is None:
            for pattern, value in places.found(of.body(source.object), of.sides[version].node):
                if value not in seen.setdefault(pattern, []) and value not in ({}, []):
                    seen[pattern].append(value)
    return {pattern: values for pattern, values in seen.items() if values}


def _head(of: twin.Twin, version: str) -> cases.Document:
    return {"apiVersion": of.sides[version].api_version, "kind": of.bound.conversion.kind}


def _cases(
    of: twin.Twin, source: Source, number: int, sources: Sources, before: Sequence[cases.Document]
) -> Iterator[cases.Case]:
    chance = random.Random(f"{sources.seed}/{source.origin}")
    whole = cases.Case(kind="whole", origin=source.origin, object=source.object)
    yield whole
    for client in of.others(whole.version):
        change = _change(of, source.object, client, chance)
        if change is not None:
            yield dataclasses.replace(whole, kind="edited", change=change)
    yield dataclasses.replace(whole, kind="partial", salt=chance.randrange(10_000))
    if number % _ODD == 0:
        yield dataclasses.replace(whole, kind="odd", object=spoiling.spoilt(of.written(source.object), chance))
    if number % _BATCH == _BATCHED:
        yield dataclasses.replace(whole, kind="batch", others=tuple(before))


def _change(of: twin.Twin, document: cases.Document, client: str, chance: random.Random) -> cases.Change | None:
    try:
        read = of.read(of.written(document), client)
    except errors.ConversionError:
        return None
    return changing.draw(of.body(read), of.sides[client].node, client, making.Maker(chance=chance))
