"""Patterns over paths: what they name, what they bind, and where a schema has no place for them."""

from __future__ import annotations

import pytest

from instar import errors
from instar.conversion import patterns
from instar.model import path
from instar.schema import structural


@pytest.mark.parametrize(
    ("pattern", "where", "bound"),
    [
        ("/spec/a", "/spec/a", ()),
        ("/spec/a", "/spec/a/b", ()),
        ("/spec/a", "/spec/ab", None),
        ("/spec/a", "/spec", None),
        ("/spec/l[]/u", "/spec/l[k=x]/u", ("[k=x]",)),
        ("/spec/l[]", "/spec/l[=x]", ("[=x]",)),
        ("/spec/l[]/u", "/spec/l/x/u", None),
        ("/spec/m/*", "/spec/m/k~1/x", ("/k~1",)),
        ("/spec/m/*", "/spec/m[k=x]", None),
        ("/spec/l[]/m/*", "/spec/l[k=x]/m/y", ("[k=x]", "/y")),
    ],
)
def test_binding(pattern: str, where: str, bound: tuple[str, ...] | None) -> None:
    """A leaf at or below the pattern, and what the wildcards stand for."""
    assert patterns.binding(patterns.parse(pattern), path.parse(where)) == bound


def test_above() -> None:
    """A value at a path may hold leaves of a pattern below it."""
    pattern = patterns.parse("/spec/l[]/u")
    found = [patterns.above(pattern, path.parse(where)) for where in ("/spec", "/spec/l[k=x]", "/spec/l[k=x]/u", "/x")]
    assert found == [True, True, True, False]


@pytest.mark.parametrize("text", ["spec", "/spec[k=x]", "/spec]", "/a~9"])
def test_what_is_no_pattern(text: str) -> None:
    """Items have no keys in patterns; escapes are those of paths."""
    with pytest.raises(errors.UsageError):
        patterns.parse(text)


def test_reaches() -> None:
    """Whether a schema has such a place."""
    inner = {"type": "object", "properties": {"u": {}}}
    keyed = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["u"], "items": inner}
    schema = {"properties": {"l": keyed, "m": {"additionalProperties": inner}, "a": {"items": inner}}}
    root = structural.compile_schema(schema)
    texts = ("/l[]/u", "/m/*/u", "/l[]/v", "/m[]", "/a[]", "/l/u")
    assert [patterns.reaches(patterns.parse(text), root) for text in texts] == [True, True, False, False, False, False]
