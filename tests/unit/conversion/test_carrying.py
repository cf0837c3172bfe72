"""The table of cases of carrying, and its four steps, by hand: each expected value was written, not computed."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from typing import Any

import pytest
from tests.unit.conversion import subject

import instar.conversion as conversion
from instar.conversion import entries, listing
from instar.model import gojson

WIDGET = subject.example("widget")
REPLICAS = "carried.platform.acme.io/v1.c7689d5969f27caa"
VIEW = "carried.platform.acme.io/v1.view"


def widget(version: str, spec: dict[str, Any], notes: dict[str, str] | None = None) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": "w", "namespace": "default", "uid": "1"}
    if notes:
        metadata["annotations"] = notes
    return {"apiVersion": f"platform.acme.io/{version}", "kind": "Widget", "metadata": metadata, "spec": spec}


THREE = widget("v1", {"tier": "bronze", "resources": {"replicas": 3}})
STORED = widget(
    "v1alpha1",
    {"size": "small"},
    {REPLICAS: '["Widget","/spec/resources/replicas",[3],[1]]', VIEW: "9d8d25dd0280b968fc5ccde086d8013f"},
)


def test_three_replicas_read_as_small_and_stay_three() -> None:
    """The hand-written entry, key and view; and exactness."""
    assert WIDGET.convert(THREE, "v1alpha1") == STORED
    assert WIDGET.convert(STORED, "v1") == THREE


def test_an_edit_through_the_old_version_wins() -> None:
    """size: large is 5 replicas, whatever was carried; nothing of it is left."""
    assert WIDGET.convert(subject.edited(STORED, size="large"), "v1") == widget(
        "v1", {"tier": "bronze", "resources": {"replicas": 5}}
    )


def test_what_the_edit_did_not_touch_is_restored() -> None:
    """An edit of the image leaves the 3 replicas, and the tier that v1alpha1 cannot say."""
    gold = WIDGET.convert(widget("v1", {"tier": "gold", "resources": {"replicas": 3}}), "v1alpha1")
    assert WIDGET.convert(subject.edited(gold, image="i"), "v1")["spec"] == {
        "image": "i",
        "tier": "gold",
        "resources": {"replicas": 3},
    }


def test_edited_away_and_back_while_the_old_version_is_stored() -> None:
    """Restored: no edit is visible."""
    away = subject.edited(STORED, size="large", image="i")
    back = subject.edited(away, size="small")
    assert WIDGET.convert(back, "v1")["spec"]["resources"] == {"replicas": 3}


def test_edited_away_and_back_while_the_new_version_is_stored() -> None:
    """Two edits: each wins in its turn."""
    large = WIDGET.convert(subject.edited(STORED, size="large"), "v1")
    seen = WIDGET.convert(large, "v1alpha1")
    assert seen == widget("v1alpha1", {"size": "large"})
    assert WIDGET.convert(subject.edited(seen, size="small"), "v1")["spec"]["resources"] == {"replicas": 1}


def test_replaced_without_our_annotations() -> None:
    """Lost, unless a guard puts them back."""
    replaced = copy.deepcopy(STORED)
    del replaced["metadata"]["annotations"]
    assert WIDGET.convert(replaced, "v1")["spec"]["resources"] == {"replicas": 1}


def test_a_client_deletes_an_entry() -> None:
    """A deliberate drop: only that leaf is lost."""
    stored = WIDGET.convert(widget("v1", {"tier": "gold", "resources": {"replicas": 3}}), "v1alpha1")
    del stored["metadata"]["annotations"][REPLICAS]
    assert WIDGET.convert(stored, "v1")["spec"] == {"tier": "gold", "resources": {"replicas": 1}}


def test_an_old_manifest_with_entries_is_applied() -> None:
    """Its values win as any applied value does."""
    seven = WIDGET.convert(widget("v1", {"tier": "bronze", "resources": {"replicas": 4}}), "v1alpha1")
    seven["metadata"]["annotations"].update(STORED["metadata"]["annotations"])
    assert WIDGET.convert(seven, "v1")["spec"]["resources"] == {"replicas": 3}


def test_a_copy_as_a_template_carries_a_copy() -> None:
    """Another name, another namespace, no uid: the carried data is the body's, not the object's."""
    copied = {**STORED, "metadata": {**STORED["metadata"], "name": "other", "namespace": "else"}}
    assert WIDGET.convert(copied, "v1")["spec"]["resources"] == {"replicas": 3}


def test_a_copy_to_another_kind_is_dropped_by_kind() -> None:
    """Annotations copied from a Widget carry nothing in a Tenant, and are no error."""
    tenant = {
        "apiVersion": "platform.acme.io/v1alpha1",
        "kind": "Tenant",
        "metadata": {"name": "t", "annotations": STORED["metadata"]["annotations"]},
        "spec": {"class": "standard"},
    }
    outcome = subject.example("tenant").outcome(tenant, "v1")
    assert outcome.object["metadata"] == {"name": "t"}
    assert outcome.dropped == (conversion.Drop(REPLICAS, "of another kind"),)


INTEGERS = {"type": "object", "properties": {name: {"type": "integer"} for name in "abc"}}


def test_spoke_to_spoke_goes_through_the_hub() -> None:
    """The hub's and the source's entries go together: there and back is exact, and so is the hub on the way."""
    lose = lambda name: lambda obj: {**obj, "spec": {k: v for k, v in obj["spec"].items() if k != name}}  # noqa: E731
    whole = conversion.Conversion(
        group=subject.GROUP,
        kind="Thing",
        hub="hub",
        spokes=(
            conversion.Spoke(version="one", to_hub=lose("a"), from_hub=lose("c")),
            conversion.Spoke(version="two", to_hub=lambda obj: obj, from_hub=lose("b")),
        ),
    )
    bound = conversion.bind(whole, subject.crd({"one": INTEGERS, "hub": INTEGERS, "two": INTEGERS}))
    start = bound.convert(subject.thing("hub", {"b": 2, "c": 3}), "one")
    start["spec"]["a"] = 1
    away = bound.convert(start, "two")
    assert away["spec"] == {"c": 3}
    assert subject.entries(away) == ['["Thing","/spec/a",[1]]', '["Thing","/spec/b",[2]]']
    assert {key.rpartition("/")[2].partition(".")[0] for key in subject.notes(away)} == {"hub", "one"}
    assert bound.convert(away, "one")["spec"] == start["spec"]
    assert bound.convert(away, "hub")["spec"] == {"b": 2, "c": 3}


def test_storage_flipped_back_is_nothing_special() -> None:
    """Ten times there and back: the object and its annotations stay what they were."""
    obj = THREE
    for _ in range(10):
        obj = WIDGET.convert(WIDGET.convert(obj, "v1alpha1"), "v1")
    assert obj == THREE


def released(factor: int) -> Any:
    """A release whose converter shows ``n`` divided by a factor; it cannot say ``m``."""
    return subject.bound(
        {"old": INTEGERS, "new": INTEGERS},
        lambda obj: {**obj, "spec": {"a": obj["spec"]["a"] * factor}},
        lambda obj: {**obj, "spec": {"a": obj["spec"]["a"] // factor}},
    )


def test_a_new_converter_release() -> None:
    """An object not written since loses nothing; after a write, entries whose base changed are dropped."""
    stored = released(10).convert(subject.thing("new", {"a": 47, "b": 2}), "old")
    assert stored["spec"] == {"a": 4}
    assert released(3).convert(stored, "new")["spec"] == {"a": 47, "b": 2}
    outcome = released(3).outcome(subject.edited(stored, c=9), "new")
    assert outcome.object["spec"] == {"a": 12, "b": 2}
    assert outcome.dropped == (conversion.Drop("/spec/a", "an edit changed it"),)


def test_entries_of_other_versions_pass_untouched() -> None:
    """An older release that does not know a version yet, or any more, hands its entries on as they are."""
    foreign = {"carried.acme.io/v7.0123456789abcdef": "anything", "carried.acme.io/v7.view": "x", "note": "n"}
    bound = subject.losing(INTEGERS, "c")
    there = bound.convert(subject.thing("new", {"c": 1}, foreign), "old")
    assert foreign.items() <= subject.notes(there).items()
    assert subject.notes(bound.convert(there, "new")) == foreign


def test_an_entry_of_a_later_format_is_an_error() -> None:
    """An older release says clearly that it cannot, rather than drop what it does not understand."""
    bound = subject.losing(INTEGERS, "c")
    there = bound.convert(subject.thing("new", {"c": 1}), "old")
    key = next(key for key in subject.notes(there) if not key.endswith("view"))
    there["metadata"]["annotations"][key] = '[3,"Thing","/spec/c",{"any":"thing"}]'
    with pytest.raises(
        conversion.ConversionError, match=r"Thing default/x old -> new: .*/spec/c has format 3"
    ) as caught:
        bound.convert(there, "new")
    assert caught.value.path == "/spec/c"
    there["metadata"]["annotations"][key] = '[3,"Other","/spec/c",{"any":"thing"}]'
    assert bound.convert(there, "new")["spec"] == {}


def test_stale_entries_of_the_source_go() -> None:
    """Entries for the version that an object is at are of no use, and are not handed on."""
    stale = {
        "carried.acme.io/new.0123456789abcdef": "x",
        "carried.acme.io/new.view": "x",
        "carried.acme.io/rubbish": "x",
    }
    assert subject.notes(subject.losing(INTEGERS, "c").convert(subject.thing("new", {"a": 1}, stale), "old")) == {}


def test_nothing_lost_nothing_written() -> None:
    """No view, no empty map of annotations."""
    assert subject.losing(INTEGERS, "c").convert(subject.thing("new", {"a": 1}), "old") == subject.thing(
        "old", {"a": 1}
    )


MAP = {"type": "object", "properties": {"m": {"type": "object", "additionalProperties": INTEGERS}}}


def test_a_map_key_that_an_edit_removed_stays_away() -> None:
    """What was carried below a map key is not restored where a client took the key away."""
    bound = subject.losing(MAP, "c")
    there = bound.convert(subject.thing("new", {"m": {"k": {"a": 1, "c": 3}, "l": {"a": 1, "c": 4}}}), "old")
    assert subject.entries(there) == ['["Thing","/spec/m/k/c",[3],1]', '["Thing","/spec/m/l/c",[4],1]']
    del there["spec"]["m"]["k"]
    assert bound.convert(there, "new")["spec"] == {"m": {"l": {"a": 1, "c": 4}}}


def test_a_plain_parent_that_an_edit_removed_does_not_matter() -> None:
    """A leaf comes back with its parents where only plain ones are gone."""
    nested = {"type": "object", "properties": {"p": INTEGERS}}
    bound = subject.losing(nested, "c")
    there = bound.convert(subject.thing("new", {"p": {"a": 1, "c": 3}}), "old")
    assert bound.convert(subject.edited(there, p=None), "new")["spec"] == {"p": {"c": 3}}


def test_an_edit_that_puts_something_there_wins() -> None:
    """A carried value whose place is taken now is dropped."""
    bound = subject.losing(INTEGERS, "c")
    there = bound.convert(subject.thing("new", {"c": 3}), "old")
    assert bound.convert(subject.edited(there, c=8), "new")["spec"] == {"c": 8}


def cheapest(obj: dict[str, Any]) -> dict[str, Any]:
    """Shows one number, the smaller of a and b."""
    shown = [obj["spec"][name] for name in "ab" if name in obj["spec"]]
    return {**obj, "spec": {"a": min(shown)} if shown else {}}


def test_a_restored_entry_may_not_disturb_what_a_client_sees() -> None:
    """The client says 9; the carried 5 would make it read 5 again, and is dropped."""
    bound = subject.bound({"old": INTEGERS, "new": INTEGERS}, lambda obj: obj, cheapest)
    there = bound.convert(subject.thing("new", {"a": 1, "b": 5}), "old")
    assert there["spec"] == {"a": 1}
    outcome = bound.outcome(subject.edited(there, a=9), "new")
    assert outcome.object["spec"] == {"a": 9}
    assert outcome.dropped == (conversion.Drop("/spec/b", "an edit would be lost"),)
    assert bound.convert(subject.edited(there, a=4), "new")["spec"] == {"a": 4, "b": 5}


def test_a_removal_holds_where_it_was_made() -> None:
    """The client took the number away: b, which it never saw, comes back, and does not show for it."""
    bound = subject.bound({"old": INTEGERS, "new": INTEGERS}, lambda obj: obj, cheapest)
    there = bound.convert(subject.thing("new", {"a": 1, "b": 5}), "old")
    new = bound.convert(subject.edited(there, a=None), "new")
    assert new["spec"] == {"b": 5}
    assert subject.entries(new) == ['["Thing","/spec/a",[],[5]]']
    assert bound.convert(new, "old")["spec"] == {}
    assert bound.convert(subject.edited(new, c=1), "old")["spec"] == {}


def test_only_what_disturbs_is_dropped() -> None:
    """One by one, in path order: b disturbs and goes, c comes back."""
    bound = subject.bound({"old": INTEGERS, "new": INTEGERS}, lambda obj: obj, cheapest)
    there = bound.convert(subject.thing("new", {"a": 1, "b": 5, "c": 7}), "old")
    assert bound.convert(subject.edited(there, a=9), "new")["spec"] == {"a": 9, "c": 7}


def test_a_converter_that_raises_while_testing_refuses_the_candidates() -> None:
    """It is no error: only what was carried is given up, and only that which makes it raise."""

    def strict(obj: dict[str, Any]) -> dict[str, Any]:
        spec = obj["spec"]
        if spec.get("a") == 9 and "b" in spec:
            raise ValueError("a: 9 does not go with b")
        return {**obj, "spec": {key: value for key, value in spec.items() if key == "a"}}

    bound = subject.bound({"old": INTEGERS, "new": INTEGERS}, lambda obj: obj, strict)
    there = bound.convert(subject.thing("new", {"a": 1, "b": 5, "c": 7}), "old")
    assert bound.convert(subject.edited(there, a=9), "new")["spec"] == {"a": 9, "c": 7}


def test_an_absence_is_carried_once_at_the_highest_path() -> None:
    """Defaults of a version that the object did not have are taken away again, parent and all."""
    schema = {
        "type": "object",
        "properties": {"p": {"type": "object", "default": {}, "properties": {"a": {"type": "integer", "default": 1}}}},
    }
    bound = subject.bound({"old": schema, "new": schema}, lambda obj: obj, lambda obj: obj)
    there = bound.convert(subject.thing("new", {}), "old")
    assert there["spec"] == {"p": {"a": 1}}
    assert subject.entries(there) == ['["Thing","/spec/p",[],[{"a":1}]]']
    assert bound.convert(there, "new")["spec"] == {}
    assert bound.convert(subject.edited(there, p={"a": 2}), "new")["spec"] == {"p": {"a": 2}}


UNION = {"type": "object", "properties": {"t": {"type": "string"}, "A": {"type": "integer"}, "n": {"type": "integer"}}}


@pytest.mark.parametrize(("declared", "spec"), [(False, {"t": "B", "A": 1, "n": 2}), (True, {"t": "B", "n": 2})])
def test_a_union_stands_or_falls_together_where_it_is_declared(declared: bool, spec: dict[str, Any]) -> None:
    """{t: A, A: 1} with t set to B keeps A unless t and A are a group; n is in no group and always comes back."""
    groups = (conversion.Group(version="new", paths=("/spec/t", "/spec/A")),) if declared else ()
    bound = subject.losing(UNION, "A", "n", groups=groups)
    there = bound.convert(subject.thing("new", {"t": "A", "A": 1, "n": 2}), "old")
    assert bound.convert(there, "new")["spec"] == {"t": "A", "A": 1, "n": 2}
    assert bound.convert(subject.edited(there, t="B"), "new")["spec"] == spec


ITEM = {"type": "object", "properties": {"k": {"type": "string"}, "hidden": {"type": "boolean"}}, "required": ["k"]}
LIST = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "l": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "items": ITEM,
        },
    },
}


def of_list() -> Any:
    """Going to ``old`` loses the items that are hidden."""

    def from_hub(obj: dict[str, Any]) -> dict[str, Any]:
        shown = [item for item in obj["spec"].get("l", []) if not item.get("hidden")]
        return {**obj, "spec": {**obj["spec"], "l": shown}}

    return subject.bound({"old": LIST, "new": LIST}, lambda obj: obj, from_hub)


def keys(obj: dict[str, Any]) -> str:
    return "".join(item["k"] for item in obj["spec"]["l"])


def listed(names: str) -> list[dict[str, Any]]:
    """Capital letters are hidden items."""
    return [{"k": name, "hidden": True} if name.isupper() else {"k": name} for name in names]


@pytest.mark.parametrize(
    ("new", "old", "edited", "wanted"),
    [
        ("aBc", "ac", "ac", "aBc"),
        ("aBc", "ac", "axc", "axBc"),  # x follows its predecessor
        ("aBc", "ac", "acx", "aBcx"),
        ("aBc", "ac", "xac", "xaBc"),
        ("aBc", "ac", "c", "Bc"),
        ("aBc", "ac", "ca", "caB"),  # the client's order wins, and B comes last
        ("acB", "ac", "ac", "acB"),
        ("CAB", "", "", "CAB"),
        ("CAB", "", "x", "xCAB"),
    ],
)
def test_the_order_of_a_list(new: str, old: str, edited: str, wanted: str) -> None:
    """Items come back by key, in their order unless a client changed it; new ones follow their predecessor."""
    bound = of_list()
    there = bound.convert(subject.thing("new", {"l": listed(new)}), "old")
    assert keys(there) == old
    assert keys(bound.convert(there, "new")) == new
    back = bound.convert(subject.edited(there, n=1, l=listed(edited)), "new")
    assert keys(back) == wanted
    assert keys(bound.convert(back, "old")) == edited


def test_an_order_is_an_entry_of_its_own_and_only_where_it_is_needed() -> None:
    """By hand: the steps in order, and of these the indexes of those that are seen."""
    bound = of_list()
    assert subject.entries(bound.convert(subject.thing("new", {"l": listed("acB")}), "old")) == [
        '["Thing","/spec/l[k=B]/hidden",[true]]'
    ]
    assert subject.entries(bound.convert(subject.thing("new", {"l": listed("aBc")}), "old")) == [
        '["Thing","/spec/l[]",[["[k=a]","[k=B]","[k=c]"]],[[0,2]]]',
        '["Thing","/spec/l[k=B]/hidden",[true]]',
    ]


@pytest.mark.parametrize(
    "text",
    [
        '["Thing","/spec/l[]",[["[k=a]","[k=a]"]],[[0]]]',
        '["Thing","/spec/l[]",[["[k=a]"]],[[1]]]',
        '["Thing","/spec/l[]",[["[k=a]"]],[[0,0]]]',
        '["Thing","/spec/l[]",[["[k=a]/hidden"]],[[0]]]',
        '["Thing","/spec/l[]",[["[z=a]"]],[[0]]]',
        '["Thing","/spec/l[]",[["["]],[[0]]]',
        '["Thing","/spec/l[]",[[7]],[[0]]]',
        '["Thing","/spec/l[]",[["[k=a]"]],[[true]]]',
        '["Thing","/spec/l[]",[["[k=a]"]]]',
        '["Thing","/spec/l[]",[],[[0]]]',
        '["Thing","/spec/n[]",[[]],[[]]]',
    ],
)
def test_a_forged_order_is_dropped(text: str) -> None:
    """An order says steps of that list, each once, and indexes of some of them; else it is nothing."""
    where = "/spec/n[]" if "/n[]" in text else "/spec/l[]"
    forged = subject.thing("old", {"l": listed("ab")}, {f"carried.acme.io/{entries.key('new', where)}": text})
    outcome = of_list().outcome(forged, "new")
    assert keys(outcome.object) == "ab"
    assert [drop.reason for drop in outcome.dropped] == ["not an order"]


def test_numbers_and_absence_come_back_type_strictly() -> None:
    """2**53+1, 1.5, null, [], {} and absent are six different things."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    bound = subject.losing(schema, "x", "y")
    for value in (2**53 + 1, 1.5, None, [], {}, "", 0, False, [None, {}], {"z": {}}, {"z": [1, {"w": 2}]}):
        spec = {"x": value, "keep": {"y": value}}
        back = bound.convert(bound.convert(subject.thing("new", spec), "old"), "new")
        assert gojson.equal(back["spec"], spec), value


