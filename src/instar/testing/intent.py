"""L14: golden pairs, written by hand, say what a converter is for; without them an empty one obeys every other law.

==================  ================================================================================================
documents           what they say
==================  ================================================================================================
one, two            the first converts to the second, and the second to the first
one, two, three     the first converts to the second, and the second alone to the third, at the first's version
one, ``edited:``,   the first, read at ``edited.version`` and changed there by the merge patch ``edited.merge``, is
two                 the second at its own version
one, ``refused:``   the first does not convert to ``refused.version``; the message has ``refused.message`` in it
==================  ================================================================================================

Defaults of each version are filled in before the comparison, and what is carried is left out. All pairs together must
hold every leaf of every schema.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from instar import errors
from instar.conversion import leaves
from instar.testing import cases, places, twin

__all__ = ["HOLDS", "NAME", "TITLE", "Golden", "judge", "missing"]

NAME, TITLE = "L14", "intent"
HOLDS = "every golden pair converts as it says, and together they have every leaf of every version"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Golden:
    """One file: an object, what it converts to, and what that alone converts back to (the first if None).

    Of an edit, ``back`` is what the object is after it.
    """

    origin: str
    source: cases.Document
    target: cases.Document | None = None
    back: cases.Document | None = None
    refused_at: str = ""
    refused_with: str = ""
    edited_at: str = ""
    edit: cases.Document = dataclasses.field(default_factory=dict)


def judge(of: twin.Twin, golden: Golden) -> Iterator[cases.Finding]:
    """Where the conversion is not what the pair says."""
    if golden.refused_at:
        yield from _refused(of, golden)
        return
    for document in filter(None, (golden.source, golden.target, golden.back)):
        problem = of.problem(document)
        if problem:
            version = cases.version_of(document)
            yield _finding(golden, "/", f"is not valid at {version}: {problem}", version, version, ())
            return
    if golden.target is None:
        yield from _edited(of, golden, golden.back or golden.source)
        return
    yield from _direction(of, golden, golden.source, golden.target)
    yield from _direction(of, golden, golden.target, golden.back or golden.source)


def _edited(of: twin.Twin, golden: Golden, wanted: cases.Document) -> Iterator[cases.Finding]:
    source = cases.version_of(golden.source)
    before = ((f"at {source}", golden.source),)
    try:
        read = of.convert(of.written(golden.source), golden.edited_at)
    except errors.ConversionError as error:
        yield _finding(golden, error.path or "/", error.message, source, golden.edited_at, before)
        return
    yield from _direction(of, golden, _merged(read, golden.edit), wanted, before)


def _merged(value: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    kept = dict(value) if isinstance(value, dict) else {}
    for name, inner in patch.items():
        if inner is None:
            kept.pop(name, None)
        else:
            kept[name] = _merged(kept.get(name), inner)
    return kept


def _direction(
    of: twin.Twin,
    golden: Golden,
    given: cases.Document,
    wanted: cases.Document,
    before: tuple[tuple[str, Any], ...] = (),
) -> Iterator[cases.Finding]:
    source, target = cases.version_of(given), cases.version_of(wanted)
    wanted, given_as = of.written(wanted), f"edited at {source}" if before else f"at {source}"
    try:
        found = of.stripped(of.convert(of.written(given), target))
    except errors.ConversionError as error:
        yield _finding(golden, error.path or "/", error.message, source, target, (*before, (given_as, given)))
        return
    for difference in leaves.differences(of.body(wanted), of.body(found), of.sides[target].node):
        shown = (*before, (given_as, given), (f"wanted at {target}", wanted), (f"found at {target}", found))
        yield dataclasses.replace(
            _finding(golden, difference.path, _said(difference), source, target, shown),
            place=of.place(target, difference.path),
        )


def _said(difference: leaves.Difference) -> str:
    if difference.path.endswith("[]"):
        return "the order is another one"
    wanted = "nothing" if difference.value is leaves.ABSENT else f"{difference.value!r:.80}"
    found = "nothing" if difference.seen is leaves.ABSENT else f"{difference.seen!r:.80}"
    return f"converts to {found}; wanted is {wanted}"


def _refused(of: twin.Twin, golden: Golden) -> Iterator[cases.Finding]:
    source, target = cases.version_of(golden.source), golden.refused_at
    try:
        found = of.convert(golden.source, target)
    except errors.ConversionError as error:
        if golden.refused_with in error.message:
            return
        text = f"is refused in other words: {error.message}; wanted is {golden.refused_with!r}"
        yield _finding(golden, error.path or "/", text, source, target, ((f"at {source}", golden.source),))
        return
    shown = ((f"at {source}", golden.source), (f"found at {target}", found))
    yield _finding(golden, "/", "is to be refused, and converts", source, target, shown)


def _finding(
    golden: Golden, where: str, problem: str, source: str, target: str, shown: tuple[tuple[str, Any], ...]
) -> cases.Finding:
    return cases.Finding(
        law=NAME,
        path=where,
        place=where,
        problem=problem,
        source=source,
        target=target,
        shown=shown,
        origin=golden.origin,
    )


def _own(of: twin.Twin, version: str) -> set[str]:
    """The labels and annotations that rules name at this version; those of the other one are nobody's intent here."""
    conversion = of.bound.conversion
    if version == conversion.hub:
        return {path for spoke in conversion.spokes for path in spoke.hub_metadata_paths}
    return {path for spoke in conversion.spokes if spoke.version == version for path in spoke.metadata_paths}


def missing(of: twin.Twin, goldens: Sequence[Golden]) -> Iterator[cases.Finding]:
    """One finding for each version with leaves that no pair has; one where there is no pair at all."""
    if not goldens:
        text = "there are no golden pairs: write down what old objects are at the new version, and the other way round"
        yield cases.Finding(law=NAME, path="/", place="/", problem=text)
        return
    documents = [document for golden in goldens for document in (golden.source, golden.target, golden.back)]
    for version in of.versions:
        node = of.sides[version].node
        there = {
            pattern
            for document in documents
            if document is not None and cases.version_of(document) == version
            for pattern, _ in places.found(of.body(document), node)
        }
        absent = [
            place.pattern
            for place in places.places(node)
            if place.pattern not in there and (place.steps[0] != "/metadata" or place.pattern in _own(of, version))
        ]
        if absent:
            text = f"no golden pair has {', '.join(absent)}"
            yield cases.Finding(law=NAME, path=absent[0], place=absent[0], problem=text, source=version, target=version)
