"""L3: an edit wins, and what it did not touch stays.

What an edit touches is asked of the author's functions alone: the leaves at which the bare conversions of the object
before and after the edit differ, and all that is declared to stand or fall with them. Everything else must come back.
A leaf that does not may be one that the client would see: put back by hand it must change what is read, or the loss was
needless.
"""

from __future__ import annotations

from collections.abc import Iterator

from instar import errors
from instar.conversion import leaves, patterns, restoring
from instar.model import path
from instar.testing import cases, twin
from instar.testing.lawbook import law

__all__ = ["EDITS"]


def _edits(of: twin.Twin, case: cases.Case) -> Iterator[cases.Finding]:
    assert case.change is not None
    stored, client = of.written(case.object), case.change.version
    if of.problem(stored):
        return
    read = of.read(stored, client)
    edited = cases.changed(read, case.change)
    if edited is None or of.problem(edited):
        return
    edited = of.written(edited)
    after = of.store(edited, case.version)
    back = of.read(after, client)
    shown = (f"edited at {client}", f"read again at {client}, stored at {case.version}")
    found = list(law.compare(of, edited, back, shown=shown, law="L3", source=client, target=case.version))
    yield from found
    if not found:
        yield from _untouched(of, stored, read, edited, after)


def _untouched(
    of: twin.Twin, stored: cases.Document, read: cases.Document, edited: cases.Document, after: cases.Document
) -> Iterator[cases.Finding]:
    storage, client = cases.version_of(stored), cases.version_of(edited)
    differing = of.differences(stored, after)
    if not differing:
        return
    touched = _touched(of, read, edited, storage)
    for difference in differing:
        where = path.of_order(difference.path) or difference.path
        if _concerns(where, touched) or not _needless(of, edited, after, difference):
            continue
        yield cases.Finding(
            law="L3",
            path=difference.path,
            place=of.place(storage, difference.path),
            problem=f"is not what it was, and the edit at {client} did not touch it",
            source=storage,
            target=client,
            shown=(
                (f"stored at {storage}", of.stripped(stored)),
                (f"edited at {client}", of.stripped(edited)),
                (f"stored at {storage} after that", of.stripped(after)),
            ),
        )


def _touched(of: twin.Twin, read: cases.Document, edited: cases.Document, storage: str) -> set[str]:
    before, after = of.bare(read, storage), of.bare(edited, storage)
    both = [*of.differences(before, after), *of.differences(after, before)]
    touched = {path.of_order(difference.path) or difference.path for difference in both}
    for group in of.bound.conversion.groups:
        members = [patterns.parse(text) for text in group.paths if group.version == storage]
        if any(patterns.binding(member, path.parse(where)) is not None for member in members for where in touched):
            touched |= {"".join(member).split("[]")[0].split("/*")[0] for member in members}
    return touched


def _concerns(where: str, touched: set[str]) -> bool:
    return path.within(where, touched) or any(path.within(other, (where,)) for other in touched)


def _needless(of: twin.Twin, edited: cases.Document, after: cases.Document, difference: leaves.Difference) -> bool:
    """Whether the leaf could have come back without changing anything that the client sees."""
    storage, client = cases.version_of(after), cases.version_of(edited)
    node, leaf = of.sides[storage].node, (difference.path, difference.value)
    restored = of.with_body(after, restoring.restore(of.body(after), node, [leaf]))
    try:
        seen = of.bare(restored, client)
        alone = of.bare(after, client)
    except errors.ConversionError:
        return False
    lost = {found.path for found in of.differences(edited, alone)}
    return all(path.within(found.path, lost) for found in of.differences(edited, seen))


EDITS = law.Law(
    name="L3",
    title="edits",
    holds="an edit at any version is read as it was made, and every leaf that it did not touch stays",
    kinds=("edited",),
    judge=_edits,
)
