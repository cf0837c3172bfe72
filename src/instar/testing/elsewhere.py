"""L5 beyond this process: what depends on Python's hash seed is one thing in one replica and another in the next.

A converter that goes over a set of texts answers in another order in each process, and every no-op write through
another replica is a real one. No two calls in one process can show that: two processes with two seeds do.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from instar import errors
from instar.model import gojson
from instar.testing import cases, gathering, twin

__all__ = ["judge"]

SEEDS = ("1", "2")
_OBJECTS = 120
_SECONDS = 120


def judge(
    of: twin.Twin, sources: gathering.Sources, flags: Sequence[str]
) -> Iterator[tuple[cases.Case, cases.Finding]]:
    """The objects that convert to something else in another process; ``flags`` name the conversion for `instar`."""
    for target in of.versions:
        chosen = list(itertools.islice(_convertible(of, sources, target), _OBJECTS))
        if chosen:
            one, other = (_converted([source.object for source in chosen], target, flags, seed) for seed in SEEDS)
            for source, left, right in zip(chosen, one, other, strict=True):
                if not gojson.equal(left, right):
                    yield _finding(of, source, target, left, right)


def _convertible(of: twin.Twin, sources: gathering.Sources, target: str) -> Iterator[gathering.Source]:
    several = gathering.drawn(of, sources.real, _OBJECTS, str(sources.seed))
    for source in itertools.chain(sources.real, several, gathering.spanned(of, sources.real)):
        if cases.version_of(source.object) != target and of.problem(source.object) is None:
            try:
                of.bound.convert(source.object, target)
            except errors.ConversionError:
                continue
            yield source


def _converted(documents: Sequence[cases.Document], target: str, flags: Sequence[str], seed: str) -> list[Any]:
    words = [sys.executable, "-m", "instar.cli.main", "convert", "-f", "-", "--to", target, "-o", "json", *flags]
    given = gojson.encode({"apiVersion": "v1", "kind": "List", "items": list(documents)})
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    try:
        ended = subprocess.run(words, input=given, capture_output=True, env=environment, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise errors.InternalError(f"{len(documents)} conversions took a process more than {_SECONDS} s") from error
    if ended.returncode:
        raise errors.FindingError(f"in another process: {ended.stderr.decode(errors='replace').strip()}")
    found: list[Any] = gojson.decode(ended.stdout)["items"]
    return found


def _finding(
    of: twin.Twin, source: gathering.Source, target: str, one: Any, other: Any
) -> tuple[cases.Case, cases.Finding]:
    where = next((found.path for found in of.differences(one, other)), "/metadata/annotations")
    version = cases.version_of(source.object)
    finding = cases.Finding(
        law="L5",
        path=where,
        place=of.place(target, where),
        problem="the same object converts to another one in another process: it goes by the order of a set",
        source=version,
        target=target,
        shown=(
            (f"at {version}", source.object),
            *((f"at {target}, PYTHONHASHSEED={seed}", found) for seed, found in zip(SEEDS, (one, other), strict=True)),
        ),
    )
    return cases.Case(kind="whole", origin=source.origin, object=source.object), finding
