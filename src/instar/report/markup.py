"""HTML and SVG text that cannot be broken by what is written into it.

A page shows names, messages and values that somebody else chose. Text is escaped when it becomes part of an element;
only what :func:`element` made (:class:`Markup`) goes in as it is, so a forgotten escape is not possible.
"""

from __future__ import annotations

import html

__all__ = ["Markup", "element", "join"]

VOID = frozenset({"br", "circle", "col", "hr", "line", "link", "meta", "path", "rect"})


class Markup(str):
    """Text that is HTML or SVG already."""

    __slots__ = ()


def join(*children: str) -> Markup:
    """The children one after the other; plain text is escaped."""
    return Markup("".join(child if isinstance(child, Markup) else html.escape(child) for child in children))


def element(name: str, /, *children: str, **attributes: object) -> Markup:
    """One element. ``class_`` means ``class``, ``aria_label`` means ``aria-label``; None leaves an attribute out."""
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(_text(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID and not children:
        return Markup(f"<{name}{words}/>")
    return Markup(f"<{name}{words}>{join(*children)}</{name}>")


def _text(value: object) -> str:
    """Coordinates without a tail of digits: a chart of 300 points stays small."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)
