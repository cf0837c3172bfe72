"""Deep, wide, huge and malformed input: a right answer or one clear error. Timed by bench/extremes.py."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.conversion import subject

import instar.conversion as conversion
from instar.conversion import restoring
from instar.schema import structural

MANY = 100_000
TEXT = {"type": "string"}
ITEM = {"type": "object", "properties": {"k": TEXT, "v": TEXT, "lost": TEXT}}
SCHEMA = {
    "type": "object",
    "properties": {
        "keyed": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
            "items": ITEM,
        },
        "set": {"type": "array", "x-kubernetes-list-type": "set", "items": TEXT},
        "map": {"type": "object", "additionalProperties": TEXT},
        "list": {"type": "array", "items": ITEM},
        "n": TEXT,
        "lost": TEXT,
    },
}
OPEN = {"type": "object", "properties": {"any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
BOUND = subject.losing(SCHEMA, "lost")
ANY = subject.losing(OPEN, "lost")


def review(bound: Any, document: dict[str, Any], to: str, **raw: bytes) -> Any:
    """The response to one object; a text ``"@name@"`` in it is replaced by these bytes."""
    request = {"uid": "7", "desiredAPIVersion": f"acme.io/{to}", "objects": [document]}
    body = json.dumps(
        {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}
    ).encode()
    for name, value in raw.items():
        body = body.replace(f'"@{name}@"'.encode(), value)
    return json.loads(conversion.review({("acme.io", "Thing"): bound}, body))["response"]


def deep(levels: int, kind: str) -> bytes:
    opened, closed = {"objects": (b'{"a":', b"}"), "lists": (b"[", b"]")}[kind]
    return opened * levels + b"1" + closed * levels


@pytest.mark.parametrize("kind", ["objects", "lists"])
@pytest.mark.parametrize("levels", [210, 260, 700, 1100, 10_000])
def test_deep_reviews_are_refused_in_words(kind: str, levels: int) -> None:
    """At an open place, at a string, in metadata: the answer has the uid and says that it is too deep."""
    anywhere = subject.thing("new", {"any": {"x": "@deep@"}})
    for bound, document in ((ANY, anywhere), (BOUND, {**subject.thing("new", {}), "metadata": {"labels": "@deep@"}})):
        answer = review(bound, document, "old", deep=deep(levels, kind))
        assert answer["result"]["status"] == "Failed"
        assert "nested" in answer["result"]["message"]
        assert answer["uid"] == "7"


@pytest.mark.parametrize("kind", ["objects", "lists"])
def test_deep_objects_are_refused_in_words(kind: str) -> None:
    """The same through Python."""
    value: Any = 1
    for _ in range(10_000):
        value = {"a": value} if kind == "objects" else [value]
    document = subject.thing("new", {})
    document["spec"] = {"any": {"x": value}}
    with pytest.raises(conversion.ConversionError, match="Thing default/x new -> old: nested deeper than 200 levels"):
        ANY.convert(document, "old")


WIDE: dict[str, Any] = {
    "keyed": [{"k": f"k{number}", "v": "x"} for number in range(MANY)],
    "set": [f"k{number}" for number in range(MANY)],
    "map": {f"k{number}": "x" for number in range(MANY)},
    "list": [{"k": f"k{number}", "v": "x"} for number in range(MANY)],
}


@pytest.mark.parametrize("edit", [{}, {"n": "x"}], ids=["unedited", "edited"])
@pytest.mark.parametrize("name", WIDE)
def test_wide_objects_come_back(name: str, edit: dict[str, Any]) -> None:
    """100,000 items, with something carried, unedited and after an edit."""
    new = subject.thing("new", {name: WIDE[name], "lost": "l"})
    old = subject.edited(BOUND.convert(new, "old"), **edit)
    assert BOUND.convert(old, "new") == subject.edited(new, **edit)


def test_what_does_not_fit_is_said() -> None:
    """30,000 lost leaves do not fit into the annotations: one error with the size and the costliest paths."""
    items = [{"k": f"k{number}", "lost": "y"} for number in range(30_000)]
    with pytest.raises(conversion.ConversionError, match=r"annotations would take \d+ bytes .*most costs /spec/keyed"):
        BOUND.convert(subject.thing("new", {"keyed": items}), "old")


def adding(obj: dict[str, Any]) -> dict[str, Any]:
    obj["spec"]["set"] = obj["spec"]["set"] + [f"more{number}" for number in range(1000)]
    return obj


def test_many_removals_from_a_wide_set() -> None:
    """1,000 absences in a set of 20,000 do not move its items 1,000 times."""
    bound = subject.bound({"old": SCHEMA, "new": SCHEMA}, lambda obj: obj, adding)
    new = subject.thing("new", {"set": [f"k{number}" for number in range(20_000)]})
    old = bound.convert(new, "old")
    assert len(subject.entries(old)) == 1000
    assert bound.convert(old, "new") == new


def test_many_new_items_in_a_wide_order() -> None:
    """An order is restored among 30,000 items that a client put behind the last: they follow it as they stand."""
    root = structural.compile_schema({"type": "object", "properties": {"spec": SCHEMA}})
    added = [f"n{number}" for number in range(30_000)]
    body = {"spec": {"set": ["c", "b", "a", *added]}}
    restored = restoring.restore(body, root, [("/spec/set[]", ["[=a]", "[=b]", "[=c]"])])
    assert restored == {"spec": {"set": ["a", *added, "b", "c"]}}


def telling(obj: dict[str, Any]) -> dict[str, Any]:
    """The other version shows in n which of the first three items has more."""
    items = obj["spec"].get("keyed", [])
    shown = "".join(item["k"] for item in items[:3] if item.pop("lost", None))
    for item in items:
        item.pop("lost", None)
    if "n" in obj["spec"]:
        obj["spec"]["n"] = shown or "none"
    return obj


def test_few_that_disturb_among_many_do_not_cost_a_conversion_each() -> None:
    """Halves are tried first: of 300 entries three disturb, and these are found with some dozens of conversions."""
    calls = []

    def from_hub(obj: dict[str, Any]) -> dict[str, Any]:
        calls.append(1)
        return telling(obj)

    bound = subject.bound({"old": SCHEMA, "new": SCHEMA}, lambda obj: obj, from_hub)
    items = [{"k": f"k{number:03}", "lost": "y"} for number in range(300)]
    old = bound.convert(subject.thing("new", {"keyed": items}), "old")
    assert len(subject.entries(old)) == 300
    calls.clear()
    outcome = bound.outcome(subject.edited(old, n="none"), "new")
    assert [drop.path for drop in outcome.dropped] == [f"/spec/keyed[k=k{number:03}]/lost" for number in range(3)]
    assert len(outcome.restored) == 297
    assert len(calls) < 40


HUGE = "x" * 5_000_000


def test_huge_objects_are_converted() -> None:
    """5 MB in one string that survives, and in 40,000 items, with something carried."""
    answer = review(BOUND, subject.thing("new", {"n": HUGE, "lost": "l"}), "old")
    assert answer["convertedObjects"][0]["spec"] == {"n": HUGE}


def test_a_huge_value_that_does_not_survive_is_an_error() -> None:
    """5 MB do not go into annotations: the message has the path and not the value."""
    answer = review(BOUND, subject.thing("new", {"lost": HUGE}), "old")
    assert "/spec/lost (" in answer["result"]["message"]
    assert len(answer["result"]["message"]) < 2000


@pytest.mark.parametrize(
    "text",
    [b'"\xff\xfe"', b'"\\ud800"', b"1e999", b"nul", b'"' + HUGE.encode(), b"[" * 10_000, b'{"a":1,}', b"NaN", b""],
    ids=["no utf-8", "lone surrogate", "1e999", "nul", "cut", "cut deep", "comma", "NaN", "nothing"],
)
def test_malformed_reviews_are_answered(text: bytes) -> None:
    """Converted as Go would read it, or one message and the uid."""
    answer = review(BOUND, subject.thing("new", {"n": "@text@"}), "old", text=text)
    assert answer["uid"] == "7"
    assert answer["result"]["status"] == "Success" or answer["result"]["message"]


def test_many_forged_entries() -> None:
    """20,000 annotations that look like entries and are none are dropped, each with its reason."""
    forged = {f"carried.acme.io/new.{number:016x}": '["Thing","/spec/lost",["x"]]' for number in range(20_000)}
    outcome = BOUND.outcome(subject.thing("old", {"n": "x"}, forged), "new")
    assert outcome.object == subject.thing("new", {"n": "x"})
    assert len(outcome.dropped) == 20_000
