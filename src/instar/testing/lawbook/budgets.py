"""L12: what is carried leaves room for everybody else's annotations, and for the object in etcd.

All annotations of an object share 262144 bytes, and others fill most of that (kubectl's last-applied-configuration is
as large as the object). A conversion that goes over it makes the object unreadable.
"""

from __future__ import annotations

from collections.abc import Iterator

from instar.conversion import budget
from instar.model import gojson
from instar.testing import cases, twin
from instar.testing.lawbook import law

__all__ = ["BUDGETS"]

FOREIGN = 200 * 1024
LARGEST = 1_572_864  # bytes; what etcd takes in one request


def _budgets(of: twin.Twin, case: cases.Case) -> Iterator[cases.Finding]:
    if of.problem(case.object):
        return
    written = of.written(case.object)
    for target in of.others(case.version):
        answer = of.convert(written, target)
        notes = answer["metadata"].get("annotations") or {}
        ours = {key: text for key, text in notes.items() if key.startswith(of.prefix)}
        size = sum(len(key.encode()) + len(text.encode()) for key, text in ours.items())
        if size > budget.LIMIT - FOREIGN:
            problem = f"{len(ours)} annotations take {size} bytes: with {FOREIGN} bytes of others' they do not fit"
            yield _finding(case, target, "/metadata/annotations", problem, written)
        if len(gojson.encode(answer)) > LARGEST >= len(gojson.encode(written)):
            yield _finding(case, target, "/", f"is larger than {LARGEST} bytes once converted", written)


def _finding(case: cases.Case, target: str, where: str, problem: str, document: cases.Document) -> cases.Finding:
    shown = ((f"at {case.version}", document),)
    return cases.Finding(
        law="L12", path=where, place=where, problem=problem, source=case.version, target=target, shown=shown
    )


BUDGETS = law.Law(
    name="L12",
    title="budgets",
    holds="carried annotations fit beside 200 KiB of others', and a converted object fits into etcd",
    kinds=("whole",),
    judge=_budgets,
)
