"""The room for annotations: 262144 bytes for all of an object's, ours and everybody's, keys and values.

The API server refuses a conversion's answer above it, and then the object cannot be read at that version. So droppable
leaves go first, in the order of their declaration, and what still does not fit is an error that names what costs most.
Source: ValidateAnnotationsSize of apimachinery; measured: 255 KiB pass, 262145 bytes do not.
"""

from __future__ import annotations

from collections.abc import Mapping

from instar import errors
from instar.conversion import categories, patterns
from instar.model import path

__all__ = ["LIMIT", "fit"]

LIMIT = 262144


def fit(
    others: Mapping[str, str], written: Mapping[str, tuple[str, str]], of: categories.Plan
) -> dict[str, tuple[str, str]]:
    """The entries (key -> path, text) that fit beside the other annotations. Raises ConversionError."""
    kept = dict(written)
    over = _size(others) + sum(_cost(key, text) for key, (_, text) in kept.items()) - LIMIT
    for pattern in of.droppable:
        for key, (where, text) in sorted(kept.items()):
            if over > 0 and where and patterns.binding(pattern, path.parse(path.of_order(where) or where)) is not None:
                over -= _cost(key, text)
                del kept[key]
    if over > 0:
        raise _full(LIMIT + over, kept)
    return kept


def _size(annotations: Mapping[str, str]) -> int:
    return sum(_cost(key, text) for key, text in annotations.items() if type(text) is str)


def _cost(key: str, text: str) -> int:
    return len(key.encode()) + len(text.encode())


def _full(size: int, kept: Mapping[str, tuple[str, str]]) -> errors.ConversionError:
    costs = sorted(((_cost(key, text), where) for key, (where, text) in kept.items() if where), reverse=True)
    worst = ", ".join(f"{where} ({cost} bytes)" for cost, where in costs[:3])
    text = (
        f"its annotations would take {size} bytes and may take {LIMIT}, with what this version cannot express in them; "
        f"most costs {worst}: make these smaller, or declare leaves droppable"
    )
    return errors.ConversionError(text, path=costs[0][1] if costs else "/metadata/annotations")
