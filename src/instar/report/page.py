"""The skeleton of every page: one file, no script, nothing loaded from anywhere (and the browser is told so)."""

from __future__ import annotations

from instar.report import markup, style

__all__ = ["figure", "page", "section"]

POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def page(title: str, *body: str, footer: str) -> str:
    """A whole HTML document."""
    head = markup.element(
        "head",
        markup.element("meta", charset="utf-8"),
        markup.element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        markup.element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        markup.element("meta", name="color-scheme", content="light dark"),
        markup.element("title", title),
        markup.element("style", markup.Markup(style.SHEET)),
    )
    content = markup.element("body", markup.element("main", *body), markup.element("footer", footer))
    return f"<!doctype html>\n{markup.element('html', head, content, lang='en')}\n"


def section(heading: str, *children: str, lead: str = "") -> markup.Markup:
    """A part of the page under its own heading."""
    first = [markup.element("p", lead, class_="lead")] if lead else []
    return markup.element("section", markup.element("h2", heading), *first, *children)


def figure(
    heading: str, summary: str, legend: list[tuple[str, int]], chart: markup.Markup, numbers: markup.Markup
) -> markup.Markup:
    """A chart with what it says, its colours by name, and its numbers as a table for who wants or needs them."""
    keys = [
        markup.element("li", markup.element("span", class_=f"key series-{number}", aria_hidden="true"), name)
        for name, number in legend
    ]
    return markup.element(
        "figure",
        markup.element("figcaption", markup.element("h3", heading), markup.element("p", summary)),
        markup.element("ul", *keys, class_="legend"),
        chart,
        markup.element("details", markup.element("summary", "The numbers"), numbers),
    )
