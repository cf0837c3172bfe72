"""``each``, ``single`` and ``keyed``: lists and maps of another shape."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.conversion.rules import subject
from tests.unit.conversion.rules.subject import INTEGER, STRING, has, items, keys

import instar.conversion as conversion
from instar.conversion import rules

EACH = subject.bound(
    has(containers=items(has(name=STRING, image=STRING), "name"), sizes=keys(STRING)),
    has(pods=items(has(name=STRING, spec=has(image=STRING)), "name"), amounts=keys(has(size=STRING))),
    rules.Each(spoke="/spec/containers[]", hub="/spec/pods[]", rules=(rules.Move(spoke="/image", hub="/spec/image"),)),
    rules.Each(spoke="/spec/sizes/*", hub="/spec/amounts/*", rules=(rules.Move(spoke="", hub="/size"),)),
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {}),
        ({"containers": []}, {"pods": []}),
        ({"containers": [{"name": "a"}]}, {"pods": [{"name": "a"}]}),
        ({"containers": [{"name": "a", "image": "i"}]}, {"pods": [{"name": "a", "spec": {"image": "i"}}]}),
        ({"sizes": {"x": "1", "y": "2"}}, {"amounts": {"x": {"size": "1"}, "y": {"size": "2"}}}),
        ({"sizes": {}}, {"amounts": {}}),
    ],
)
def test_each_item_is_converted_by_the_rules_within(old: Any, new: Any) -> None:
    """The list may have another name; order and number stay."""
    assert EACH.new(old) == new
    assert EACH.old(new) == old


def test_an_item_that_becomes_nothing_is_left_out_and_comes_back() -> None:
    """A value of which the other version sees nothing has no item there."""
    assert EACH.old({"amounts": {"x": {}, "y": {"size": "2"}}}) == {"sizes": {"y": "2"}}
    assert EACH.comes_back({"amounts": {"x": {}, "y": {"size": "2"}}}, "new")


def test_rules_for_one_list_are_one_walk() -> None:
    """Wildcards and an each of the same list belong together."""
    specs = subject.bound(
        has(list=items(has(a=STRING, b=STRING))),
        has(list=items(has(c=STRING, d=STRING))),
        rules.Each(spoke="/spec/list[]", hub="/spec/list[]", rules=(rules.Move(spoke="/a", hub="/c"),)),
        rules.Move(spoke="/spec/list[]/b", hub="/spec/list[]/d"),
    )
    assert specs.new({"list": [{"a": "1", "b": "2"}]}) == {"list": [{"c": "1", "d": "2"}]}


def test_what_is_no_list_is_said() -> None:
    """A stored object that its schema no longer allows gives a message with the field."""
    with pytest.raises(conversion.ConversionError, match=r'spec.containers: "x": is no list \(spokes\[0\].rules\[0\]'):
        EACH.new({"containers": "x"})


SINGLE = subject.bound(
    has(host=STRING, port=INTEGER, last=items(STRING)),
    has(hosts=items(STRING), ports=items(has(number=INTEGER, name=STRING)), only=STRING),
    rules.Single(spoke="/spec/host", hub="/spec/hosts[]"),
    rules.Single(
        spoke="/spec/port",
        hub="/spec/ports[]",
        rules=(rules.Move(spoke="", hub="/number"), rules.Only(hub="/name")),
    ),
    rules.Single(spoke="/spec/last[]", hub="/spec/only"),
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {}),
        ({"host": "a"}, {"hosts": ["a"]}),
        ({"host": ""}, {"hosts": [""]}),
        ({"port": 80}, {"ports": [{"number": 80}]}),
        ({"last": ["x"]}, {"only": "x"}),
    ],
)
def test_a_value_and_a_list_of_it(old: Any, new: Any) -> None:
    """One value is a list of one, at either side."""
    assert SINGLE.new(old) == new
    assert SINGLE.old(new) == old


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ({"hosts": []}, {}),
        ({"hosts": ["a", "b"]}, {"host": "a"}),
        ({"ports": [{"number": 80, "name": "web"}, {"number": 81}]}, {"port": 80}),
        ({"ports": [{"name": "web"}]}, {}),
    ],
)
def test_longer_and_empty_lists_come_back(new: Any, old: Any) -> None:
    """The first is seen, the rest is carried."""
    assert SINGLE.old(new) == old
    assert SINGLE.comes_back(new, "new")


KEYED = subject.bound(
    has(limits=keys(INTEGER)),
    has(limits=items(has(name=STRING, max=INTEGER), "name")),
    rules.Keyed(spoke="/spec/limits/*", hub="/spec/limits[]", key="name", rules=(rules.Move(spoke="", hub="/max"),)),
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {}),
        ({"limits": {}}, {"limits": []}),
        ({"limits": {"b": 1, "a": 2}}, {"limits": [{"name": "a", "max": 2}, {"name": "b", "max": 1}]}),
        ({"limits": {"": 0}}, {"limits": [{"name": "", "max": 0}]}),
    ],
)
def test_a_map_and_a_list_by_key(old: Any, new: Any) -> None:
    """The list is in the order of the keys, whatever the order of the map."""
    assert KEYED.new(old) == new
    assert KEYED.old(new) == old


def test_what_a_map_cannot_say_of_a_list_comes_back() -> None:
    """Another order, and items without a value."""
    assert KEYED.old({"limits": [{"name": "b", "max": 1}, {"name": "a"}]}) == {"limits": {"b": 1}}
    assert KEYED.comes_back({"limits": [{"name": "b", "max": 1}, {"name": "a"}]}, "new")
    assert KEYED.comes_back({"limits": [{"name": "b", "max": 1}, {"name": "a", "max": 2}]}, "new")


def test_a_list_without_keys_may_repeat_one() -> None:
    """Of items with the same key the first is seen, one without a key is not; nothing is lost."""
    specs = subject.bound(
        has(env=items(has(name=STRING, value=STRING))),
        has(env=keys(has(value=STRING))),
        rules.Keyed(spoke="/spec/env[]", hub="/spec/env/*", key="name"),
    )
    env = [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}, {"value": "3"}]
    assert specs.new({"env": env}) == {"env": {"a": {"value": "1"}}}
    assert specs.comes_back({"env": env}, "old")
    assert specs.old({"env": {"b": {}, "a": {"value": "1"}}}) == {"env": [{"name": "a", "value": "1"}, {"name": "b"}]}