FORGED = [
    ("/metadata/labels/a", ["x"], "not a place for entries"),
    ("/kind", ["x"], "not a place for entries"),
    ("/spec/zzz", [1], "no such place in the schema"),
    ("/spec/a", ["text"], "not valid there: value: must be of type integer"),
    ("/spec", [{"zzz": 1}], "not valid there: .zzz: unknown field"),
    ("/spec/a[name=x]", [1], "no such place in the schema"),
]


@pytest.mark.parametrize(("where", "value", "reason"), FORGED)
@pytest.mark.parametrize("viewed", [True, False])
def test_a_forged_entry_is_dropped(where: str, value: Any, reason: str, viewed: bool) -> None:
    """Never into metadata, never what the schema refuses; not even with a view that fits, which anyone can compute."""
    bound = subject.losing(INTEGERS, "c")
    forged = subject.thing("old", {"a": 1})
    key = f"carried.acme.io/{entries.key('new', where)}"
    text = entries.write(entries.Entry(where, value[0]), "Thing")
    forged["metadata"]["annotations"] = {key: text}
    if viewed:
        view = entries.view(forged, {key.rpartition(".")[2]: text})
        forged["metadata"]["annotations"]["carried.acme.io/new.view"] = view
    outcome = bound.outcome(forged, "new")
    assert outcome.object == subject.thing("new", {"a": 1})
    assert outcome.dropped == (conversion.Drop(key, reason),)


