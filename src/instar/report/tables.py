"""Tables of a page: for people who look, and for those who listen (a caption, and headers with a scope)."""

from __future__ import annotations

from collections.abc import Sequence

from instar.report import markup

__all__ = ["table"]


def table(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[str]], *, numeric: bool = False
) -> markup.Markup:
    """A table whose first column names the row; with ``numeric`` the others are aligned as numbers."""
    head = markup.element("tr", *(markup.element("th", title, scope="col") for title in header))
    body = [
        markup.element(
            "tr", markup.element("th", row[0], scope="row"), *(markup.element("td", cell) for cell in row[1:])
        )
        for row in rows
    ]
    made = markup.element(
        "table",
        markup.element("caption", caption),
        markup.element("thead", head),
        markup.element("tbody", *body),
        class_="numeric" if numeric else None,
    )
    return markup.element("div", made, class_="scroll", tabindex=0, role="region", aria_label=caption)
