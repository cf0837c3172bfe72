"""Numbers as people read them."""

from __future__ import annotations

import pytest

from instar.report import numbers


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.0000042, "4.2 µs"),
        (0.00123, "1.23 ms"),
        (0.0999, "99.9 ms"),
        (0.4567, "457 ms"),
        (0.9996, "1 s"),
        (9.999, "10.0 s"),
        (75.25, "75.2 s"),
        (99.96, "1 min 40 s"),
        (160, "2 min 40 s"),
    ],
)
def test_duration(seconds: float, text: str) -> None:
    """Three digits in the unit that suits; no "60 s" left in the minutes, no "1000 ms"."""
    assert numbers.duration(seconds) == text


def test_axis_labels() -> None:
    """A time axis is a clock; a value axis has no digits to spare."""
    assert [numbers.clock(value) for value in (0, 20, 80, 600, 2.5)] == ["0:00", "0:20", "1:20", "10:00", "0:02.5"]
    assert [numbers.short_duration(value) for value in (0, 0.002, 0.0025, 1.5, 0.0005)] == [
        "0", "2 ms", "2.5 ms", "1.5 s", "500 µs"
    ]  # fmt: skip


def test_counts_and_rates() -> None:
    """Thousands are set apart; a rate has a digit after the point only when small."""
    assert (numbers.count(6000), numbers.rate(234.5), numbers.rate(3.25)) == ("6,000", "234/s", "3.2/s")
