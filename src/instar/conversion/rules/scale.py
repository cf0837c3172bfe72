"""``scale``: the same amount in another unit: what is there times the factor is the hub's number."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any, ClassVar

from instar.conversion.rules import exact, model, shapes

__all__ = ["Scale"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Scale(model.Rule):
    """``factor`` is a number, or a text that says it without rounding: ``"1/1000"``, ``"0.001"``."""

    kind: ClassVar[str] = "scale"
    spoke: str
    hub: str
    factor: str | int | float

    def pair(self, ground: model.Ground) -> model.Functions | None:
        """Times the factor, and divided by it."""
        spoke, hub = ground.spoke[0], ground.hub[0]
        factor = exact.as_fraction(self.factor)
        if not factor:
            ground.complain(f'factor: {self.factor!r} is no number but 0; one looks like 1000 or "1/1000"')
        wrong = [shapes.wrong(ground, end, ("integer", "number")) for end in (spoke, hub)]
        if not factor or any(wrong):
            return None
        return model.Functions(_times(factor, spoke.path, hub), _times(1 / factor, hub.path, spoke))


def _times(factor: Fraction, where: str, target: model.End) -> model.Function:
    whole = shapes.of(target.node) == "integer"

    def times(value: Any) -> int | float:
        return exact.number(exact.fraction(value, where) * factor, whole=whole, where=where, value=value)

    return times
