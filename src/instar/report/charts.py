"""The three kinds of chart over time: areas on top of each other, lines, and bars on top of each other.

Each takes plain series and gives a drawing for a wide and one for a narrow window; the page shows one of them. Colours
are classes (``series-0``, ``series-1``), so that light and dark have their own, chosen to be told apart without hue.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence

from instar.report import frame as frame_module
from instar.report import markup, numbers

__all__ = ["Chart", "Series", "areas", "bars", "lines"]

Points = Sequence[tuple[float, float]]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """One named row of ``(seconds since the start, value)``; ``style`` is the number of its colour."""

    name: str
    style: int
    points: Points


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """What a chart is about: the title is what it shows, the summary what it says."""

    title: str
    summary: str
    seconds: float
    series: Sequence[Series]
    moments: Sequence[frame_module.Moment] = ()
    y_label: Callable[[float], str] = numbers.count


def areas(chart: Chart) -> markup.Markup:
    """Series stacked upon each other; all have the same times."""
    layers = _stack(chart.series)
    highest = max((top for layer in layers for _, _, top in layer), default=0)

    def content(frame: frame_module.Frame) -> list[str]:
        return [
            _area(frame, series, layer) for series, layer in zip(chart.series, layers, strict=True) if len(layer) > 1
        ]

    return _both(chart, highest, content)


def lines(chart: Chart) -> markup.Markup:
    """Series as lines from one axis."""
    highest = max((value for series in chart.series for _, value in series.points), default=0)
    return _both(chart, highest, lambda frame: [_line(frame, series) for series in chart.series if series.points])


def bars(chart: Chart, interval_seconds: float) -> markup.Markup:
    """Series stacked as bars, each over the ``interval_seconds`` that end at its time."""
    layers = _stack(chart.series)
    highest = max((top for layer in layers for _, _, top in layer), default=0)

    def content(frame: frame_module.Frame) -> list[str]:
        return [
            _bar(frame, series, interval_seconds, point)
            for series, layer in zip(chart.series, layers, strict=True)
            for point in layer
            if point[2] > point[1]
        ]

    return _both(chart, highest, content)


def _both(chart: Chart, highest: float, content: Callable[[frame_module.Frame], Sequence[str]]) -> markup.Markup:
    return markup.join(
        *(
            frame_module.draw(
                size,
                title=chart.title,
                summary=chart.summary,
                seconds=chart.seconds,
                highest=highest,
                y_label=chart.y_label,
                moments=chart.moments,
                content=content,
            )
            for size in (frame_module.WIDE, frame_module.NARROW)
        )
    )


def _stack(series: Sequence[Series]) -> list[list[tuple[float, float, float]]]:
    """For each series its ``(time, from, to)``, standing on the series before it."""
    heights: dict[float, float] = {}
    layers = []
    for entry in series:
        layer = []
        for at, value in entry.points:
            below = heights.get(at, 0.0)
            heights[at] = below + value
            layer.append((at, below, below + value))
        layers.append(layer)
    return layers


def _area(frame: frame_module.Frame, series: Series, layer: Sequence[tuple[float, float, float]]) -> markup.Markup:
    upper = [(frame.x.at(at), frame.y.at(top)) for at, _, top in layer]
    lower = [(frame.x.at(at), frame.y.at(low)) for at, low, _ in reversed(layer)]
    name = markup.element("title", series.name)
    return markup.element("path", name, d=_path(upper + lower) + "Z", class_=f"area series-{series.style}")


def _line(frame: frame_module.Frame, series: Series) -> markup.Markup:
    places = [(frame.x.at(at), frame.y.at(value)) for at, value in series.points]
    name = markup.element("title", series.name)
    drawn = markup.element("path", name, d=_path(places), class_=f"line series-{series.style}")
    return (
        drawn
        if len(places) > 1
        else markup.element("circle", name, cx=places[0][0], cy=places[0][1], r=3, class_=f"area series-{series.style}")
    )


def _bar(
    frame: frame_module.Frame, series: Series, interval_seconds: float, point: tuple[float, float, float]
) -> markup.Markup:
    at, low, top = point
    left, right = frame.x.at(max(at - interval_seconds, 0)), frame.x.at(at)
    gap = 1.0 if right - left > 4 else 0.0
    tooltip = markup.element("title", f"{series.name}: {numbers.count(top - low)} until {numbers.duration(at)}")
    return markup.element(
        "rect",
        tooltip,
        x=left,
        y=frame.y.at(top),
        width=max(right - left - gap, 0.5),
        height=frame.y.at(low) - frame.y.at(top),
        class_=f"area series-{series.style}",
    )


def _path(places: Sequence[tuple[float, float]]) -> str:
    letters = itertools.chain("M", itertools.repeat("L"))
    return "".join(f"{letter}{x:.1f} {y:.1f}" for letter, (x, y) in zip(letters, places, strict=False))