PROGRAM = """
import json, sys
from tests.unit.conversion import subject
tenant = subject.example("tenant")
owners = [{"name": name, "role": "admin"} for name in "zyx"]
spec = {"tier": "dedicated", "quota": {"cpu": "1", "gpus": 2, "scopes": list("cab")}, "owners": owners}
one = {"apiVersion": "platform.acme.io/v1", "kind": "Tenant", "metadata": {}, "spec": spec}
two = tenant.convert(one, "v1alpha1")
three = tenant.convert(two, "v1")
four = tenant.convert(subject.edited(two, quota="cpu=2"), "v1")
json.dump([two, three, four], sys.stdout)
"""


def test_same_bytes_in_every_process() -> None:
    """Hash seeds and processes change nothing: carried, restored and merged objects are the same, byte for byte."""
    texts = set()
    for seed in ("0", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(subject.ROOT)}
        command = [sys.executable, "-c", PROGRAM]
        texts.add(subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60).stdout)
    (text,) = texts
    assert all(word in text for word in (b"gpus", b"dedicated", b"carried.platform.acme.io/v1."))


def counting(function: Any, calls: list[str]) -> Any:
    def convert(obj: dict[str, Any]) -> dict[str, Any]:
        calls.append(obj["apiVersion"])
        answer: dict[str, Any] = function(obj)
        return answer

    return convert


