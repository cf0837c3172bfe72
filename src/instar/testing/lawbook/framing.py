"""L7: metadata is the API server's: but for our own annotations a conversion leaves it alone.

The API server takes labels and annotations from a converter's answer, and the framework takes neither: a converter that
sets one has an effect that nobody sees, so it is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from instar.conversion import entries, named
from instar.model import gojson
from instar.testing import cases, twin
from instar.testing.lawbook import law

__all__ = ["FRAME"]


def _frame(of: twin.Twin, case: cases.Case) -> Iterator[cases.Finding]:
    document = of.written(case.object) if case.kind == "whole" else case.object
    for target in of.others(case.version):
        answer = of.convert(document, target)
        problem = _problem(of, document, answer, target)
        if problem:
            yield cases.Finding(
                law="L7",
                path="/metadata",
                place="/metadata",
                problem=problem,
                source=case.version,
                target=target,
                shown=((f"at {case.version}", document), (f"at {target}", answer)),
            )


def _others(of: twin.Twin, document: cases.Document) -> Any:
    """Metadata without what is carried and what rules name."""
    metadata = of.stripped(document).get("metadata")
    plain = dict(metadata) if type(metadata) is dict else {}
    for names in of.names.values():
        plain = named.join(names, plain, None)
    if not any(of.names.values()):
        return plain
    return {name: value for name, value in plain.items() if value or name not in named.MEMBERS}


def _problem(of: twin.Twin, document: cases.Document, answer: cases.Document, target: str) -> str:
    metadata = answer.get("metadata")
    if type(metadata) is not dict:
        return "the answer has no metadata"
    if not gojson.equal(_others(of, document), _others(of, answer)):
        return "metadata other than our annotations changes"
    notes: Any = metadata.get("annotations")
    ours = [key for key in notes or () if key.startswith(of.prefix)]
    if any(entries.split(key.removeprefix(of.prefix))[0] == target for key in ours):
        return f"what is carried for {target} is still there at {target}"
    return ""


FRAME = law.Law(
    name="L7",
    title="metadata",
    holds="a conversion changes no metadata but our own annotations, and none of these stay where they belong",
    kinds=("whole", "odd"),
    judge=_frame,
)
