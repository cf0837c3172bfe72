"""`review` is total: whatever comes in, a ConversionReview goes out, with the uid and the words that a user needs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instar import errors
from instar.conversion import envelope, reviewing
from instar.model import gojson

GROUP = "platform.acme.io"
V1 = "apiextensions.k8s.io/v1"


class Renaming:
    """The least conversion there is: `spec.old` <-> `spec.new`; it fails where the object tells it to."""

    versions = ("v1", "v1alpha1")

    def convert(self, obj: dict[str, Any], to: str) -> dict[str, Any]:
        spec = dict(obj.get("spec") or {})
        if "fail" in spec:
            raise errors.ConversionError(f"spec.fail: {spec['fail']!r}: told to fail", path="/spec/fail")
        if "raise" in spec:
            raise KeyError(spec["raise"])
        if "exit" in spec:
            raise SystemExit(3)
        if spec.get("generator"):
            raise GeneratorExit("x")
        if "answer" in spec:
            return spec["answer"]
        spec = {{"old": "new", "new": "old"}.get(key, key): value for key, value in spec.items()}
        return {**obj, "apiVersion": f"{GROUP}/{to}", "spec": spec}


BOUNDS = {(GROUP, "Tenant"): Renaming()}


def tenant(name: str = "acme", **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return {"apiVersion": f"{GROUP}/v1alpha1", "kind": "Tenant", "metadata": metadata, "spec": spec}


def request(*objects: Any, desired: Any = f"{GROUP}/v1", version: str = V1, uid: Any = "7f3") -> dict[str, Any]:
    return {
        "apiVersion": version,
        "kind": "ConversionReview",
        "request": {"uid": uid, "desiredAPIVersion": desired, "objects": list(objects)},
        "response": {"uid": "", "convertedObjects": None, "result": {"metadata": {}}},
    }


def ask(body: Any) -> dict[str, Any]:
    encoded = body if isinstance(body, bytes) else json.dumps(body).encode()
    return json.loads(reviewing.review(BOUNDS, encoded), parse_constant=pytest.fail)["response"]


def message(body: Any) -> str:
    response = ask(body)
    assert response["result"]["status"] == "Failed"
    return response["result"]["message"]


def test_one_object_comes_back_converted() -> None:
    response = ask(request(tenant(old=9007199254740993)))
    assert response["uid"] == "7f3"
    assert response["result"] == {"status": "Success"}
    assert response["convertedObjects"] == [
        {**tenant(), "apiVersion": f"{GROUP}/v1", "spec": {"new": 9007199254740993}},
    ]


def test_the_failed_one_is_named_with_its_place() -> None:
    """The message is the only channel to a user: who, which of how many, from where to where, what."""
    found = message(request(tenant("a"), tenant("b"), tenant("c", fail="x"), tenant("d", fail="y")))
    assert found == (
        "Tenant default/c [3 of 4] v1alpha1 -> v1: spec.fail: 'x': told to fail (and 1 more of them failed)"
    )


def test_one_object_needs_no_place() -> None:
    assert message(request(tenant(fail="x"))) == "Tenant default/acme v1alpha1 -> v1: spec.fail: 'x': told to fail"


def test_a_message_is_one_line() -> None:
    found = message(request(tenant(**{"raise": "a\nb\u2028c" + "d" * 9999})))
    assert found.isprintable()
    assert len(found) <= reviewing.MAX_MESSAGE


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"raise": "quota"}, "the converter raised KeyError: 'quota'"),
        ({"exit": 1}, "the converter raised SystemExit: 3"),
        ({"generator": 1}, "the converter raised GeneratorExit: x"),
        ({"answer": None}, "the converter returned no object with a metadata but NoneType: None"),
        ({"answer": {}}, "the converter returned no object with a metadata but dict: {}"),
        ({"answer": {**tenant(), "kind": "Foo"}}, "the converter changed apiVersion from 'platform.acme.io/v1'"),
    ],
)
def test_what_a_converter_does_wrong_is_said(spec: dict[str, Any], words: str) -> None:
    """Raising, leaving or returning nonsense fails the object and not the server."""
    assert message(request(tenant(**spec))).startswith(f"Tenant default/acme v1alpha1 -> v1: {words}")


@pytest.mark.parametrize("field", ["name", "namespace", "uid"])
def test_identity_must_stay(field: str) -> None:
    """The API server says of a changed name only that it must be the same; we say who changed it to what."""
    answer = {**tenant(), "apiVersion": f"{GROUP}/v1"}
    answer["metadata"] = {**answer["metadata"], field: "other"}
    found = message(request(tenant(answer=answer)))
    was = tenant()["metadata"][field]
    assert found.endswith(f"the converter changed metadata.{field} from {was!r} to 'other': it must leave it as it is")


@pytest.mark.parametrize("bad", [{"a": 1}, {"a": None}, ["a"], "a", 1])
@pytest.mark.parametrize("key", ["labels", "annotations"])
def test_labels_and_annotations_must_be_strings(key: str, bad: Any) -> None:
    answer = {**tenant(), "apiVersion": f"{GROUP}/v1"}
    answer["metadata"] = {**answer["metadata"], key: bad}
    assert f"the converter set metadata.{key} to what is no map of strings" in message(request(tenant(answer=answer)))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), {1: 2}, {1, 2}, object()])
def test_what_is_no_json_never_leaves(bad: Any) -> None:
    """NaN in one answer would fail every object of the batch in the API server."""

    class Bad:
        versions = ("v1", "v1alpha1")

        def convert(self, obj: dict[str, Any], to: str) -> dict[str, Any]:
            return {**obj, "apiVersion": f"{GROUP}/{to}", "spec": {"bad": bad}}

    body = json.dumps(request(tenant())).encode()
    found = gojson.decode(reviewing.review({(GROUP, "Tenant"): Bad()}, body))
    assert "the converter returned what is no JSON" in found["response"]["result"]["message"]


def test_metadata_goes_through_as_the_bytes_it_came_as() -> None:
    """No member of metadata but labels and annotations is written anew, not even its spelling of a number."""
    body = json.dumps(request(tenant())).replace('"uid": "uid-acme"', '"uid": "uid-acme", "generation": 1.0e0')
    body = body.replace('"name": "acme"', '"name": "acme", "managedFields": [{"fieldsV1": {"f:spec":  {}}}]')
    found = reviewing.review(BOUNDS, body.encode())
    assert b'"generation":1.0e0' in found
    assert b'"managedFields":[{"fieldsV1": {"f:spec":  {}}}]' in found


def test_unknown_kind_says_what_is_served() -> None:
    found = message(request({**tenant(), "kind": "Widget"}))
    assert "no conversion of Widget from 'platform.acme.io/v1alpha1' to 'platform.acme.io/v1' here" in found
    assert "only of Tenant.platform.acme.io (v1, v1alpha1): start" in found


@pytest.mark.parametrize(
    ("body", "code", "uid", "words"),
    [
        (b"", 400, "", "(0 bytes)"),
        (b"<html>", 400, "", "malformed"),
        (b"[]", 400, "", "Expected `object`, got `array`"),
        (b"{}", 400, "", "it has no request"),
        (json.dumps(request(uid=5)).encode(), 400, "", "$.request.uid"),
        (json.dumps(request(desired=5)).encode(), 200, "7f3", "$.request.desiredAPIVersion"),
        (json.dumps({**request(), "apiVersion": "v2"}).encode(), 200, "7f3", "got 'ConversionReview' of 'v2'"),
        (json.dumps({**request(), "kind": "AdmissionReview"}).encode(), 200, "7f3", "got 'AdmissionReview' of"),
        (json.dumps(request("no object")).encode(), 200, "7f3", "object is no readable object"),
        (json.dumps(request(None)).encode(), 200, "7f3", "object is no readable object"),
        (json.dumps(request({**tenant(), "metadata": "m"})).encode(), 200, "7f3", "Expected `object`, got `str`"),
        (json.dumps(request({"kind": "Tenant"})).encode(), 200, "7f3", "apiVersion is None"),
        (json.dumps(request(tenant()))[:-90].encode(), 200, "7f3", "truncated"),
        (json.dumps(request(tenant(old=float("nan")))).encode(), 200, "7f3", "invalid character"),
    ],
)
def test_what_cannot_be_read_is_said(body: bytes, code: int, uid: str, words: str) -> None:
    """As far as a uid can be found the words reach the user; else it is a plain 400."""
    answer = reviewing.answer(BOUNDS, body)
    response = gojson.decode(answer.body)["response"]
    assert (answer.code, response["uid"], response["result"]["status"]) == (code, uid, "Failed")
    assert words in response["result"]["message"] == answer.message


def test_the_outcome_of_each_object_is_known_without_its_contents() -> None:
    carried = tenant("c")
    carried["metadata"]["annotations"] = {"carried.acme.io/v1.0": "x" * 10}
    answer = reviewing.answer(BOUNDS, json.dumps(request(tenant("a"), tenant("b", fail="secret"), carried)).encode())
    assert [(found.name, found.reason, found.path, found.carried_bytes) for found in answer.outcomes] == [
        ("a", "", "", 0),
        ("b", "ConversionFailed", "/spec/fail", 0),
        ("c", "", "", 30),
    ]
    assert "secret" not in repr(answer.outcomes)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
WORDS = st.sampled_from(
    [
        "apiVersion",
        "kind",
        "metadata",
        "spec",
        "name",
        "labels",
        "annotations",
        "uid",
        "managedFields",
        "answer",
        "raise",
    ]
)
OBJECTS = st.dictionaries(WORDS, JSON | st.dictionaries(WORDS, JSON, max_size=4), max_size=6)
REVIEWS = st.fixed_dictionaries(
    {},
    optional={
        "apiVersion": st.sampled_from([V1, "apiextensions.k8s.io/v1beta1"]) | JSON,
        "kind": st.just("ConversionReview") | JSON,
        "request": JSON
        | st.fixed_dictionaries(
            {},
            optional={
                "uid": st.just("7f3") | JSON,
                "desiredAPIVersion": st.just(f"{GROUP}/v1") | JSON,
                "objects": JSON
                | st.lists(OBJECTS | OBJECTS.map(lambda found: {**tenant(), **found}) | JSON, max_size=3),
            },
        ),
    },
)


def assert_answered(body: bytes) -> None:
    """A review with a result comes out, and nothing is raised."""
    answer = reviewing.answer(BOUNDS, body)
    found = json.loads(answer.body, parse_constant=pytest.fail)
    assert found["kind"] == "ConversionReview"
    assert found["apiVersion"] in envelope.API_VERSIONS
    assert found["response"]["result"]["status"] == ("Failed" if answer.message else "Success")
    assert answer.code == 200 or (answer.message and found["response"]["uid"] == "")
    assert answer.message.isprintable()


@given(st.binary())
def test_any_bytes_are_answered(body: bytes) -> None:
    assert_answered(body)


@settings(max_examples=400, deadline=None)
@given(REVIEWS)
def test_wrong_types_anywhere_are_answered(body: dict[str, Any]) -> None:
    assert_answered(json.dumps(body).encode())


@settings(max_examples=300, deadline=None)
@given(REVIEWS, st.data())
def test_bytes_cut_or_changed_anywhere_are_answered(body: dict[str, Any], data: st.DataObject) -> None:
    encoded = bytearray(json.dumps(body).encode())
    at = data.draw(st.integers(0, len(encoded) - 1))
    encoded[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    assert_answered(bytes(encoded))
    assert_answered(bytes(encoded[: data.draw(st.integers(0, len(encoded)))]))


@pytest.mark.parametrize("depth", [10, 150, 250, 990, 1100, 20_000, 200_000])
@pytest.mark.parametrize("at", ["body", "spec", "metadata", "objects", "response"])
def test_any_depth_is_answered(depth: int, at: str) -> None:
    """Deep nesting is refused in words, never by a crash of the process."""
    deep = "[" * depth + "]" * depth
    whole = json.dumps(request(tenant(old="DEEP")))
    body = {
        "body": deep,
        "spec": whole.replace('"DEEP"', deep),
        "metadata": whole.replace('"uid-acme"', f'"uid-acme", "managedFields": {deep}'),
        "objects": whole.replace('"objects": [', f'"objects": [{deep}, '),
        "response": whole.replace('"convertedObjects": null', f'"convertedObjects": {deep}'),
    }[at]
    assert_answered(body.encode())
    if at != "body":
        assert ask(body.encode())["uid"] == "7f3"


@given(st.lists(st.integers(0, 3), max_size=12))
def test_order_and_count_are_kept(values: list[int]) -> None:
    """Law L10: N objects in one review are N reviews of one object."""
    objects = [tenant(f"t{index}", old=value) for index, value in enumerate(values)]
    together = ask(request(*objects))["convertedObjects"]
    assert together == [ask(request(item))["convertedObjects"][0] for item in objects]
    assert [found["metadata"]["name"] for found in together] == [f"t{index}" for index in range(len(values))]
