"""L8: a valid object converts to a valid one, and so does a valid edit of it.

Nothing checks or fills a converter's answer (measured): a missing required field or a wrong enum value is served, and
the next write by anyone is refused. After an edit it is a restored value that may not fit: leaves that stand or fall
together, as the members of a union do, are to be declared as a group.
"""

from __future__ import annotations

from collections.abc import Iterator

from instar.testing import cases, twin
from instar.testing.lawbook import law

__all__ = ["VALIDITY"]


def _validity(of: twin.Twin, case: cases.Case) -> Iterator[cases.Finding]:
    written = of.written(case.object)
    if of.problem(case.object) or of.problem(written):
        return
    if case.change is None:
        for target in of.others(case.version):
            yield from _judged(of, written, of.convert(written, target))
        return
    read = of.read(written, case.change.version)
    edited = cases.changed(read, case.change)
    if of.problem(read) is None and edited is not None and of.problem(edited) is None:
        edited = of.written(edited)
        yield from _judged(of, edited, of.store(edited, case.version), stored=written)


def _judged(
    of: twin.Twin, valid: cases.Document, answer: cases.Document, stored: cases.Document | None = None
) -> Iterator[cases.Finding]:
    problem = of.problem(answer)
    if problem is None:
        return
    source, target = cases.version_of(valid), cases.version_of(answer)
    dotted, _, text = problem.partition(": ")
    where = "/" + dotted.replace(".", "/").strip("/") if dotted != "value" else "/"
    before = ((f"stored at {target}", of.stripped(stored)),) if stored else ()
    yield cases.Finding(
        law="L8",
        path=where,
        place="".join(part for part in where if not part.isdigit()),
        problem=f"is not valid at {target}: {text}" + (", after a valid edit" if stored else ""),
        source=source,
        target=target,
        shown=(
            *before,
            (f"{'edited' if stored else 'valid'} at {source}", of.stripped(valid)),
            (f"at {target}", of.stripped(answer)),
        ),
    )


VALIDITY = law.Law(
    name="L8",
    title="validity",
    holds="a valid object, and a valid edit of one, converts to an object that is valid at the target",
    kinds=("whole", "edited"),
    judge=_validity,
)
