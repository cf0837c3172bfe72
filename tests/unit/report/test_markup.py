"""What is written into a page stays text."""

from __future__ import annotations

import xml.etree.ElementTree

from instar.report import markup


def test_text_is_escaped_wherever_it_lands() -> None:
    """Text and attribute values come back from a parser exactly as they went in."""
    hostile = """</p><script>alert("x") & 'y'"""
    parsed = xml.etree.ElementTree.fromstring(markup.element("p", hostile, title=hostile))
    assert (parsed.text, parsed.get("title"), len(parsed)) == (hostile, hostile, 0)


def test_only_made_markup_goes_in_as_it_is() -> None:
    """An element inside an element stays one; the same characters as plain text do not."""
    inner = markup.element("b", "x")
    assert markup.element("p", inner, str(inner)) == "<p><b>x</b>&lt;b&gt;x&lt;/b&gt;</p>"


def test_attribute_names_follow_python_and_none_leaves_out() -> None:
    """class_ is class, aria_label is aria-label, None is absent, long floats are cut."""
    assert markup.element("rect", class_="a", aria_label="b", id=None, x=1.23456, y=2.0) == (
        '<rect class="a" aria-label="b" x="1.23" y="2"/>'
    )
