"""Charts draw what they are given, at the place where it belongs."""

from __future__ import annotations

import re
import xml.etree.ElementTree

from instar.report import charts, frame

SVG = "{http://www.w3.org/2000/svg}"


def drawings(text: str) -> list[xml.etree.ElementTree.Element]:
    return list(xml.etree.ElementTree.fromstring(f"<both>{text}</both>"))


def chart(*series: charts.Series, moments: tuple[frame.Moment, ...] = ()) -> charts.Chart:
    return charts.Chart(title="Title & more", summary="What it says", seconds=100, series=series, moments=moments)


def path_points(element: xml.etree.ElementTree.Element) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", element.get("d", ""))]


def test_each_drawing_says_what_it_shows() -> None:
    """Wide and narrow, each an image with a title and a description for who cannot see it."""
    wide, narrow = drawings(charts.lines(chart(charts.Series(name="s", style=0, points=[(0, 1), (100, 2)]))))
    assert (wide.get("class"), narrow.get("class")) == ("chart wide", "chart narrow")
    for drawing in (wide, narrow):
        assert drawing.get("role") == "img"
        assert drawing.findtext(f"{SVG}title") == "Title & more"
        assert drawing.findtext(f"{SVG}desc") == "What it says"


def test_lines_lie_where_the_values_are() -> None:
    """Time 0 is at the left end of the axis, the last at the right; 0 at the bottom, the highest tick on top."""
    wide, _ = drawings(charts.lines(chart(charts.Series(name="s", style=0, points=[(0, 0), (50, 4), (100, 2)]))))
    path = wide.find(f"{SVG}path")
    assert path is not None
    left, right = frame.LEFT, frame.WIDE.width - frame.RIGHT
    bottom, top = frame.WIDE.height - frame.BOTTOM, frame.TOP
    assert path_points(path) == [(left, bottom), ((left + right) / 2, top), (right, (bottom + top) / 2)]


def test_areas_stand_on_each_other() -> None:
    """The second series begins where the first ends: the outline's height is the sum."""
    first = charts.Series(name="a", style=0, points=[(0, 1), (100, 3)])
    second = charts.Series(name="b", style=1, points=[(0, 3), (100, 1)])
    wide, _ = drawings(charts.areas(chart(first, second)))
    lower, upper = wide.findall(f"{SVG}path")
    assert {y for _, y in path_points(upper)[:2]} == {frame.TOP}
    assert path_points(upper)[2:] == list(reversed(path_points(lower)[:2]))


def test_bars_are_as_high_as_their_values() -> None:
    """Nothing is drawn for nothing; two stacked bars of equal value have equal height."""
    first = charts.Series(name="a", style=0, points=[(10, 5), (20, 0)])
    second = charts.Series(name="b", style=1, points=[(10, 5), (20, 0)])
    wide, _ = drawings(charts.bars(chart(first, second), 10))
    bars = wide.findall(f"{SVG}rect")
    assert len(bars) == 2
    assert bars[0].get("height") == bars[1].get("height")
    assert bars[0].findtext(f"{SVG}title") == "a: 5 until 10.0 s"


def test_moments_are_drawn_and_labels_do_not_run_into_each_other() -> None:
    """Every moment has its line; labels that would cover each other use two rows, and the third stays a tooltip."""
    close = tuple(frame.Moment(at_seconds=20 + step / 10, label=f"step {step}") for step in range(3))
    wide, _ = drawings(charts.lines(chart(charts.Series(name="s", style=0, points=[(0, 1)]), moments=close)))
    assert len(wide.findall(f"{SVG}line[@class='moment']")) == 3
    drawn = [part.tag.removeprefix(SVG) for part in wide if part.get("class") == "moment"]
    assert drawn == ["line", "line", "line", "text", "text"], "a line runs through a label"
    labels = wide.findall(f"{SVG}text[@class='moment']")
    assert [label.text for label in labels] == ["step 0", "step 1"]
    assert labels[0].get("y") != labels[1].get("y")


def test_a_single_point_is_seen() -> None:
    """A line of one sample is a dot, not nothing."""
    wide, _ = drawings(charts.lines(chart(charts.Series(name="s", style=0, points=[(50, 1)]))))
    assert wide.find(f"{SVG}circle") is not None
