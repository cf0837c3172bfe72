"""Whose fault a finding is likely to be: the rules that touch its place, or the functions between its versions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from instar.conversion import definition
from instar.conversion.rules import touching
from instar.model import path
from instar.testing import cases, twin

__all__ = ["blame", "culprit"]


def blame(of: twin.Twin, finding: cases.Finding) -> tuple[cases.Culprit, ...]:
    """What converts between the versions of a finding, both ways; nothing where it names no two versions."""
    source, target = finding.source, finding.target
    if not {source, target} <= set(of.versions) or source == target:
        return ()
    spokes = [spoke for spoke in of.bound.conversion.spokes if spoke.version in (source, target)]
    if any(spoke.rules is not None for spoke in spokes):
        place = finding.place or of.place(source, finding.path)
        return tuple(dict.fromkeys(found for spoke in spokes for found in _rules(spoke, place)))
    both = (*_functions(of, source, target), *_functions(of, target, source))
    return tuple(dict.fromkeys(both))


def _rules(spoke: definition.Spoke, place: str) -> Iterator[cases.Culprit]:
    """The innermost rules that touch a place at either side."""
    placed = [rule for rule in touching.every(spoke.rules or ()) if any(map(_touches(place), rule.spoke + rule.hub))]
    for rule in placed:
        if not any(other.where.startswith(rule.where + ".") for other in placed):
            file, _, line = rule.rule.origin.rpartition(":")
            name = f"{spoke.version}: {rule.where} ({rule.rule.kind})"
            yield cases.Culprit(name=name, file=file, line=int(line) if line.isdigit() else 0)


def _touches(place: str) -> Callable[[str], bool]:
    def touches(pattern: str) -> bool:
        return path.within(place, {pattern}) or path.within(pattern, {place})

    return touches


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
