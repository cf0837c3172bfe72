"""Where a value lies on a chart, and at which round values the axis is labelled."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

__all__ = ["Scale", "ticks"]

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
TIME_STEPS = (1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Scale:
    """Values from ``low`` to ``high`` along pixels from ``start`` to ``end`` (``end`` may be the smaller)."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The pixel of a value; a scale without extent puts everything at its start."""
        extent = self.high - self.low
        return self.start if extent == 0 else self.start + (value - self.low) / extent * (self.end - self.start)


def ticks(high: float, about: int, *, time: bool = False) -> Sequence[float]:
    """Round values from 0 to the first one at or above ``high``, about so many of them.

    With ``time`` the steps are those of a clock (15 s, 30 s, 1 min) instead of decimals.
    """
    if not high > 0:
        return (0.0, 1.0)
    step = _time_step(high, about) if time and high > 5 else _decimal_step(high, about)
    number = math.ceil(high / step - 1e-9)
    return tuple(index * step for index in range(number + 1))


def _decimal_step(high: float, about: int) -> float:
    rough = high / about
    magnitude = 10.0 ** math.floor(math.log10(rough))
    return next(step * magnitude for step in STEPS if step * magnitude >= rough * (1 - 1e-9))


def _time_step(high: float, about: int) -> float:
    rough = high / about
    return next((step for step in TIME_STEPS if step >= rough), math.ceil(rough / 3600) * 3600.0)
