"""L5: a conversion is a function of its argument: the same bytes for any order of keys, again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from instar.model import gojson
from instar.testing import cases, twin
from instar.testing.lawbook import law

__all__ = ["PURITY"]


def _purity(of: twin.Twin, case: cases.Case) -> Iterator[cases.Finding]:
    document = of.written(case.object) if case.kind == "whole" else case.object
    for target in of.others(case.version):
        first = of.convert(document, target)
        argument = _turned(document)
        before = gojson.encode(argument)
        again = of.bound.convert(argument, target)
        if gojson.encode(argument) != before:
            yield _finding(case, target, "/", "the argument is changed", argument, again)
        elif gojson.encode(first) != gojson.encode(again):
            where = next((found.path for found in of.differences(first, again)), "/metadata/annotations")
            yield _finding(case, target, where, "the same object converts to another one", first, again)


def _turned(value: Any) -> Any:
    """The same value with every object's keys in the opposite order."""
    if type(value) is dict:
        return {name: _turned(value[name]) for name in reversed(value)}
    return [_turned(item) for item in value] if type(value) is list else value


def _finding(case: cases.Case, target: str, where: str, problem: str, one: Any, other: Any) -> cases.Finding:
    return cases.Finding(
        law="L5",
        path=where,
        place=where,
        problem=problem,
        source=case.version,
        target=target,
        shown=((f"at {target}", one), (f"at {target}, the keys of its source in another order", other)),
    )


PURITY = law.Law(
    name="L5",
    title="determinism",
    holds="the same object gives the same bytes, whatever the order of its keys; the argument is left alone",
    kinds=("whole", "odd"),
    judge=_purity,
)
