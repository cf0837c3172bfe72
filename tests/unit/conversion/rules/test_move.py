"""``move`` and ``only``: fields at another place, and fields of one version."""

from __future__ import annotations

import pytest
from tests.unit.conversion.rules import subject
from tests.unit.conversion.rules.subject import INTEGER, STRING, has, items, keys

import instar.conversion as conversion
from instar.conversion import rules

RENAME = subject.bound(
    has(a=STRING, same=STRING), has(b=STRING, same=STRING), rules.Move(spoke="/spec/a", hub="/spec/b")
)


@pytest.mark.parametrize("spec", [{"a": "x", "same": "y"}, {"same": "y"}, {"a": ""}, {}])
def test_a_rename_changes_the_name_and_nothing_else(spec: dict[str, str]) -> None:
    """Absent stays absent, an empty text is a value, and what has no rule stays."""
    renamed = {{"a": "b"}.get(name, name): value for name, value in spec.items()}
    assert RENAME.new(spec) == renamed
    assert RENAME.old(renamed) == spec


def test_null_makes_nothing_and_comes_back() -> None:
    """A null is no value to a rule; it is carried where the schema allows it."""
    nullable = {**STRING, "nullable": True}
    specs = subject.bound(has(a=nullable), has(b=nullable), rules.Move(spoke="/spec/a", hub="/spec/b"))
    assert specs.new({"a": None}) == {}
    assert specs.comes_back({"a": None}, "old")


def test_names_are_swapped() -> None:
    """All is taken before anything is put."""
    both = has(a=STRING, b=STRING)
    specs = subject.bound(
        both, both, rules.Move(spoke="/spec/a", hub="/spec/b"), rules.Move(spoke="/spec/b", hub="/spec/a")
    )
    assert specs.new({"a": "1", "b": "2"}) == {"a": "2", "b": "1"}
    assert specs.new({"a": "1"}) == {"b": "1"}


def test_a_scalar_becomes_a_field_of_an_object_of_its_name() -> None:
    """The object is taken whole before the scalar is put in its place, and the other way round."""
    specs = subject.bound(
        has(image=STRING),
        has(image=has(repository=STRING, tag=STRING)),
        rules.Move(spoke="/spec/image", hub="/spec/image/repository"),
        rules.Only(hub="/spec/image/tag"),
    )
    assert specs.new({"image": "acme/x"}) == {"image": {"repository": "acme/x"}}
    assert specs.old({"image": {"repository": "acme/x", "tag": "1"}}) == {"image": "acme/x"}
    assert specs.old({"image": {"tag": "1"}}) == {}
    assert specs.comes_back({"image": {"repository": "acme/x", "tag": "1"}}, "new")
    assert specs.comes_back({"image": {"tag": "1"}}, "new")


def test_an_emptied_parent_goes_unless_the_target_requires_it() -> None:
    """What a move leaves empty is no object that somebody wrote; an empty one that was written stays."""
    moved = rules.Move(spoke="/spec/deep/er/a", hub="/spec/a")
    rest = has(deep=has(er=has(x=STRING)), a=STRING)
    specs = subject.bound(has(deep=has(er=has(a=STRING, x=STRING))), rest, moved)
    assert specs.new({"deep": {"er": {"a": "1"}}}) == {"a": "1"}
    assert specs.new({"deep": {"er": {"a": "1", "x": "2"}}}) == {"a": "1", "deep": {"er": {"x": "2"}}}
    assert specs.new({"deep": {"er": {}}}) == {"deep": {"er": {}}}
    required = has(deep=has(er=has(x=STRING)), a=STRING, required=["deep"])
    specs = subject.bound(has(deep=has(er=has(a=STRING, x=STRING))), required, moved)
    assert specs.new({"deep": {"er": {"a": "1"}}}) == {"a": "1", "deep": {}}


def test_a_first_level_field_stays_when_it_is_emptied() -> None:
    """An object without spec is another object than one with an empty one."""
    specs = subject.bound(
        has(ready=STRING), has(x=has(ready=STRING)), rules.Move(spoke="/spec/ready", hub="/spec/x/ready")
    )
    assert specs.new({}) == {}
    assert specs.old({"x": {"ready": "y"}}) == {"ready": "y"}


def test_an_object_moves_with_a_field_of_it_renamed() -> None:
    """Inner fields are taken before, and put after, the object that holds them."""
    specs = subject.bound(
        has(template=has(a=STRING, x=STRING)),
        has(pod=has(b=STRING, x=STRING)),
        rules.Move(spoke="/spec/template", hub="/spec/pod"),
        rules.Move(spoke="/spec/template/a", hub="/spec/pod/b"),
    )
    assert specs.new({"template": {"a": "1", "x": "2"}}) == {"pod": {"b": "1", "x": "2"}}
    assert specs.old({"pod": {"b": "1"}}) == {"template": {"a": "1"}}
    assert specs.old({"pod": {}}) == {"template": {}}


