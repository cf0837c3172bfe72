"""L9: server-side apply converts parts of objects, and compares their field paths with those of the whole.

A part that converts to a path which the whole does not have makes a manager own what it never said, or lose what it
did. The end of any sequence of applies can only be seen on an API server; here, each single part is judged.
"""

from __future__ import annotations

from collections.abc import Iterator

from instar.conversion import leaves
from instar.testing import cases, parting, twin
from instar.testing.lawbook import law

__all__ = ["PARTS"]


def _parts(of: twin.Twin, case: cases.Case) -> Iterator[cases.Finding]:
    whole = of.written(case.object)
    if of.problem(case.object):
        return
    part = parting.part(whole, of.sides[case.version].node, case.salt)
    for target in of.others(case.version):
        there, everything = of.convert(part, target), of.convert(whole, target)
        for difference in of.differences(there, everything):
            if difference.seen is leaves.ABSENT:
                yield _surplus(of, case, target, difference.path, (part, whole, there))
        back = of.written(of.convert(there, case.version))
        shown = (f"part at {case.version}, with defaults", f"and back from {target}")
        yield from law.compare(of, of.written(part), back, shown=shown, law="L9", source=case.version, target=target)


def _surplus(
    of: twin.Twin, case: cases.Case, target: str, where: str, documents: tuple[cases.Document, ...]
) -> cases.Finding:
    part, whole, there = documents
    return cases.Finding(
        law="L9",
        path=where,
        place=of.place(target, where),
        problem="a part of the object converts to a field that the whole object does not have",
        source=case.version,
        target=target,
        shown=((f"whole at {case.version}", whole), (f"part at {case.version}", part), (f"part at {target}", there)),
    )


PARTS = law.Law(
    name="L9",
    title="server-side apply",
    holds="a part of an object converts to part of the converted object, and back",
    kinds=("partial",),
    judge=_parts,
)