def test_what_a_conversion_costs() -> None:
    """Two bare conversions where nothing was edited, three after an edit, more only for entries that disturb."""
    calls: list[str] = []
    bound = subject.bound(
        {"old": INTEGERS, "new": INTEGERS}, counting(lambda obj: obj, calls), counting(cheapest, calls)
    )

    def cost(obj: dict[str, Any], to: str) -> int:
        calls.clear()
        bound.convert(obj, to)
        return len(calls)

    plain, carrying = subject.thing("new", {"a": 1}), subject.thing("new", {"a": 1, "b": 5, "c": 7})
    there = bound.convert(carrying, "old")
    assert cost(plain, "new") == 0
    assert cost(plain, "old") == 2
    assert cost(bound.convert(plain, "old"), "new") == 2
    assert cost(carrying, "old") == 2
    assert cost(there, "new") == 2
    assert cost(subject.edited(there, a=4), "new") == 3
    assert cost(subject.edited(there, a=9), "new") == 5


def test_lists_are_indexed_once_for_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """500 entries below one list index it a dozen times in a whole merge, not 500 times."""
    schema = {**LIST, "properties": {**LIST["properties"], "n": {"type": "integer"}}}
    bound = subject.losing(schema, "hidden")
    spec = {"l": [{"k": f"{number:04}", "hidden": True} for number in range(500)]}
    there = bound.convert(subject.thing("new", spec), "old")
    assert len(subject.entries(there)) == 500
    indexed: list[int] = []
    original = listing.index
    monkeypatch.setattr(listing, "index", lambda items, node: (indexed.append(len(items)), original(items, node))[1])
    assert bound.convert(subject.edited(there, n=1), "new")["spec"] == {**spec, "n": 1}
    assert 1 <= len(indexed) <= 12


