"""``only``: a field that one version has and the other has not.

What it holds is carried while the object is seen at the other version. With a default it is that where it is absent,
once the object comes to its version: for what the schema's own default cannot say.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from instar.conversion.rules import model
from instar.model import gojson
from instar.schema import validation

__all__ = ["Only"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Only(model.Rule):
    """A field at one side, with all that lies below it; give ``spoke`` or ``hub``, not both."""

    kind: ClassVar[str] = "only"
    spoke: str | None = None
    hub: str | None = None
    default: Any = None

    def pair(self, ground: model.Ground) -> model.Functions | None:
        """Nothing goes across."""
        if len(ground.spoke) + len(ground.hub) != 1:
            ground.complain("give the path at the spoke or the path at the hub, for the field is only at one of them")
        elif self.default is not None:
            (end,) = ground.spoke + ground.hub
            problem = validation.problem(gojson.normal(self.default), end.node)
            if problem:
                ground.complain(f"default: {self.default!r} may not stand at {end.path}: {problem}")
        return None
