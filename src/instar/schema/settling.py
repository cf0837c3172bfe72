"""What the API server does to a body on its way: prune, drop nulls, fill in defaults, settle numbers. One walk.

The server's order is prune, drop of nulls that are neither nullable nor defaulted, defaults; each child is decided by
the same three questions, so one pass gives the same result. The walk builds new containers and shares none with its
argument: what a converter returned may hold constants of the converter's own.

- *prune*: unknown fields go, unless the node preserves them; known fields below a preserved node are pruned again.
- *nulls*: a null that may not be null takes the default, else its field goes; unknown places keep it.
- *defaults*: only where a field is absent (or such a null); a missing parent is never created.

Source: apiextensions-apiserver's pruning and defaulting, compared with 1.37.2.
"""

from __future__ import annotations

from typing import Any

from instar import errors
from instar.model import gojson
from instar.schema import structural

__all__ = ["settle"]


def settle(body: Any, node: structural.Node, *, defaults: bool) -> Any:
    """A copy of the body as the API server would hold it at this schema. Raises JsonError, naming the path."""
    return _value(body, node, defaults, False)


def _value(value: Any, node: structural.Node, defaults: bool, preserving: bool) -> Any:
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return value
    if kind is dict:
        return _object(value, node, defaults, preserving)
    if kind is list:
        return _list(value, node, defaults, preserving)
    if kind is int and gojson.INT64_MIN <= value <= gojson.INT64_MAX:
        return value
    plain = gojson.normal(value)
    return _value(plain, node, defaults, preserving) if type(plain) in (dict, list) else plain


def _object(value: dict[str, Any], node: structural.Node, defaults: bool, preserving: bool) -> dict[str, Any]:
    result: dict[str, Any] = {}
    known, additional, keep = node.properties.get, node.additional, node.preserve or preserving
    embedded = node.embedded
    for name, item in value.items():
        inner = known(name)
        if inner is None:
            inner = additional
            if type(name) is not str:
                raise errors.JsonError(f"the key {name!r} is no string")
        kind = type(item)
        if embedded and name in structural.META:
            result[name] = _kept(item)
        elif inner is None:
            if keep:
                result[name] = _kept(item)
        elif kind is str or kind is bool:  # most of any object
            result[name] = item
        elif item is None and not inner.nullable:
            if inner.default is not structural.MISSING:
                result[name] = _default(inner) if defaults else None
        else:
            result[name] = _value(item, inner, defaults, False)
    if defaults:
        for name in node.defaulted:
            if name not in result:
                result[name] = _default(node.properties[name])
    return result


def _list(value: list[Any], node: structural.Node, defaults: bool, preserving: bool) -> list[Any]:
    keep = node.preserve or preserving
    inner = node.items
    if inner is None:
        return [_kept(item) if keep else _value(item, structural.NOTHING, False, False) for item in value]
    if defaults and inner.default is not structural.MISSING and not inner.nullable:
        value = [_default(inner) if item is None else item for item in value]
    return [_value(item, inner, defaults, keep) for item in value]


def _default(node: structural.Node) -> Any:
    return _value(node.default, node, True, False)


def _kept(value: Any) -> Any:
    return gojson.copy(gojson.normal(value)) if type(value) not in (str, bool) else value
