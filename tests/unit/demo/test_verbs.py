"""Merging an edit into what was read."""

from __future__ import annotations

from instar.demo import verbs


def test_merged_is_a_merge_patch() -> None:
    """Maps are merged deeply, lists replaced, None takes away; what was read stays as it was (RFC 7396)."""
    read = {"a": {"b": 1, "c": [1]}, "d": 2}
    assert verbs.merged(read, {"a": {"c": [2], "e": {"f": None, "g": 3}}, "d": None}) == {
        "a": {"b": 1, "c": [2], "e": {"g": 3}}
    }
    assert read == {"a": {"b": 1, "c": [1]}, "d": 2}
