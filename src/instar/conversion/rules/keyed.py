"""``keyed``: a list of objects at one version, a map by one of their fields at the other.

The list that comes of a map is in the order of its keys. Of items that have the same key the first is seen, and an item
without it is not seen; both are carried.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from instar import errors
from instar.conversion import patterns
from instar.conversion.rules import model, shapes
from instar.model import path
from instar.schema import structural

__all__ = ["Keyed"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Keyed(model.Rule):
    """The path of the list ends in ``[]``, that of the map in ``/*``; ``rules`` go from an item to a value of the map.

    ``key`` is the field of the items whose value is the key in the map.
    """

    kind: ClassVar[str] = "keyed"
    spoke: str
    hub: str
    key: str
    rules: tuple[model.Rule, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))

    def pair(self, ground: model.Ground) -> model.Functions | None:
        """From list to map and back."""
        spoke, hub = ground.spoke[0], ground.hub[0]
        side = self._list_side(spoke.path, hub.path)
        if side is None:
            ground.complain(
                f"one of {spoke.path} and {hub.path} must end in [] (the list) and the other in /* (the map)"
            )
            return None
        item, entry = (spoke, hub) if side == "spoke" else (hub, spoke)
        self._check(ground, item, side)
        rest = _without(item.node, self.key)
        inner = ground.inner(*((rest, entry.node) if side == "spoke" else (entry.node, rest)))
        into, out_of = (inner.to_hub, inner.from_hub) if side == "spoke" else (inner.from_hub, inner.to_hub)
        mapped, listed = _mapped(into, self.key, item.path), _listed(out_of, self.key, entry.path)
        return model.Functions(mapped, listed) if side == "spoke" else model.Functions(listed, mapped)

    def _list_side(self, spoke: str, hub: str) -> model.Side | None:
        if spoke.endswith(patterns.ANY_ITEM) and hub.endswith(patterns.ANY_KEY):
            return "spoke"
        return "hub" if hub.endswith(patterns.ANY_ITEM) and spoke.endswith(patterns.ANY_KEY) else None

    def _check(self, ground: model.Ground, item: model.End, side: model.Side) -> None:
        if shapes.wrong(ground, item, ("object",)):
            return
        field = structural.child(item.node, self.key)
        if field is None:
            ground.complain(f"key: {item.path} has no field {self.key}")
        else:
            shapes.wrong(ground, model.End("", item.path + path.field(self.key), field[0]), ("string",))
        taken = {
            steps for rule in self.rules for _, text in model.ends(rule, side) for steps in (patterns.parse(text)[:1],)
        }
        if () in taken or (path.field(self.key),) in taken:
            ground.complain(f"rules: the rules within leave the item's {self.key} alone: it is the key of the map")


def _without(node: structural.Node, key: str) -> structural.Node:
    """The items' schema without the key, which is no field of a value of the map."""
    return dataclasses.replace(node, properties={name: at for name, at in node.properties.items() if name != key})


def _mapped(run: model.Function, key: str, where: str) -> model.Function:
    def mapped(items: Any) -> dict[str, Any]:
        if type(items) is not list:
            raise errors.Unconvertible(where.removesuffix(patterns.ANY_ITEM), items, "is no list")
        found: dict[str, Any] = {}
        for item in items:
            name = item.pop(key, None) if type(item) is dict else None
            if type(name) is str and name not in found:
                made = run(item)
                if made is not None:
                    found[name] = made
        return found

    return mapped


def _listed(run: model.Function, key: str, where: str) -> model.Function:
    def listed(items: Any) -> list[Any]:
        if type(items) is not dict:
            raise errors.Unconvertible(where.removesuffix(patterns.ANY_KEY), items, "is no map")
        return [{key: name, **(run(items[name]) or {})} for name in sorted(items) if items[name] is not None]

    return listed