DEFAULTED = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}, "c": {"type": "integer"}},
}


def calculated(version: str, spec: dict[str, Any]) -> dict[str, Any]:
    """An object as server-side apply hands it around: with a resourceVersion."""
    obj = subject.thing(version, spec)
    obj["metadata"]["resourceVersion"] = "7"
    return obj


def test_a_default_is_not_in_the_answer_to_a_calculation() -> None:
    """Server-side apply takes a path in the answer for one that is still there: given-up b would keep its value."""
    bound = subject.losing(DEFAULTED, "b")
    assert bound.convert(calculated("old", {"a": 1}), "new")["spec"] == {"a": 1}
    assert bound.convert(subject.thing("old", {"a": 1}), "new")["spec"] == {"a": 1, "b": 1}


def test_a_calculation_leaves_no_trace_of_what_was_given_up() -> None:
    """Without b there is no entry for b, with b there is one even if its value is the default."""
    bound = subject.losing(DEFAULTED, "b")
    assert subject.entries(bound.convert(calculated("new", {"a": 1}), "old")) == []
    assert subject.entries(bound.convert(calculated("new", {"a": 1, "b": 1}), "old")) == ['["Thing","/spec/b",[1],[1]]']
    assert subject.entries(bound.convert(subject.thing("new", {"a": 1, "b": 1}), "old")) == []


