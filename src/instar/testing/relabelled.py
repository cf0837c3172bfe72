"""The proof of a CRD with the strategy None: its versions have the same schema, so there is nothing to convert.

No object is drawn: where the schemas are the same, relabelling an object is the identity, and where they are not, the
API server prunes what one of them lacks at the next write.
"""

from __future__ import annotations

import time

import instar.conversion as conversion_module
from instar import loading
from instar.schema import identical
from instar.testing import cases, proving

__all__ = ["NAME", "TITLE", "prove"]

NAME, TITLE = "schemas", "identical"
HOLDS = "with the strategy None every version has the same schema: the API server changes the apiVersion alone"


def prove(bound: conversion_module.Bound) -> proving.Report:
    """Whether all versions have the same schema: the one law of a CRD that has no conversion."""
    started = time.perf_counter()
    verdict = proving.Verdict(
        name=NAME,
        title=TITLE,
        holds=HOLDS,
        checks=len(bound.versions) - 1,
        findings=tuple(map(_finding, identical.differences(bound.crd))),
    )
    return proving.Report(
        group=bound.conversion.group,
        kind=bound.conversion.kind,
        hub=bound.conversion.hub,
        versions=bound.versions,
        digest=loading.digest(bound),
        seed=0,
        objects={},
        verdicts=(verdict,),
        coverage=(),
        carried=frozenset(),
        notes=(),
        conversions=0,
        slowest_seconds=0.0,
        seconds=time.perf_counter() - started,
    )


def _finding(difference: identical.Difference) -> cases.Finding:
    source, target = difference.versions
    path, _, problem = difference.message.partition(": ")
    return cases.Finding(law=NAME, path=path, problem=problem, source=source, target=target)
