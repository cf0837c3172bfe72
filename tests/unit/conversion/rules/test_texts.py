"""``template``, ``python``, ``cel``: several fields at once."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.conversion.rules import subject
from tests.unit.conversion.rules.subject import INTEGER, NUMBER, STRING, has

import instar.conversion as conversion
from instar.conversion import rules

QUOTA = subject.bound(
    has(quota=STRING),
    has(quota=has(cpu=STRING, memory=STRING, pods=INTEGER)),
    rules.Template(
        spoke="/spec/quota",
        hub={"cpu": "/spec/quota/cpu", "mem": "/spec/quota/memory", "pods": "/spec/quota/pods"},
        text="cpu={cpu},mem={mem},pods={pods}",
        separator=",",
    ),
)
WHOLE = {"cpu": "8", "memory": "32Gi", "pods": 3}


@pytest.mark.parametrize(
    ("text", "quota"),
    [
        ("cpu=8,mem=32Gi,pods=3", WHOLE),
        ("mem=32Gi", {"memory": "32Gi"}),
        ("cpu=a=b", {"cpu": "a=b"}),
    ],
)
def test_pieces_of_a_text(text: str, quota: Any) -> None:
    """Each piece is a field; one that is absent is no piece."""
    assert QUOTA.new({"quota": text}) == {"quota": quota}
    assert QUOTA.old({"quota": quota}) == {"quota": text}


@pytest.mark.parametrize(
    ("text", "quota"),
    [
        (" mem = 32Gi ,cpu= 8,  pods =3 ", WHOLE),
        ("pods=003,mem=32Gi,cpu=8", WHOLE),
        ("", None),
        ("  ", None),
    ],
)
def test_another_order_and_spaces_are_carried(text: str, quota: Any) -> None:
    """They say the same; the spelling comes back as it was."""
    assert QUOTA.new({"quota": text}) == ({"quota": quota} if quota else {})
    assert QUOTA.comes_back({"quota": text}, "old")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cpu=8,disk=1", "'disk=1' is none of cpu=..., mem=..., pods=..."),
        ("cpu=8,cpu=9", "cpu is there twice"),
        ("cpu=,mem=1", "cpu is empty"),
        ("cpu=8,", "'' is none of"),
        ("pods=many", "is no number"),
        ("x" * 5000, "is no text of at most 4096 characters"),
        (3, "is no text"),
    ],
)
def test_a_text_that_does_not_fit_is_said(text: Any, words: str) -> None:
    """With the field, and the piece."""
    with pytest.raises(conversion.ConversionError, match=rf"spec.quota: .*{words}"):
        QUOTA.new({"quota": text})


def test_a_value_that_would_be_read_as_another() -> None:
    """A comma within a value would begin another piece: the object could not be read back."""
    with pytest.raises(conversion.ConversionError, match=r'spec.quota.cpu: "1,mem=2": cannot stand in'):
        QUOTA.old({"quota": {"cpu": "1,mem=2"}})
    with pytest.raises(conversion.ConversionError, match=r'spec.quota.cpu: " 1": cannot stand in'):
        QUOTA.old({"quota": {"cpu": " 1"}})


ADDRESS = subject.bound(
    has(address=STRING),
    has(host=STRING, port=INTEGER),
    rules.Template(spoke="/spec/address", hub={"h": "/spec/host", "p": "/spec/port"}, text="tcp://{h}:{p}"),
)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("tcp://acme.io:80", {"host": "acme.io", "port": 80}),
        ("tcp://::1:80", {"host": "::1", "port": 80}),
    ],
)
def test_a_text_that_is_all_of_the_template(text: str, fields: Any) -> None:
    """In its order, without spaces of its own."""
    assert ADDRESS.new({"address": text}) == fields
    assert ADDRESS.old(fields) == {"address": text}


def test_a_whole_template_needs_all_its_parts() -> None:
    """With a part that is absent there is no text; the others come back."""
    assert ADDRESS.old({"host": "a"}) == {}
    assert ADDRESS.comes_back({"host": "a"}, "new")
    with pytest.raises(conversion.ConversionError, match=r'spec.address: "tcp://a": is not of the form tcp://{h}:{p}'):
        ADDRESS.new({"address": "tcp://a"})


def test_the_text_may_be_the_hubs() -> None:
    """Either side may have the text."""
    specs = subject.bound(
        has(a=STRING, b=STRING),
        has(both=STRING),
        rules.Template(spoke={"a": "/spec/a", "b": "/spec/b"}, hub="/spec/both", text="{a}/{b}"),
    )
    assert specs.new({"a": "1", "b": "2"}) == {"both": "1/2"}
    assert specs.old({"both": "1/2"}) == {"a": "1", "b": "2"}


def halves(value: str) -> dict[str, str]:
    first, _, second = value.partition("-")
    return {"a": first, "b": second} if second else {"a": first}


def joined(parts: dict[str, str]) -> str:
    return "-".join(parts.values())


def test_functions_at_named_paths() -> None:
    """They get a dict of what is there, and give one."""
    specs = subject.bound(
        has(both=STRING),
        has(a=STRING, b=STRING),
        rules.Python(spoke="/spec/both", hub={"a": "/spec/a", "b": "/spec/b"}, to_hub=halves, from_hub=joined),
    )
    assert specs.new({"both": "x-y"}) == {"a": "x", "b": "y"}
    assert specs.new({"both": "x"}) == {"a": "x"}
    assert specs.old({"b": "y"}) == {"both": "y"}
    assert specs.old({}) == {}


def refuse(value: Any) -> Any:
    raise ValueError("too odd")


def test_what_a_function_of_named_paths_raises_shows_its_names() -> None:
    """It was called with a dict of those that are there, and a place that is absent is in nobody's dict."""

    def joined(parts: Any) -> Any:
        return parts["a"] + parts["b"]

    specs = subject.bound(
        has(both=STRING),
        has(a=STRING, b=STRING),
        rules.Python(spoke="/spec/both", hub={"a": "/spec/a", "b": "/spec/b"}, to_hub=dict, from_hub=joined),
    )
    with pytest.raises(conversion.ConversionError, match=r"spec.a: {'b': 'x'}: KeyError: 'a' \(spokes"):
        specs.old({"b": "x"})


