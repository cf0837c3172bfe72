"""Edits as people and controllers make them: set, delete, append, insert, reorder, duplicate, rename, replace, clear.

An edit is a value: where, and what stands there afterwards. It keeps to the schema's bounds, required fields and
unique list keys, so that the API server would take it; other rules of the schema are the caller's to filter. ``single``
and ``several`` draw from Hypothesis, which shrinks them; ``choose`` takes any source, as one that follows from a seed.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import hypothesis
from hypothesis import strategies as st

from instar.testing import offers, sources

__all__ = ["ABSENT", "Edit", "apply", "apply_all", "choose", "several", "single"]

ABSENT = offers.ABSENT
Path = offers.Path


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """What ``kind`` of edit was made at ``path``, and the ``value`` that stands there afterwards (or ABSENT)."""

    kind: str
    path: Path
    value: Any


def apply(document: Mapping[str, Any], edit: Edit) -> dict[str, Any]:
    """A copy of ``document`` with the edit made; KeyError or IndexError where its path leads nowhere."""
    edited: Any = copy.deepcopy(dict(document))
    inner = edited
    for step in edit.path[:-1]:
        inner = inner[step]
    if edit.value is ABSENT:
        del inner[edit.path[-1]]
    else:
        inner[edit.path[-1]] = copy.deepcopy(edit.value)
    return edited  # type: ignore[no-any-return]


def apply_all(document: Mapping[str, Any], edits: Sequence[Edit]) -> dict[str, Any]:
    """A copy of ``document`` with all edits made in order."""
    edited = copy.deepcopy(dict(document))
    for edit in edits:
        edited = apply(edited, edit)
    return edited


def choose(
    source: sources.Source,
    document: Mapping[str, Any],
    schema: Mapping[str, Any],
    *,
    below: Sequence[str] = ("spec",),
    within: Path = (),
) -> Edit | None:
    """One edit of ``document`` under the fields ``below``, at or under the path ``within``.

    None where there is nothing to edit, or no room for it.
    """
    kinds: dict[str, list[tuple[offers.Place, offers.Offer]]] = {}
    for place in offers.places(document, schema, below):
        for offer in offers.offers(place) if place.path[: len(within)] == within else ():
            kinds.setdefault(offer[0], []).append((place, offer))
    if not kinds:
        return None
    kind = source.pick(sorted(kinds))  # first the kind, or reorders would drown in additions
    place, (_, make) = source.pick(kinds[kind])
    value = make(source)
    return None if value is offers.NO_ROOM else Edit(kind=kind, path=place.path, value=value)


@st.composite
def single(
    draw: st.DrawFn, document: Mapping[str, Any], schema: Mapping[str, Any], *, below: Sequence[str] = ("spec",)
) -> Edit | None:
    """One edit of ``document`` under the top-level fields ``below``; None where the schema leaves nothing to edit."""
    if not any(True for _ in offers.places(document, schema, below)):
        return None
    edit = choose(sources.Drawn(draw), document, schema, below=below)
    if edit is None:
        hypothesis.reject()
    return edit


@st.composite
def several(
    draw: st.DrawFn,
    document: Mapping[str, Any],
    schema: Mapping[str, Any],
    *,
    below: Sequence[str] = ("spec",),
    most: int = 3,
) -> list[Edit]:
    """One to ``most`` edits, each made on what the one before left."""
    made: list[Edit] = []
    for _ in range(draw(st.integers(1, most))):
        edit = draw(single(apply_all(document, made), schema, below=below))
        if edit is not None:
            made.append(edit)
    return made