@pytest.mark.parametrize("spec", [{"a": 1}, {"a": 1, "b": 1}, {"a": 1, "b": 2}, {"b": 2, "c": 3}])
def test_a_calculation_is_exact(spec: dict[str, Any]) -> None:
    """There and back, defaults or not."""
    bound = subject.losing(DEFAULTED, "b", "c")
    given = calculated("new", spec)
    assert bound.convert(bound.convert(given, "old"), "new") == given


def test_what_a_calculation_carried_is_restored_when_it_was_stored() -> None:
    """Its entries have the bases that any other's have: an edit of a leaves b as it was."""
    bound = subject.losing(DEFAULTED, "b")
    there = bound.convert(calculated("new", {"a": 1, "b": 5}), "old")
    del there["metadata"]["resourceVersion"]
    assert bound.convert(subject.edited(there, a=9), "new")["spec"] == {"a": 9, "b": 5}


def test_an_item_of_nothing_but_its_keys_comes_back() -> None:
    """A fragment's item has no required fields; its entry is not refused for that."""
    item = {"type": "object", "required": ["k", "v"], "properties": {"k": {"type": "string"}, "v": {"type": "string"}}}
    items = {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": item}
    schema = {"type": "object", "properties": {"hidden": items, "n": {"type": "integer"}}}
    bound = subject.losing(schema, "hidden")
    given = calculated("new", {"hidden": [{"k": "a"}], "n": 1})
    assert bound.convert(bound.convert(given, "old"), "new") == given


def test_a_gone_plain_parent_does_not_void_what_a_default_stood_for() -> None:
    """The base is a default; without its parent nothing is seen there, and nobody edited it."""
    schema = {"type": "object", "properties": {"p": DEFAULTED}}
    bound = subject.losing(schema, "b", "c")
    there = bound.convert(subject.thing("new", {"p": {"a": 1, "b": 5, "c": 7}}), "old")
    assert bound.convert(subject.edited(there, p=None), "new")["spec"] == {"p": {"b": 5, "c": 7}}
    assert bound.convert(subject.edited(there, p={"a": 2}), "new")["spec"] == {"p": {"a": 2, "b": 5, "c": 7}}


def test_an_emptied_spec_stays_empty_though_something_under_it_comes_back() -> None:
    """What is restored brings its parents with their defaults, as the next read would: the view still fits.

    Else the API server's defaults make the stored object another one, and the client sees the spec that it took away.
    """
    stored = widget("v1", {"tier": "gold", "resources": {"replicas": 3}})
    read = WIDGET.convert(stored, "v1alpha1")
    emptied = {name: value for name, value in read.items() if name != "spec"}
    kept = WIDGET.convert(emptied, "v1")
    assert kept["spec"] == {"tier": "gold", "resources": {"replicas": 3}}
    again = WIDGET.convert(kept, "v1alpha1")
    assert "spec" not in again
    assert WIDGET.convert(again, "v1")["spec"] == kept["spec"]


def test_a_part_of_an_object_does_not_gain_the_defaults_beside_what_is_restored() -> None:
    """A fragment that says one key of a map with a default comes back with that key, not with the default's too."""
    mapped = {"type": "object", "additionalProperties": {"type": "integer"}, "default": {"a": 1}}
    plain = {"type": "object", "properties": {"x": {"type": "string"}}}
    bound = subject.losing({"type": "object", "properties": {"f": mapped, "p": plain}}, "f")
    part = subject.thing("new", {"f": {"b": 0}, "p": {}})
    del part["metadata"]["uid"]
    assert bound.convert(bound.convert(part, "old"), "new") == part
