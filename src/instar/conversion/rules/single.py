"""``single``: one value at one version, a list of one at the other.

Of a longer list the first item is seen; the others are carried.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from instar import errors
from instar.conversion import patterns
from instar.conversion.rules import model

__all__ = ["Single"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Single(model.Rule):
    """The path of the list ends in ``[]``; ``rules`` may say what the value becomes in it, from the path ``""``."""

    kind: ClassVar[str] = "single"
    spoke: str
    hub: str
    rules: tuple[model.Rule, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))

    def pair(self, ground: model.Ground) -> model.Functions | None:
        """Into a list of one, and the first of a list."""
        spoke, hub = ground.spoke[0], ground.hub[0]
        lists = [end.path.endswith(patterns.ANY_ITEM) for end in (spoke, hub)]
        if sum(lists) != 1:
            ground.complain(f"one of {spoke.path} and {hub.path} must end in [], the path of the list")
            return None
        inner = ground.inner(spoke.node, hub.node)
        if lists[1]:
            return model.Functions(_listed(inner.to_hub), _first(inner.from_hub, hub.path))
        return model.Functions(_first(inner.to_hub, spoke.path), _listed(inner.from_hub))


def _listed(run: model.Function) -> model.Function:
    def listed(value: Any) -> list[Any] | None:
        made = run(value)
        return None if made is None else [made]

    return listed


def _first(run: model.Function, where: str) -> model.Function:
    def first(items: Any) -> Any:
        if type(items) is not list:
            raise errors.Unconvertible(where.removesuffix(patterns.ANY_ITEM), items, "is no list")
        return run(items[0]) if items and items[0] is not None else None

    return first