def stumble(value: Any) -> Any:
    return {}[value]


def test_what_a_function_raises_names_the_rule() -> None:
    """A ValueError is the author's word to the user; anything else is shown with its type."""
    specs = subject.bound(
        has(a=STRING), has(b=STRING), rules.Python(spoke="/spec/a", hub="/spec/b", to_hub=refuse, from_hub=stumble)
    )
    with pytest.raises(conversion.ConversionError, match=r'spec.a: "x": too odd \(spokes\[0\].rules\[0\] \(python\)\)'):
        specs.new({"a": "x"})
    with pytest.raises(conversion.ConversionError, match=r"spec.b: \"y\": KeyError: 'y' \(spokes"):
        specs.old({"b": "y"})


def test_expressions() -> None:
    """Typed by the schema, exact in 64 bits, with the strings' extensions of Kubernetes."""
    pytest.importorskip("cel_expr_python")
    specs = subject.bound(
        has(size=STRING, count=INTEGER, both=STRING, ratio=NUMBER),
        has(replicas=INTEGER, next=INTEGER, a=STRING, b=STRING, percent=NUMBER),
        rules.Cel(
            spoke="/spec/size",
            hub="/spec/replicas",
            to_hub="self == 'small' ? 1 : 5",
            from_hub="self < 5 ? 'small' : 'large'",
        ),
        rules.Cel(spoke="/spec/count", hub="/spec/next", to_hub="self + 1", from_hub="self - 1"),
        rules.Cel(
            spoke="/spec/both",
            hub={"a": "/spec/a", "b": "/spec/b"},
            to_hub="{'a': self.split('-')[0], 'b': self.split('-')[1]}",
            from_hub="a == null || b == null ? dyn(null) : dyn(a + '-' + b)",
        ),
        rules.Cel(spoke="/spec/ratio", hub="/spec/percent", to_hub="self * 100.0", from_hub="self / 100.0"),
    )
    old = {"size": "small", "count": 9007199254740992, "both": "x-y", "ratio": 1}
    new = {"replicas": 1, "next": 9007199254740993, "a": "x", "b": "y", "percent": 100}
    assert specs.new(old) == new
    assert specs.old(new) == old
    assert specs.comes_back({"replicas": 3, "a": "only"}, "new")
    with pytest.raises(conversion.ConversionError, match=r"spec.count: 9223372036854775807: .*overflow.*\(cel\)"):
        specs.new({"count": 9223372036854775807})
