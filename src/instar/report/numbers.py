"""Numbers as people read them: 6,000 and 1 min 12 s and 3.4 ms, the same on the page and on the screen."""

from __future__ import annotations

__all__ = ["clock", "count", "duration", "rate", "short_duration"]


def count(value: float) -> str:
    """A whole number with thousands: ``6,000``."""
    return f"{value:,.0f}"


def rate(value: float) -> str:
    """Per second, with a digit after the point only where it says something."""
    return f"{value:,.0f}/s" if value >= 10 else f"{value:.1f}/s"


def duration(seconds: float) -> str:
    """A length of time in the unit that suits it, from microseconds to minutes."""
    if seconds >= 99.95:
        whole = round(seconds)
        return f"{whole // 60} min {whole % 60:02d} s"
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        amount = seconds * factor
        if amount >= 0.9995:
            return f"{_three_digits(amount)} {unit}"
    return "0 s"


def clock(seconds: float) -> str:
    """A moment on a time axis: ``1:20`` is a minute and twenty seconds after the start."""
    minutes, rest = divmod(seconds, 60)
    return f"{minutes:.0f}:{rest:02.0f}" if rest == int(rest) else f"{minutes:.0f}:{rest:04.1f}"


def short_duration(seconds: float) -> str:
    """A duration on a value axis: no digits that every tick would repeat."""
    if seconds == 0:
        return "0"
    factor, unit = (1.0, "s") if seconds >= 1 else (1e3, "ms") if seconds >= 1e-3 else (1e6, "µs")
    return f"{seconds * factor:.6g} {unit}"


def _three_digits(amount: float) -> str:
    if amount >= 99.95:
        return f"{amount:.0f}"
    return f"{amount:.1f}" if amount >= 9.995 else f"{amount:.2f}".rstrip("0").rstrip(".")
