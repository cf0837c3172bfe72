"""What a schema lets stand at one place, in one word, and whether a kind of rule can work with it."""

from __future__ import annotations

from collections.abc import Iterable

from instar.conversion.rules import model
from instar.schema import structural

__all__ = ["ANY", "INT_OR_STRING", "article", "of", "wrong"]

ANY, INT_OR_STRING = "anything", "int-or-string"
SCALARS = ("string", "integer", "number", "boolean", INT_OR_STRING)


def of(node: structural.Node) -> str:
    """``string``, ``integer``, ``number``, ``boolean``, ``object``, ``array``, ``int-or-string`` or ``anything``."""
    if node.raw.get("x-kubernetes-int-or-string"):
        return INT_OR_STRING
    found = node.raw.get("type")
    if found:
        return str(found)
    return "object" if node.properties or node.additional else "array" if node.items else ANY


def wrong(ground: model.Ground, end: model.End, wanted: Iterable[str]) -> bool:
    """Complains where the schema at an end is none of the wanted shapes."""
    wanted = tuple(wanted)
    found = of(end.node)
    if found in wanted or found == ANY:
        return False
    ground.complain(f"{end.path} is {article(found)}, not {' or '.join(map(article, wanted))}")
    return True


def article(shape: str) -> str:
    """``an object``, ``a string``, ``anything``."""
    return shape if shape == ANY else f"{'an' if shape[0] in 'aio' else 'a'} {shape}"
