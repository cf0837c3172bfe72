"""What every rule is: plain data that states both directions of one change between a spoke and the hub.

A rule is a frozen dataclass with paths on either side (``spoke``, ``hub``): one path, or several by name. What differs
between kinds is the pair of pure functions over the values at these paths, made from the schemas by ``pair``. Taking
values out of an object and putting them in is the same for all, and lives in program.py. A value that is absent or
null makes nothing, and nothing is kept for later: what the other version cannot say is carried (carrying.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

from instar.schema import structural

__all__ = ["SIDES", "End", "Function", "Functions", "Ground", "Pair", "Rule", "Side", "ends", "nested", "other"]

Side = Literal["spoke", "hub"]
SIDES: tuple[Side, Side] = ("spoke", "hub")
Function = Callable[[Any], Any]
"""From what is at one side to what is at the other: a value, or of named paths a list, None where one is absent."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """What stands at the spoke, and what stands for it at the hub."""

    spoke: Any = None
    hub: Any = None


@dataclasses.dataclass(frozen=True, slots=True)
class End:
    """One path of a rule, whole and for people; its name where the rule has several; and the schema there."""

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
    """Where a rule is made ready: its ends at both sides, where to complain, and how to make ready what it nests."""

    spoke: tuple[End, ...]
    hub: tuple[End, ...]
    complain: Callable[[str], None]
    inner: Callable[[structural.Node, structural.Node], Functions]
    """Makes the nested rules ready for items of these two schemas."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One rule; ``origin`` is the file and line where it was written, for messages."""

    kind: ClassVar[str] = ""
    many: ClassVar[bool] = False
    """Whether a side may have several paths, by name."""
    origin: str = dataclasses.field(default="", compare=False, repr=False)

    def pair(self, ground: Ground) -> Functions | None:
        """The functions of both directions; None: a value is the same at both sides."""
        raise NotImplementedError


def other(side: Side) -> Side:
    """The side across."""
    return "hub" if side == "spoke" else "spoke"


def ends(rule: Rule, side: Side) -> tuple[tuple[str, str], ...]:
    """The paths of a rule at one side, each with its name (empty where there is one)."""
    found: str | Mapping[str, str] | None = getattr(rule, side, None)
    if found is None:
        return ()
    return tuple(found.items()) if isinstance(found, Mapping) else (("", found),)


def nested(rule: Rule) -> tuple[Rule, ...] | None:
    """The rules within a rule; None where its kind has none."""
    found: tuple[Rule, ...] | None = getattr(rule, "rules", None)
    return found
