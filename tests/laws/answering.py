"""What a process makes of reviews: run with any Python that has Instar's dependencies, it needs nothing of the tests.

On stdin, by example, the bodies of ConversionReviews as text; on stdout, by example, a digest of all answers, byte by
byte, and the digest of the conversion.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import sys
from typing import Any

from instar import conversion, loading
from instar.cli import load

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


def bound(example: str) -> conversion.Bound:
    """An example's conversion, from its files."""
    (file,) = (EXAMPLES / example).glob("conversion.*")
    (crd,) = load.crds(str(EXAMPLES / example / "crd.yaml"))
    return conversion.bind(loading.conversion(file), crd)


def answer(of: conversion.Bound, body: str) -> bytes:
    """The answer to one review."""
    return conversion.review({(of.conversion.group, of.conversion.kind): of}, body.encode())


def digests(asked: dict[str, list[str]]) -> dict[str, Any]:
    """Of the answers to an example's reviews, and of its conversion."""
    found = {}
    for example, bodies in asked.items():
        of, whole = bound(example), hashlib.sha256()
        for body in bodies:
            whole.update(answer(of, body) + b"\n")
        found[example] = [whole.hexdigest(), loading.digest(of)]
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(digests(json.load(sys.stdin))))
