"""Whose fault a finding is likely to be: the functions between its two versions, by name, file and line."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from instar.conversion import definition
from instar.testing import cases, twin

__all__ = ["blame", "culprit"]


def blame(of: twin.Twin, finding: cases.Finding) -> tuple[cases.Culprit, ...]:
    """What converts between the versions of a finding, both ways; nothing where it names no two versions."""
    source, target = finding.source, finding.target
    if not {source, target} <= set(of.versions) or source == target:
        return ()
    both = (*_functions(of, source, target), *_functions(of, target, source))
    return tuple(dict.fromkeys(both))


def _functions(of: twin.Twin, source: str, target: str) -> Iterator[cases.Culprit]:
    hub = of.bound.conversion.hub
    stops = (source, target) if hub in (source, target) else (source, hub, target)
    for start, end in itertools.pairwise(stops):
        yield culprit(of.bound.hops[start, end].forward.function)


def culprit(function: definition.Converter) -> cases.Culprit:
    """A function with the place where it stands."""
    name = getattr(function, "__qualname__", type(function).__name__)
    code = getattr(function, "__code__", None)
    if code is None:
        return cases.Culprit(name=name)
    return cases.Culprit(name=name, file=code.co_filename, line=code.co_firstlineno)
