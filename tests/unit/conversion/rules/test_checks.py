"""What bind refuses: every wrong rule is named, and every leaf that no rule is for."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.conversion.rules import subject
from tests.unit.conversion.rules.subject import BOOLEAN, INTEGER, NUMBER, STRING, has, items, keys, one_of

import instar.conversion as conversion
from instar.conversion import rules


def refused(old: Any, new: Any, *found: rules.Rule) -> str:
    with pytest.raises(conversion.DefinitionError) as caught:
        subject.bound(old, new, *found)
    return caught.value.message


def at(of: type[rules.Rule], **more: Any) -> rules.Rule:
    return of(**{"spoke": "/spec/a", "hub": "/spec/b", **more})


def same(value: Any) -> Any:
    return value


FIRST = r"spokes[0].rules[0] "


@pytest.mark.parametrize(
    ("old", "new", "rule", "words"),
    [
        (STRING, STRING, at(rules.Move, spoke="spec/a"), FIRST + "(move): 'spec/a' is no pattern of leaves"),
        (STRING, STRING, at(rules.Move, spoke="/kind"), "'/kind': a path starts at a field of the object"),
        (STRING, STRING, at(rules.Move, spoke="/metadata/name"), "'/metadata/name': of metadata a rule may name"),
        (STRING, STRING, at(rules.Move, spoke="/metadata/annotations/carried.x~1y"), "holds what is carried"),
        (STRING, STRING, at(rules.Move, spoke=3), FIRST + "(move): 3 is no path; one looks like"),
        (STRING, STRING, at(rules.Move, spoke=None), FIRST + "(move): spoke: there is no path"),
        (
            STRING,
            STRING,
            at(rules.Move, spoke={"x": "/spec/a"}),
            FIRST + "(move): spoke: a rule of this kind has one path",
        ),
        (STRING, STRING, at(rules.Move, hub="/spec/bb"), "hub: version new has no /spec/bb; did you mean /spec/b?"),
        (STRING, STRING, at(rules.Move, spoke="/spec/a/x"), "spoke: version old has no /spec/a/x"),
        (
            STRING,
            INTEGER,
            at(rules.Move),
            "/spec/a is a string at old and /spec/b an integer at new: write a rule of kind type",
        ),
        (has(x=STRING), STRING, at(rules.Move), "/spec/a is an object at old and /spec/b a string at new"),
        (
            one_of("x"),
            one_of("y"),
            at(rules.Move),
            'without "y" at old and /spec/b without "x" at new: write a rule of kind map',
        ),
        (STRING, STRING, at(rules.Type), "/spec/a is a string and /spec/b too: write a rule of kind move"),
        (BOOLEAN, NUMBER, at(rules.Type), "a boolean is no number"),
        (has(x=STRING), STRING, at(rules.Type), "/spec/a is an object, not a string or"),
        (STRING, INTEGER, at(rules.Scale, factor=2), "/spec/a is a string, not an integer or a number"),
        (INTEGER, INTEGER, at(rules.Scale, factor="x"), "factor: 'x' is no number but 0"),
        (INTEGER, INTEGER, at(rules.Scale, factor=0), "factor: 0 is no number but 0"),
        (STRING, INTEGER, at(rules.Quantity, unit="Xi"), "unit: 'Xi' is no suffix of a quantity"),
        (INTEGER, NUMBER, at(rules.Quantity), "two numbers are a rule of kind scale"),
        (
            STRING,
            INTEGER,
            at(rules.Duration, forms=rules.Pair(spoke="go", hub="years")),
            "forms: 'years' of the hub is none",
        ),
        (
            STRING,
            INTEGER,
            at(rules.Duration, forms=rules.Pair(spoke="seconds", hub="go")),
            "/spec/a is a string, not an integer",
        ),
        (one_of("x", "y"), STRING, at(rules.Map, values={"x": "1"}), 'values: "y" of /spec/a is in no pair'),
        (STRING, one_of("1", "2"), at(rules.Map, values={"x": "1"}), 'values: "2" of /spec/b is in no pair'),
        (one_of("x"), STRING, at(rules.Map, values={"x": "1", "z": "2"}), 'values: "z" may not stand at /spec/a: '),
        (
            one_of("no"),
            BOOLEAN,
            at(rules.Map, values={False: False, "no": True}),
            "values: false may not stand at /spec/a: value: must be of type string; "
            "a text that YAML reads as a boolean stands in quotes",
        ),
        (BOOLEAN, STRING, at(rules.Map, values={True: "yes"}), "values: false of /spec/a is in no pair"),
        (STRING, STRING, at(rules.Map, values=(rules.Pair(spoke="x"),)), "values: a pair has nothing for hub"),
        (STRING, STRING, at(rules.Single), "one of /spec/a and /spec/b must end in []"),
        (
            STRING,
            items(INTEGER),
            at(rules.Single, hub="/spec/b[]"),
            "/spec/a is a string at old and /spec/b[] an integer",
        ),
        (
            items(STRING),
            keys(STRING),
            at(rules.Each, spoke="/spec/a[]", hub="/spec/b/*", rules=()),
            "is a rule of kind keyed",
        ),
        (items(STRING), items(STRING), at(rules.Each, rules=()), "must both end in []"),
        (
            items(STRING),
            keys(STRING),
            at(rules.Keyed, key="k", spoke="/spec/a[]"),
            "must end in [] (the list) and the other in /*",
        ),
        (
            items(STRING),
            keys(STRING),
            at(rules.Keyed, key="k", spoke="/spec/a[]", hub="/spec/b/*"),
            "/spec/a[] is a string, not an object",
        ),
        (
            items(has(x=STRING)),
            keys(has()),
            at(rules.Keyed, key="k", spoke="/spec/a[]", hub="/spec/b/*"),
            "key: /spec/a[] has no field k",
        ),
        (
            items(has(k=INTEGER)),
            keys(has()),
            at(rules.Keyed, key="k", spoke="/spec/a[]", hub="/spec/b/*"),
            "/spec/a[]/k is an integer, not a string",
        ),
        (STRING, STRING, at(rules.Template, text="{x}"), "one side is the path of the text"),
        (STRING, STRING, at(rules.Template, hub={"x": "/spec/b"}, text="x"), "has no placeholder"),
        (STRING, STRING, at(rules.Template, hub={"x": "/spec/b"}, text="{y}"), "the placeholder {y} has no path"),
        (
            STRING,
            STRING,
            at(rules.Template, hub={"x": "/spec/b"}, text="{y}"),
            "/spec/b: the text has no placeholder {x}",
        ),
        (STRING, STRING, at(rules.Template, hub={"x": "/spec/b"}, text="{x}{x}"), "the placeholder {x} is there twice"),
        (STRING, STRING, at(rules.Template, hub={"x": "/spec/b"}, text="{x"), "text: '{x': expected '}'"),
        (
            STRING,
            STRING,
            at(rules.Template, hub={"x": "/spec/b"}, text="a,{x}", separator=","),
            "must have one placeholder",
        ),
        (INTEGER, STRING, at(rules.Template, hub={"x": "/spec/b"}, text="{x}"), "/spec/a is an integer, not a string"),
        (STRING, has(), at(rules.Template, hub={"x": "/spec/b"}, text="{x}"), "/spec/b is an object, not a string"),
        (STRING, STRING, at(rules.Python, to_hub=same, from_hub="x"), "from_hub: 'x' is no function"),
        (
            STRING,
            STRING,
            rules.Only(spoke="/spec/a", hub="/spec/b"),
            "give the path at the spoke or the path at the hub",
        ),
        (STRING, STRING, rules.Only(), "give the path at the spoke or the path at the hub"),
        (STRING, INTEGER, rules.Only(hub="/spec/b", default="x"), "default: 'x' may not stand at /spec/b"),
        (
            items(STRING),
            items(STRING),
            at(rules.Move, spoke="/spec/a[]", hub="/spec/b[]"),
            "are two lists or maps; write an each",
        ),
        (
            items(has(x=STRING)),
            STRING,
            at(rules.Move, spoke="/spec/a[]/x"),
            "must be in items of one list or map, or none",
        ),
    ],
)
def test_a_rule_that_does_not_fit(old: Any, new: Any, rule: rules.Rule, words: str) -> None:
    """Wrong paths, wrong types, wrong settings: each names the rule, the place and what to do."""
    assert words in refused(has(a=old), has(b=new), rule)


def test_a_leaf_that_no_rule_is_for() -> None:
    """Of either version, at the highest place that the other lacks, with what to write."""
    found = refused(
        has(x=STRING, deep=has(y=STRING), list=items(has(z=STRING))), has(w=has(v=STRING), list=items(has()))
    )
    for text in (
        "/spec/x of version old is in no rule, and new has no such field that is free for it: "
        "write `only: {spoke: /spec/x}`, or a rule that says what it becomes",
        "/spec/deep of version old is in no rule",
        "/spec/list[]/z of version old is in no rule, and new has no such field that is free for it: "
        'write `only: {spoke: "/spec/list[]/z"}`, or',
        "`only: {hub: /spec/w}`",
    ):
        assert text in found
    assert len(found.splitlines()) == 5


def test_a_leaf_whose_place_is_taken() -> None:
    """A field may be called the same at both and mean another thing: the one that stays has no place."""
    found = refused(has(a=STRING, b=STRING), has(b=STRING), rules.Move(spoke="/spec/a", hub="/spec/b"))
    assert "/spec/b of version old is in no rule" in found


def test_leaves_beside_one_that_is_touched() -> None:
    """An object of which a rule takes one field has others."""
    found = refused(has(), has(image=has(name=STRING, tag=STRING)), rules.Only(hub="/spec/image/name"))
    assert "/spec/image/tag of version new is in no rule" in found
    assert "/spec/image of" not in found


@pytest.mark.parametrize("two", [{"spoke": "/spec/c"}, {"hub": "/spec/d"}])
def test_two_rules_for_one_place(two: dict[str, str]) -> None:
    """Neither may take what the other takes, nor put what the other puts."""
    schema = has(a=STRING, b=STRING, c=STRING, d=STRING)
    found = refused(schema, schema, at(rules.Move), at(rules.Move, **two))
    side = "spoke" if "hub" in two else "hub"
    place = {"spoke": "/spec/a", "hub": "/spec/b"}[side]
    assert f"spokes[0].rules[1] (move): {place} at {side} is in spokes[0].rules[0] (move) too" in found


def test_a_rule_within_what_another_one_takes_apart() -> None:
    """Only a move takes along what is inside it."""
    found = refused(
        has(a=has(x=STRING)),
        has(b=has(x=STRING)),
        rules.Only(spoke="/spec/a"),
        rules.Only(spoke="/spec/a/x"),
        rules.Only(hub="/spec/b"),
    )
    assert "/spec/a/x at spoke is in spokes[0].rules[0] (only) too" in found


def test_a_rule_within_each_is_named_whole() -> None:
    """Its index on the way, and the path from the root of the object."""
    found = refused(
        has(a=items(has(x=STRING))),
        has(b=items(has(x=INTEGER))),
        rules.Each(spoke="/spec/a[]", hub="/spec/b[]", rules=(rules.Move(spoke="/x", hub="/x"),)),
    )
    assert "spokes[0].rules[0].rules[0] (move): /spec/a[]/x is a string at old and /spec/b[]/x an integer" in found


def test_what_is_no_rule() -> None:
    """At any depth; a list of rules is as good as a tuple."""
    words = "spokes[0].rules[0]: is a str, not a rule"
    assert words in refused(has(), has(), "move")  # type: ignore[arg-type]
    inner: Any = ["move"]
    found = refused(
        has(a=items(has())), has(b=items(has())), at(rules.Each, spoke="/spec/a[]", hub="/spec/b[]", rules=inner)
    )
    assert "spokes[0].rules[0].rules[0]: is a str, not a rule" in found
    listed: Any = [rules.Only(spoke="/spec/a")]
    assert conversion.Spoke(version="old", rules=listed).rules == tuple(listed)


def test_expressions_are_checked_by_type() -> None:
    """Against the two schemas, before anything is served."""
    pytest.importorskip("cel_expr_python")
    found = refused(has(a=STRING), has(b=INTEGER), at(rules.Cel, to_hub="self == 1 ? 1 : 2", from_hub="self"))
    assert "(cel): toHub: 'self == 1 ? 1 : 2': <input>:1:6: found no matching overload" in found
    assert "(cel): fromHub: 'self' gives INT, and /spec/a is a string" in found
    found = refused(has(a=STRING), has(b=STRING), at(rules.Cel, to_hub="self +", from_hub="you"))
    assert "toHub: 'self +': <input>:1:7: Syntax error" in found
    assert "undeclared reference to 'you'" in found


def test_all_that_is_wrong_is_said_at_once() -> None:
    """One run of a check shows everything that is to be mended."""
    found = refused(has(a=STRING), has(b=STRING), at(rules.Type), at(rules.Scale, factor="x"))
    assert "rules[0] (type)" in found
    assert "rules[1] (scale): factor" in found


def test_a_spoke_has_rules_or_functions() -> None:
    """Both would leave open which counts."""
    with pytest.raises(conversion.DefinitionError, match=r"spokes\[0\].to_hub: a spoke has rules or functions"):
        conversion.Conversion(
            group="acme.io", kind="Thing", hub="new", spokes=(conversion.Spoke(version="old", to_hub=same, rules=()),)
        )
