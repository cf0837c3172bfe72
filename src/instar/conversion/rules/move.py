"""``move``: one value, the same at both versions, at two places."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from instar.conversion.rules import model

__all__ = ["Move"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Move(model.Rule):
    """A field with another name or at another place; what lies below it goes with it."""

    kind: ClassVar[str] = "move"
    spoke: str
    hub: str

    def pair(self, ground: model.Ground) -> model.Functions | None:
        """The value is the same at both sides; that the schemas agree below is checked with those of all leaves."""
        return None
