"""Each law finds what breaks it, at the place where it is broken, and lets be what does not."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tests.unit.conversion import subject
from tests.unit.testing import broken

import instar.conversion as conversion
from instar.conversion import rules as conversion_rules
from instar.model import crd as crd_model
from instar.testing import cases, lawbook, twin

INTEGER = {"type": "integer"}
SPEC = {"type": "object", "properties": {"a": INTEGER, "b": INTEGER}}
LAWS = {law.name: law for law in lawbook.LAWS}
LOSING = subject.losing(SPEC, "b")


def check(name: str, bound: Any, case: cases.Case) -> list[str]:
    """The places of the findings."""
    return sorted({finding.path for finding in LAWS[name].check(twin.Twin(bound), case)})


def whole(version: str = "new", **spec: Any) -> cases.Case:
    return cases.Case(kind="whole", origin="", object=subject.thing(version, spec))


def edited(client: str, path: tuple[str | int, ...], value: Any, case: cases.Case) -> cases.Case:
    return dataclasses.replace(case, kind="edited", change=cases.Change(version=client, path=path, value=value))


@pytest.mark.parametrize("law", [law for law in lawbook.LAWS if law.name != "L10"], ids=lambda law: law.name)
def test_nothing_is_found_where_all_is_well(law: lawbook.Law) -> None:
    case = whole(a=1, b=2)
    case = edited("old", ("spec", "a"), 5, case) if law.kinds == ("edited",) else case
    assert law.check(twin.Twin(LOSING), case) == ()


@pytest.mark.parametrize("name", ["L1", "L2", "L6"])
def test_a_framework_that_carries_nothing_loses_the_field(name: str) -> None:
    """What is written at new and stored at old is not read again."""
    assert check(name, broken.as_(broken.CarriesNothing, LOSING), whole(a=1, b=2)) == ["/spec/b"]


def test_part_of_an_object_that_does_not_come_back() -> None:
    case = dataclasses.replace(whole(a=1, b=2), kind="partial", salt=2)
    assert check("L9", LOSING, case) == []
    assert check("L9", broken.as_(broken.CarriesNothing, LOSING), case) == ["/spec/b"]


def test_part_of_an_object_with_a_field_that_the_whole_has_not() -> None:
    """A field that appears when another one is missing is owned by whoever did not mention it."""

    def from_hub(obj: Any) -> Any:
        spec = obj.get("spec") or {}
        if "a" in spec and "b" not in spec:
            spec["alone"] = 1
        return obj

    old = {"type": "object", "properties": {"a": INTEGER, "b": INTEGER, "alone": INTEGER}}
    bound = subject.bound({"old": old, "new": SPEC}, lambda obj: obj, from_hub)
    findings = [check("L9", bound, dataclasses.replace(whole(a=1, b=2), kind="partial", salt=n)) for n in range(60)]
    assert ["/spec/alone"] in findings


def test_an_edit_that_is_overwritten() -> None:
    """The client said 5, and what was carried put 99 there."""
    strict = subject.losing({"type": "object", "properties": {"a": INTEGER, "b": INTEGER, "c": INTEGER}}, "b")
    case = edited("old", ("spec", "a"), 5, whole(a=1, b=2))
    assert check("L3", strict, case) == []
    overwriting = broken.as_(broken.WantsTheirWay, TWICE)
    assert check("L3", TWICE, edited("old", ("spec", "a"), 5, whole(a=1))) == []
    assert check("L3", overwriting, edited("old", ("spec", "a"), 5, whole(a=1))) == ["/spec/a"]


def doubled(obj: Any) -> Any:
    if "a" in (obj.get("spec") or {}):
        obj["spec"]["a"] = obj["spec"]["a"] // 10
    return obj


def tenfold(obj: Any) -> Any:
    if "a" in (obj.get("spec") or {}):
        obj["spec"]["a"] = obj["spec"]["a"] * 10
    return obj


TWICE = subject.bound({"old": SPEC, "new": SPEC}, tenfold, doubled)


def test_a_leaf_that_an_edit_did_not_touch_and_that_is_gone() -> None:
    """Restoring too little is loss too, and exactness does not see it."""
    forgetful = broken.as_(broken.DropsAfterEdits, LOSING)
    assert check("L1", forgetful, whole(a=1, b=2)) == []
    assert check("L3", forgetful, edited("old", ("spec", "a"), 5, whole(a=1, b=2))) == ["/spec/b"]


def test_a_leaf_that_the_edit_did_touch_may_change() -> None:
    case = edited("old", ("spec", "a"), 7, whole(a=14))
    assert check("L3", TWICE, case) == []


def with_status(to_hub: Any = None, rules: Any = None) -> conversion.Bound:
    """Two versions with a spec and a status of the same fields."""
    document = subject.crd({"old": SPEC, "new": SPEC}).document
    for version in document["spec"]["versions"]:
        version["schema"] = {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC, "status": SPEC}}}
    functions = {"to_hub": to_hub, "from_hub": lambda obj: obj} if to_hub else {"rules": rules}
    spoke = conversion.Spoke(version="old", **functions)
    group = conversion.Conversion(group=subject.GROUP, kind="Thing", hub="new", spokes=(spoke,))
    return conversion.bind(group, crd_model.parse(document))


def test_an_absence_that_the_client_would_see_is_no_needless_loss() -> None:
    """The client leaves an empty status; that new had none may not come back, for the client would see it go."""
    crossed = (
        conversion_rules.Move(spoke="/status/a", hub="/spec/a"),
        conversion_rules.Move(spoke="/spec/a", hub="/status/a"),
    )
    assert check("L3", with_status(rules=crossed), edited("old", ("status", "a"), cases.GONE, whole(a=1))) == []


def refusing(obj: Any) -> Any:
    if (obj.get("spec") or {}).get("a") == 3:
        raise conversion.Unconvertible("spec.a", 3, "is three")
    if (obj.get("spec") or {}).get("b") == 0:
        raise KeyError("b")
    return obj


REFUSING = subject.bound({"old": SPEC, "new": SPEC}, lambda obj: obj, refusing)


def odd(**spec: Any) -> cases.Case:
    return cases.Case(kind="odd", origin="", object=subject.thing("new", spec))


def test_a_valid_object_that_is_refused() -> None:
    """It can be stored, and then neither read nor listed."""
    assert check("L4", REFUSING, whole(a=3)) == ["/spec/a"]
    assert check("L4", REFUSING, whole(a=4)) == []


def test_an_odd_object_is_refused_in_words_or_found() -> None:
    """Unconvertible is meant; a KeyError is not, unless a value has a type that its schema never had."""
    assert check("L4", REFUSING, odd(a=3, unknown=1)) == []
    assert check("L4", REFUSING, odd(b=0, a=None)) == [""]
    assert check("L4", REFUSING, odd(b=0, a="text")) == []


@pytest.mark.parametrize("kind", [broken.Changes, broken.Wavers])
def test_an_impure_conversion(kind: type[conversion.Bound]) -> None:
    assert check("L5", broken.as_(kind, LOSING), whole(a=1)) != []


def test_an_author_s_function_that_counts() -> None:
    """State between two calls: the same object converts to another one."""
    calls = [0]

    def counting(obj: Any) -> Any:
        calls[0] += 1
        return {**obj, "spec": {"a": calls[0]}}

    assert "/spec/a" in check("L5", subject.bound({"old": SPEC, "new": SPEC}, lambda obj: obj, counting), whole(a=1))


def test_metadata_that_changes() -> None:
    assert check("L7", broken.as_(broken.Touches, LOSING), whole(a=1)) == ["/metadata"]


REQUIRED = {"type": "object", "properties": {"a": INTEGER, "b": INTEGER}, "required": ["b"]}


def test_a_valid_object_becomes_an_invalid_one() -> None:
    """Nothing fills in what the target requires."""
    bound = subject.bound({"old": REQUIRED, "new": SPEC}, lambda obj: obj, lambda obj: obj)
    assert check("L8", bound, whole(a=1)) == ["/spec"]
    assert check("L8", bound, whole(a=1, b=1)) == []


UNION = {
    "type": "object",
    "properties": {"t": {"type": "string"}, "A": INTEGER},
    "anyOf": [{"properties": {"t": {"enum": ["A"]}}}, {"not": {"required": ["A"]}}],
}


def test_a_union_that_is_not_declared_is_found_and_a_declared_one_is_well() -> None:
    """t is set to B through a version that does not have A: what was carried of A must not come back."""
    tag = {"type": "object", "properties": {"t": {"type": "string"}}}

    def without(obj: Any) -> Any:
        (obj.get("spec") or {}).pop("A", None)
        return obj

    case = edited("old", ("spec", "t"), "B", whole(t="A", A=1))
    bare = subject.bound({"old": tag, "new": UNION}, lambda obj: obj, without)
    assert check("L8", bare, case) == ["/spec"]
    group = conversion.Group(version="new", paths=("/spec/t", "/spec/A"))
    grouped = subject.bound({"old": tag, "new": UNION}, lambda obj: obj, without, groups=(group,))
    assert check("L8", grouped, case) == []
    assert check("L3", grouped, case) == []


def test_a_batch_in_which_objects_know_each_other() -> None:
    second = subject.thing("old", {"a": 2})
    second["metadata"]["name"] = "second"
    case = dataclasses.replace(whole(a=1, b=2), kind="batch", others=(second, subject.thing("new", {"a": 3})))
    assert check("L10", LOSING, case) == []
    assert check("L10", broken.as_(broken.KnowsTheOthers, LOSING), case) == ["/"]


def scaled(spoke: dict[str, str], hub: dict[str, str]) -> Any:
    bound = subject.bound({"old": SPEC, "new": SPEC}, tenfold, doubled)
    document = {**bound.crd.document, "spec": {**bound.crd.document["spec"]}}
    old, new = document["spec"]["versions"]
    document["spec"]["versions"] = [
        {**old, "subresources": {"scale": spoke}},
        {**new, "subresources": {"scale": hub}},
    ]
    return dataclasses.replace(bound, crd=dataclasses.replace(bound.crd, document=document))


def test_scale_that_says_two_numbers() -> None:
    """kubectl scale at one version and at the other."""
    both = {"specReplicasPath": ".spec.a", "statusReplicasPath": ".spec.b"}
    assert check("L11", scaled(both, both), whole(a=20, b=3)) == ["/spec/a"]
    assert check("L11", scaled(both, {}), whole(a=20, b=3)) == []


def test_a_write_of_status_that_moves_the_spec() -> None:
    """/status takes nothing else from the client; a spec made of the status would move with it."""

    def mixing(obj: Any) -> Any:
        if "a" in (obj.get("status") or {}):
            obj["spec"] = {**(obj.get("spec") or {}), "a": obj["status"]["a"]}
        return obj

    case = cases.Case(kind="whole", origin="", object={**subject.thing("new", {"a": 1}), "status": {"a": 1}})
    change = edited("old", ("status", "a"), 2, case)
    assert check("L11", with_status(lambda obj: obj), change) == []
    assert check("L11", with_status(mixing), change) == ["/spec/a"]


def test_carried_annotations_that_leave_no_room() -> None:
    text = {"type": "object", "properties": {"a": INTEGER, "b": {"type": "string"}}}
    bound = subject.losing(text, "b")
    assert check("L12", bound, whole(a=1, b="x" * 50_000)) == []
    assert check("L12", bound, whole(a=1, b="x" * 60_000)) == ["/metadata/annotations"]


def test_an_object_that_is_not_valid_is_not_asked_about() -> None:
    """Laws about valid objects say nothing of others."""
    for name in ("L1", "L2", "L6", "L8", "L12"):
        assert check(name, broken.as_(broken.CarriesNothing, LOSING), whole(a="text", b=2)) == []