def test_fields_of_items_and_of_map_values_move() -> None:
    """Wildcards stand for the same item at both sides; items that are empty or null stay."""
    specs = subject.bound(
        has(list=items(has(a=STRING, n=STRING)), map=keys(has(a=STRING))),
        has(list=items(has(in_=has(b=STRING), n=STRING)), map=keys(has(b=STRING))),
        rules.Move(spoke="/spec/list[]/a", hub="/spec/list[]/in_/b"),
        rules.Move(spoke="/spec/map/*/a", hub="/spec/map/*/b"),
    )
    old = {"list": [{"a": "1", "n": "x"}, {}, {"n": "y"}], "map": {"k": {"a": "1"}, "l": {}}}
    new = {"list": [{"in_": {"b": "1"}, "n": "x"}, {}, {"n": "y"}], "map": {"k": {"b": "1"}, "l": {}}}
    assert specs.new(old) == new
    assert specs.old(new) == old
    assert specs.new({"list": [], "map": {}}) == {"list": [], "map": {}}


def test_nested_lists() -> None:
    """Every list on the way is walked."""
    specs = subject.bound(
        has(a=items(has(b=items(has(c=STRING))))),
        has(a=items(has(b=items(has(d=STRING))))),
        rules.Move(spoke="/spec/a[]/b[]/c", hub="/spec/a[]/b[]/d"),
    )
    assert specs.new({"a": [{"b": [{"c": "1"}, {}]}, {"b": []}, {}]}) == {"a": [{"b": [{"d": "1"}, {}]}, {"b": []}, {}]}


def test_labels_and_annotations_are_places() -> None:
    """A rule may name a key of them; nobody else's keys are touched."""
    specs = subject.bound(
        has(), has(owner=STRING), rules.Move(spoke="/metadata/annotations/acme.io~1owner", hub="/spec/owner")
    )
    spoke = specs.of.conversion.spokes[0]
    assert spoke.metadata_paths == ("/metadata/annotations/acme.io~1owner",)
    assert spoke.hub_metadata_paths == ()
    hop = specs.of.hops["old", "new"]
    old = subject.thing({}, "old", {"annotations": {"acme.io/owner": "me", "x": "y"}})
    new = hop.forward.function(old)
    assert (new["metadata"]["annotations"], new["spec"]) == ({"x": "y"}, {"owner": "me"})
    back = hop.reverse.function(new)
    assert (back["metadata"]["annotations"], back["spec"]) == ({"x": "y", "acme.io/owner": "me"}, {})


def test_both_keys_present_is_an_error() -> None:
    """An object that has the old field and the new one says two things; neither is dropped."""
    open_ = {**has(a=STRING), "x-kubernetes-preserve-unknown-fields": True}
    specs = subject.bound(open_, has(b=STRING), rules.Move(spoke="/spec/a", hub="/spec/b"))
    with pytest.raises(conversion.ConversionError, match=r'spec.b: "2": is there already.*rules\[0\] \(move\)'):
        specs.new({"a": "1", "b": "2"})


def test_a_scalar_in_the_way_is_an_error() -> None:
    """A parent that is no object is not overwritten."""
    open_ = {**has(a=STRING), "x-kubernetes-preserve-unknown-fields": True}
    specs = subject.bound(open_, has(b=has(c=STRING)), rules.Move(spoke="/spec/a", hub="/spec/b/c"))
    with pytest.raises(conversion.ConversionError, match=r'spec.b: "2": is there already'):
        specs.new({"a": "1", "b": "2"})


def test_a_field_of_one_version_comes_back() -> None:
    """It is not at the other version, where the place may mean something else."""
    specs = subject.bound(has(x=STRING), has(x=INTEGER), rules.Only(spoke="/spec/x"), rules.Only(hub="/spec/x"))
    assert specs.new({"x": "1"}) == {}
    assert specs.comes_back({"x": "1"}, "old")
    assert specs.comes_back({"x": 1}, "new")


def test_a_field_of_one_version_with_a_default() -> None:
    """The default is put where the holder is, and what was carried wins over it."""
    specs = subject.bound(
        has(list=items(has(n=STRING))),
        has(mode=STRING, list=items(has(n=STRING, on=subject.BOOLEAN))),
        rules.Only(hub="/spec/mode", default="auto"),
        rules.Only(hub="/spec/list[]/on", default=False),
    )
    assert specs.new({}) == {"mode": "auto"}
    assert specs.new({"list": [{"n": "1"}]}) == {"mode": "auto", "list": [{"n": "1", "on": False}]}
    assert specs.old({"mode": "auto"}) == {}
    assert specs.comes_back({"mode": "manual"}, "new")
    assert specs.comes_back({}, "new")


def test_where_a_default_comes_with_its_holder_an_emptied_holder_stays() -> None:
    """Gone, it would not bring the default again."""
    specs = subject.bound(
        has(deep=has(same=STRING)),
        has(deep=has(same=STRING, mode=STRING)),
        rules.Only(hub="/spec/deep/mode", default="a"),
    )
    assert specs.new({"deep": {}}) == {"deep": {"mode": "a"}}
    assert specs.old({"deep": {"mode": "a"}}) == {"deep": {}}
    assert specs.new({}) == {}


def test_an_empty_object_does_not_stay_where_the_target_has_a_number() -> None:
    """Its fields have rules and it holds none of them: left in place it would stand where an integer must."""
    specs = subject.bound(
        has(ready=INTEGER, replicas=INTEGER),
        has(replicas=has(ready=INTEGER, total=INTEGER)),
        rules.Move(spoke="/spec/ready", hub="/spec/replicas/ready"),
        rules.Move(spoke="/spec/replicas", hub="/spec/replicas/total"),
    )
    assert specs.old({"replicas": {}}) == {}
    assert specs.old({"replicas": {"ready": 1}}) == {"ready": 1}
    assert specs.comes_back({"replicas": {}}, "new")
