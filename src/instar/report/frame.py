"""The frame that every chart over time shares: axes, grid, the moments that matter, and what a screen reader says.

::

    y title
    6,000 |------------- grid ----------------
          |        :flip          :trim          <- moments: what was done, when
        0 +-----------------------------------
          0:00     0:30      1:00                <- time since the start
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from instar.report import markup, numbers, scale

__all__ = ["NARROW", "WIDE", "Frame", "Moment", "Size", "draw"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """One drawing's size in pixels: text keeps its size, so a narrow window gets a drawing of its own."""

    name: str
    width: int
    height: int
    ticks: int


WIDE = Size(name="wide", width=960, height=300, ticks=8)
NARROW = Size(name="narrow", width=360, height=260, ticks=4)

LEFT, RIGHT, TOP, BOTTOM = 52, 14, 30, 26


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """Something that happened at one time, drawn as a vertical line over the chart."""

    at_seconds: float
    label: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Frame:
    """The scales that a drawing inside the frame uses."""

    x: scale.Scale
    y: scale.Scale


def draw(
    size: Size,
    *,
    title: str,
    summary: str,
    seconds: float,
    highest: float,
    y_label: Callable[[float], str],
    moments: Sequence[Moment],
    content: Callable[[Frame], Sequence[str]],
) -> markup.Markup:
    """One SVG: the frame with ``content`` inside; ``title`` and ``summary`` are what is read aloud."""
    y_ticks = scale.ticks(highest, 4)
    bottom, right = size.height - BOTTOM, size.width - RIGHT
    frame = Frame(
        x=scale.Scale(low=0, high=seconds or 1, start=LEFT, end=right),
        y=scale.Scale(low=0, high=y_ticks[-1], start=bottom, end=TOP),
    )
    return markup.element(
        "svg",
        markup.element("title", title),
        markup.element("desc", summary),
        *(_row(frame, value, y_label(value)) for value in y_ticks),
        *content(frame),
        *(_column(frame, value) for value in scale.ticks(seconds, size.ticks, time=True) if value <= seconds),
        *_moments(frame, moments, size),
        class_=f"chart {size.name}",
        viewBox=f"0 0 {size.width} {size.height}",
        role="img",
        xmlns="http://www.w3.org/2000/svg",
    )


def _row(frame: Frame, value: float, label: str) -> markup.Markup:
    y = frame.y.at(value)
    line = markup.element("line", x1=LEFT, x2=frame.x.end, y1=y, y2=y, class_="grid")
    return markup.join(line, markup.element("text", label, x=LEFT - 8, y=y + 4, text_anchor="end"))


def _column(frame: Frame, value: float) -> markup.Markup:
    x, bottom = frame.x.at(value), frame.y.start
    line = markup.element("line", x1=x, x2=x, y1=bottom, y2=bottom + 4, class_="axis")
    anchor = "start" if value == 0 else "middle" if x < frame.x.end - 12 else "end"
    label = markup.element("text", numbers.clock(value), x=x, y=bottom + 18, text_anchor=anchor)
    return markup.join(line, label)


def _moments(frame: Frame, moments: Sequence[Moment], size: Size) -> list[str]:
    """Labels that would run into the one before move to the row above, or stay out: the line has a tooltip anyhow."""
    lines: list[str] = []
    labels: list[str] = []
    free = [0.0, 0.0]
    for moment in sorted(moments, key=lambda moment: moment.at_seconds):
        x = frame.x.at(moment.at_seconds)
        width = 6.8 * len(moment.label) + 10
        before = x + width > size.width
        left = x - width if before else x
        row = next((index for index, end in enumerate(free) if left >= end), None)
        if row is not None:
            free[row] = left + width
            labels.append(_label(moment, x, row, before=before))
        lines.append(_line(frame, moment, x))
    return [*lines, *labels]  # a label covers the lines that run through it


def _line(frame: Frame, moment: Moment, x: float) -> markup.Markup:
    tooltip = markup.element("title", f"{moment.label}: after {numbers.duration(moment.at_seconds)}")
    return markup.element("line", tooltip, x1=x, x2=x, y1=TOP - 14, y2=frame.y.start, class_="moment")


def _label(moment: Moment, x: float, row: int, *, before: bool) -> markup.Markup:
    anchor, place = ("end", x - 4) if before else ("start", x + 4)
    return markup.element("text", moment.label, x=place, y=TOP - 6 - 13 * row, text_anchor=anchor, class_="moment")
