"""What every rule is: plain data that states both directions of one change between a spoke and the hub.

A rule is a frozen dataclass with paths on either side (``spoke``, ``hub``): one path, or several by name. What differs
between kinds is the pair of pure functions over the values at these paths, made from the schemas by ``pair``. Taking
values out of an object and putting them in is the same for all, and lives in program.py. A value that is absent or
null makes nothing, and nothing is kept for later: what the other version cannot say is carried (carrying.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from instar.schema import structural

__all__ = ["End", "Function", "Functions", "Ground", "Pair", "Rule", "Side", "ends", "nested"]

Side = Literal["spoke", "hub"]
Function = Callable[[Any], Any]
"""From the value (or, of several paths, the list of values) at one side to that at the other."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """A value at the spoke and the one at the hub that stands for it."""

    spoke: Any = None
    hub: Any = None


@dataclasses.dataclass(frozen=True, slots=True)
class End:
    """One path of a rule: its name where the rule has several, the path, and the schema there."""

    name: str
    path: str
    node: structural.Node


@dataclasses.dataclass(frozen=True, slots=True)
class Functions:
    """A rule made ready: both directions."""

    to_hub: Function
    from_hub: Function


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Ground:
    """Where a rule is made ready: its ends at both sides, what it nests, and where to complain."""

    spoke: tuple[End, ...]
    hub: tuple[End, ...]
    complain: Callable[[str], None]
    inner: Callable[[Sequence[Rule], structural.Node, structural.Node, str, str], Functions]
    """Makes nested rules ready over a pair of items: the rules, the items' schemas, and how their paths begin."""

    def end(self, side: Side) -> End:
        """The one end of a side."""
        return (self.spoke if side == "spoke" else self.hub)[0]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One rule; ``origin`` is the file and line where it was written, for messages."""

    kind: ClassVar[str] = ""
    origin: str = dataclasses.field(default="", compare=False, repr=False)

    def pair(self, ground: Ground) -> Functions | None:
        """The functions of both directions; None: a value is the same at both sides."""
        raise NotImplementedError


def ends(rule: Rule, side: Side) -> tuple[tuple[str, str], ...]:
    """The paths of a rule at one side, each with its name (empty where there is one)."""
    found: str | Mapping[str, str] | None = getattr(rule, side, None)
    if found is None:
        return ()
    return (("", found),) if isinstance(found, str) else tuple(found.items())


def nested(rule: Rule) -> tuple[Rule, ...]:
    """The rules within a rule."""
    return tuple(getattr(rule, "rules", ()))
