"""``python``: a pair of functions at paths, for what no other kind says. Everything around it stays rules.

A function gets the value (of named paths a dict of those that are there) and gives the other side's, in the same way.
It owns what it gets. It reads nothing else: no clock, no network, no randomness.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from instar import errors
from instar.conversion.rules import model

__all__ = ["Python"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Python(model.Rule):
    """In YAML a function is named as ``module:function`` or ``file.py:function``, beside the rules' file."""

    kind: ClassVar[str] = "python"
    many: ClassVar[bool] = True
    spoke: str | Mapping[str, str]
    hub: str | Mapping[str, str]
    to_hub: Callable[[Any], Any]
    from_hub: Callable[[Any], Any]

    def pair(self, ground: model.Ground) -> model.Functions | None:
        """The author's functions; named paths go in and out as a dict."""
        for name in ("to_hub", "from_hub"):
            if not callable(getattr(self, name)):
                ground.complain(f"{name}: {getattr(self, name)!r} is no function")
        return model.Functions(
            named(self.to_hub, ground.spoke, ground.hub), named(self.from_hub, ground.hub, ground.spoke)
        )


def named(function: model.Function, sources: Sequence[model.End], targets: Sequence[model.End]) -> model.Function:
    """The function over lists of values, where its paths have names."""
    into = [end.name for end in sources] if len(sources) != 1 or sources[0].name else None
    out = [end.name for end in targets] if len(targets) != 1 or targets[0].name else None
    if into is None and out is None:
        return function

    def run(given: Any) -> Any:
        if into is None:
            made = function(given)
        else:
            try:
                made = function(_by_name(into, given))
            except errors.Unconvertible:
                raise
            except Exception as error:
                raise errors.Unconvertible(sources[0].path, _by_name(into, given), errors.raised(error)) from error
        return made if out is None else _told(made, out, targets[0].path)

    return run


def _by_name(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}


def _told(made: Any, names: Sequence[str], where: str) -> list[Any]:
    if made is None:
        return [None] * len(names)
    if not isinstance(made, Mapping) or made.keys() - set(names):
        raise errors.Unconvertible(where, made, f"the function must give a dict of {', '.join(names)}")
    return [made.get(name) for name in names]
