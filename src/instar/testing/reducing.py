"""The smallest case of which a law still says the same: the object gets smaller, and the change that was made to it.

What is taken away leaves the object one that the law is asked about: the law itself sees to that.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from instar.model import gojson
from instar.testing import cases, lawbook, shrinking, twin

__all__ = ["reduce"]

_HEAD = ("apiVersion", "kind")
QUESTIONS = 600
"""How often a law may be asked about smaller cases of one finding."""


def reduce(
    of: twin.Twin, law: lawbook.Law, case: cases.Case, finding: cases.Finding, *, questions: int = QUESTIONS
) -> tuple[cases.Finding, int]:
    """The finding of the smallest case found, and how many questions it took."""
    asked = 0

    def found(parts: Any) -> cases.Finding | None:
        smaller = _joined(case, parts)
        if smaller is None:
            return None
        return next((other for other in law.check(of, smaller) if _same(other, finding)), None)

    def fails(parts: Any) -> bool:
        nonlocal asked
        asked += 1
        return found(parts) is not None

    first = _parts(case)
    if not fails(first):
        return finding, asked
    smallest = shrinking.smallest(first, fails, questions=questions)
    return found(smallest) or finding, asked


def _same(one: cases.Finding, other: cases.Finding) -> bool:
    return (one.source, one.target, one.place) == (other.source, other.target, other.place)


def _parts(case: cases.Case) -> dict[str, Any]:
    """What may get smaller."""
    parts: dict[str, Any] = {"body": {name: value for name, value in case.object.items() if name not in _HEAD}}
    if case.change is not None:
        value = case.change.value
        parts["change"] = [] if value is cases.GONE else [value]
    if case.others:
        parts["others"] = list(case.others)
    return parts


def _joined(case: cases.Case, parts: Any) -> cases.Case | None:
    """The case of smaller parts; None where they are none."""
    if type(parts) is not dict or type(parts.get("body")) is not dict:
        return None
    head = {name: case.object[name] for name in _HEAD if name in case.object}
    body = {name: value for name, value in parts["body"].items() if name not in _HEAD}
    change = case.change
    if change is not None:
        value = parts.get("change")
        if type(value) is not list or len(value) != (change.value is not cases.GONE):
            return None
        change = dataclasses.replace(change, value=value[0] if value else cases.GONE)
    others = parts.get("others", [])
    if type(others) is not list or any(type(other) is not dict or not set(_HEAD) <= set(other) for other in others):
        return None
    return dataclasses.replace(case, object=gojson.copy({**head, **body}), change=change, others=tuple(others))
