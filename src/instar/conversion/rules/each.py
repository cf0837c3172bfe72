"""``each``: rules for every item of a list, or every value of a map; the list or map may have another name."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from instar import errors
from instar.conversion import patterns
from instar.conversion.rules import model

__all__ = ["Each"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Each(model.Rule):
    """Paths end in ``[]`` (every item) or ``/*`` (every key); those of the rules within start at the item."""

    kind: ClassVar[str] = "each"
    spoke: str
    hub: str
    rules: tuple[model.Rule, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))

    def pair(self, ground: model.Ground) -> model.Functions | None:
        """The nested rules run over each item; an item that becomes nothing is left out."""
        spoke, hub = ground.spoke[0], ground.hub[0]
        kinds = {wildcard for end in (spoke, hub) for wildcard in (_last(end.path),)}
        if len(kinds) != 1 or None in kinds:
            ground.complain(
                f"{spoke.path} and {hub.path} must both end in [] (items of a list) or both in /* (keys of a map); "
                "a list on one side and a map on the other is a rule of kind keyed"
            )
            return None
        inner = ground.inner(spoke.node, hub.node)
        over = _over_list if kinds == {patterns.ANY_ITEM} else _over_map
        return model.Functions(over(inner.to_hub, spoke.path), over(inner.from_hub, hub.path))


def _last(text: str) -> str | None:
    return next((wildcard for wildcard in (patterns.ANY_ITEM, patterns.ANY_KEY) if text.endswith(wildcard)), None)


def _over_list(run: model.Function, where: str) -> model.Function:
    def over(items: Any) -> list[Any]:
        if type(items) is not list:
            raise errors.Unconvertible(where.removesuffix(patterns.ANY_ITEM), items, "is no list")
        made = [item if item is None else run(item) for item in items]
        if None in made:
            made = [new for old, new in zip(items, made, strict=True) if new is not None or old is None]
        return made

    return over


def _over_map(run: model.Function, where: str) -> model.Function:
    def over(items: Any) -> dict[str, Any]:
        if type(items) is not dict:
            raise errors.Unconvertible(where.removesuffix(patterns.ANY_KEY), items, "is no map")
        made = {name: item if item is None else run(item) for name, item in items.items()}
        return {name: new for name, new in made.items() if new is not None or items[name] is None}

    return over
