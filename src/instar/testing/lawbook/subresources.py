"""L11: status and scale work through any version.

``kubectl scale`` and autoscalers read and write at the paths that each version declares: where both versions declare
one, both must say the same number. A write of ``/status`` takes nothing but the status from the client: it may not move
the spec at the version that is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from instar.model import gojson
from instar.testing import cases, twin
from instar.testing.lawbook import law

__all__ = ["SUBRESOURCES"]

PATHS = ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")


def _subresources(of: twin.Twin, case: cases.Case) -> Iterator[cases.Finding]:
    if of.problem(case.object):
        return
    written = of.written(case.object)
    if case.change is not None:
        yield from _status(of, case, written)
        return
    for target in of.others(case.version):
        mine, theirs = _scale(of, case.version), _scale(of, target)
        answer = of.convert(written, target)
        for name in PATHS:
            if name in mine and name in theirs:
                yield from _same(case, written, answer, mine[name], theirs[name])


def _scale(of: twin.Twin, version: str) -> Mapping[str, str]:
    entries = of.bound.crd.document["spec"]["versions"]
    entry = next(entry for entry in entries if entry["name"] == version)
    found: Mapping[str, str] = (entry.get("subresources") or {}).get("scale") or {}
    return found


def _at(document: cases.Document, dotted: str) -> Any:
    value: Any = document
    for name in dotted.lstrip(".").split("."):
        value = value.get(name) if type(value) is dict else None
    return value


def _same(
    case: cases.Case, one: cases.Document, other: cases.Document, mine: str, theirs: str
) -> Iterator[cases.Finding]:
    left, right = _at(one, mine), _at(other, theirs)
    if not gojson.equal(left, right):
        target = cases.version_of(other)
        yield cases.Finding(
            law="L11",
            path=mine.replace(".", "/"),
            place=mine.replace(".", "/"),
            problem=f"kubectl scale sees {left!r} at {case.version} and {right!r} at {target} ({theirs})",
            source=case.version,
            target=target,
            shown=((f"at {case.version}", one), (f"at {target}", other)),
        )


def _status(of: twin.Twin, case: cases.Case, stored: cases.Document) -> Iterator[cases.Finding]:
    change = case.change
    if change is None or change.path[0] != "status":
        return
    edited = cases.changed(of.read(stored, change.version), change)
    if edited is None or of.problem(edited):
        return
    after = of.store(edited, case.version)
    yield from law.compare(
        of,
        {**stored, "status": None},
        {**after, "status": None},
        shown=(f"stored at {case.version}", f"stored after a write of /status at {change.version}"),
        law="L11",
        source=change.version,
        target=case.version,
    )


SUBRESOURCES = law.Law(
    name="L11",
    title="status and scale",
    holds="scale says the same at each version that has it, and a write of /status moves nothing else",
    kinds=("whole", "edited"),
    judge=_subresources,
)
