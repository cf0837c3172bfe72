"""Axes: round values that hold everything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar.report import scale


@given(high=st.floats(1e-9, 1e12), about=st.integers(2, 10), time=st.booleans())
def test_ticks_hold_the_highest_value(high: float, about: int, time: bool) -> None:
    """The first tick is 0, the last is at or above the highest value, and there are about as many as asked for."""
    ticks = scale.ticks(high, about, time=time)
    assert ticks[0] == 0
    assert ticks[-1] >= high * (1 - 1e-9)
    assert 2 <= len(ticks) <= about + 2


def test_ticks_of_a_clock() -> None:
    """Time goes in halves and quarters of minutes, not in decimals."""
    assert scale.ticks(160, 8, time=True)[:4] == (0, 20, 40, 60)
    assert scale.ticks(500, 4, time=True)[:3] == (0, 300, 600)


@pytest.mark.parametrize("high", [0, -1, float("nan")])
def test_ticks_of_nothing(high: float) -> None:
    """A chart of nothing still has an axis."""
    assert scale.ticks(high, 4) == (0, 1)


def test_scale_maps_ends_to_ends() -> None:
    """Low lies at the start, high at the end, also upside down; without extent everything lies at the start."""
    upside_down = scale.Scale(low=0, high=10, start=200, end=0)
    assert (upside_down.at(0), upside_down.at(10), upside_down.at(5)) == (200, 0, 100)
    assert scale.Scale(low=3, high=3, start=7, end=9).at(3) == 7
