"""Plain objects that a conversion leaves empty, because the target can say nothing of what is in them.

Server-side apply takes fields away from an object at one version and asks another version what is left. Of a spec that
says nothing at this version ``spec: {}`` is left; where a manager gives up its last field there, the API server then
makes ``spec: null`` of it, and refuses its own answer. An object of one version never has such a spec: what is in it
keeps it, or it goes with its last field. So in these calculations it goes too, where an entry brings it back anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from instar.model import path
from instar.schema import structural

__all__ = ["places"]


def places(body: dict[str, Any], node: structural.Node, where: str = "") -> Iterator[str]:
    """The paths of fields that are objects with nothing in them, but for items of lists and values of maps."""
    for name, value in body.items():
        inner = node.properties.get(name)
        if type(value) is not dict or inner is None or inner.atomic or (name == "metadata" and not where):
            continue
        if value:
            yield from places(value, inner, where + path.field(name))
        else:
            yield where + path.field(name)
