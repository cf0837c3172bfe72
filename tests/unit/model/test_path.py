"""Paths of leaves: readable, injective, canonical."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instar import errors
from instar.model import path

NAMES = st.text('~/[]=,ab.\u00e9"0{', max_size=4)
SCALARS = st.one_of(
    NAMES, st.integers(-10, 10), st.booleans(), st.none(), st.sampled_from(["true", "null", "", "-1", "80"])
)
STEPS = st.one_of(
    NAMES.map(lambda name: (path.field(name), ("field", name))),
    SCALARS.map(lambda value: (path.element(value), ("element", repr(value)))),
    st.dictionaries(NAMES, SCALARS, min_size=1, max_size=3).map(
        lambda keys: (path.item(keys), ("item", repr(sorted(keys.items(), key=lambda pair: pair[0]))))
    ),
)


def test_what_paths_look_like() -> None:
    """The text that is stored in annotations, by hand."""
    assert path.field("spec") + path.field("containers") + path.item({"name": "c1"}) == "/spec/containers[name=c1]"
    assert path.item({"protocol": "TCP", "port": 80}) == "[port=80,protocol=TCP]"
    assert path.item({"port": "80"}) == '[port="80"]'
    assert path.element("a=b") == "[=a~4b]"
    assert path.element("true") == '[="true"]'
    assert path.element(True) == "[=true]"
    assert path.element("") == '[=""]'
    assert path.element({"a": [1]}) == '[={"a":~21~3}]'
    assert path.field("a/b~[c]") == "/a~1b~0~2c~3"
    assert path.item({"": "x"}) == "[~6=x]"


@given(st.lists(STEPS, max_size=4), st.lists(STEPS, max_size=4))
def test_injective_and_parseable(left: list, right: list) -> None:
    """Two different paths never have the same text, and parse gives back what was written."""
    texts = ["".join(text for text, _ in steps) for steps in (left, right)]
    assert (texts[0] == texts[1]) == ([key for _, key in left] == [key for _, key in right])
    assert [step.text for step in path.parse(texts[0])] == [text for text, _ in left]


@pytest.mark.parametrize(
    "text",
    [
        "spec",
        "/a]",
        "/a[",
        "/a[]",
        "/a[b]",
        "/a[b=1",
        "/a~9",
        "/a~",
        '/a[b="x"]',
        "/a[b=1,a=2]",
        "/a[b=01]",
        "/a[=1.0]",
        "/a[b=x,b=x]",
    ],
)
def test_only_canonical_text_is_a_path(text: str) -> None:
    """A path that format would not write is refused, so one leaf has one path and one hash."""
    with pytest.raises(errors.UsageError):
        path.parse(text)


def test_within_is_by_whole_steps() -> None:
    """/spec/ab is not below /spec/a."""
    assert path.within("/spec/a", ["/spec/a"])
    assert path.within("/spec/a[x=1]", ["/spec/a"])
    assert not path.within("/spec/ab", ["/spec/a"])
