"""What the guard is planned to be, and that its patterns know what conversion writes."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import pytest
import yaml

from instar import conversion as conversion_module
from instar import errors
from instar.model import crd as crd_model
from instar.rollout import guard

EXAMPLES = pathlib.Path(__file__).parents[3] / "examples"
VIEW = "0" * 32


def document(example: str = "tenant") -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((EXAMPLES / example / "crd.yaml").read_text())
    return loaded


def bound(body: dict[str, Any] | None = None, domain: str = "") -> conversion_module.Bound:
    """A conversion whose versions share a name for nothing: all that each can say is carried."""
    crd = crd_model.parse(body or document())
    spokes = (conversion_module.Spoke(version="v1alpha1", to_hub=renamed, from_hub=renamed),)
    found = conversion_module.Conversion(group=crd.group, kind=crd.kind, hub="v1", spokes=spokes, domain=domain)
    return conversion_module.bind(found, crd)


def renamed(tenant: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in tenant.items() if name in ("apiVersion", "kind", "metadata")}


def policy(kind: str, **options: Any) -> dict[str, Any]:
    body = options.pop("body", None)
    documents = guard.documents(guard.plan(bound(body, options.pop("domain", "")), **options))
    return next(one for one in documents if one["kind"] == kind)["spec"]


def patterns(spec: dict[str, Any], name: str) -> list[str]:
    """The patterns of one expression, as Python's re reads them."""
    expression = next(one["expression"] for one in spec["variables"] if one["name"] == name)
    return re.findall(r"matches\(r'(.*?)'\)", expression)


@pytest.mark.parametrize(
    ("kubernetes", "kinds"),
    [
        ("1.37", ["MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"]),
        ("v1.36.3", ["MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"]),
        ("1.35", ["ValidatingAdmissionPolicy"]),
        ("1.30", ["ValidatingAdmissionPolicy"]),
    ],
)
def test_what_the_cluster_can_do_is_what_is_written(kubernetes: str, kinds: list[str]) -> None:
    """Mutation is on by default since 1.36; each policy has its binding, and all bear one name."""
    documents = guard.documents(guard.plan(bound(), kubernetes=kubernetes))
    assert [one["kind"] for one in documents] == [kind + ending for kind in kinds for ending in ("", "Binding")]
    assert {one["metadata"]["name"] for one in documents} == {"carried.tenants.platform.acme.io"}
    assert {one["spec"].get("policyName") for one in documents} == {None, "carried.tenants.platform.acme.io"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kubernetes": "1.29"}, "the guard needs 1.30 or later"),
        ({"kubernetes": "new"}, "'new': one looks like 1.37"),
        ({"name": "Keep"}, "'Keep': a policy's name is lower case"),
        ({"name": "a" * 254}, "a policy's name is"),
        ({"exempt": [""]}, "name a user, such as system:serviceaccount:velero:velero"),
    ],
)
def test_wrong_use_is_said(options: dict[str, Any], said: str) -> None:
    """One line that names the value and the remedy."""
    with pytest.raises(errors.UsageError, match=re.escape(said)):
        guard.plan(bound(), **options)


@pytest.mark.parametrize("kubernetes", ["1.37", "1.35"])
def test_variables_are_used_and_come_first(kubernetes: str) -> None:
    """The API server evaluates a variable that the ones before it and the rules can name, and charges for no other."""
    for one in guard.documents(guard.plan(bound(), kubernetes=kubernetes)):
        known: list[str] = []
        for variable in one["spec"].get("variables", ()):
            assert set(re.findall(r"variables\.(\w+)", variable["expression"])) <= set(known)
            known.append(variable["name"])
        said = str(one["spec"])
        assert [name for name in known if f"variables.{name}" not in said] == []


def test_an_exempt_user_is_exempt_from_both() -> None:
    """A name with a quote in it cannot end the expression."""
    for kind in ("MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"):
        first = policy(kind, exempt=["a", "b'c", "a"])["matchConditions"][0]
        assert first["expression"] == r"!(request.userInfo.username in ['a', 'b\'c'])"


def test_the_domain_of_the_conversion_is_guarded() -> None:
    """Not the group of the API, where they differ."""
    assert "carried.ops.acme.io/" in str(policy("ValidatingAdmissionPolicy", domain="ops.acme.io"))
    assert "carried.platform.acme.io/" not in str(policy("ValidatingAdmissionPolicy", domain="ops.acme.io"))


def test_every_version_is_looked_at_as_it_was_requested() -> None:
    """A policy that converts would see entries restored, would call the webhook for each write, and fail with it."""
    constraints = policy("MutatingAdmissionPolicy")["matchConstraints"]
    assert constraints["matchPolicy"] == "Exact"
    assert constraints["resourceRules"][0]["apiVersions"] == ["*"]
    assert constraints["resourceRules"][0]["resources"] == ["tenants"]


@pytest.mark.parametrize("version", ["v1alpha1", "v1"])
def test_what_conversion_writes_is_known_as_that(version: str) -> None:
    """Every text of every example object: an entry, and of the status where its path says so."""
    entry = patterns(policy("ValidatingAdmissionPolicy"), "altered")[0]
    status = patterns(policy("MutatingAdmissionPolicy"), "back")[0]
    other = {"v1alpha1": "v1", "v1": "v1alpha1"}[version]
    seen = 0
    for file in sorted((EXAMPLES / "tenant" / "objects").glob("*.yaml")):
        for given in yaml.safe_load_all(file.read_text()):
            if given["apiVersion"].endswith(f"/{version}"):
                annotations = bound().convert(given, other)["metadata"].get("annotations", {})
                for key, text in annotations.items():
                    if key.startswith("carried.") and not key.endswith(".view"):
                        seen += 1
                        assert re.match(entry, text), text
                        assert bool(re.match(status, text)) == ('"/status' in text), text
    assert seen > 4


@pytest.mark.parametrize(
    "text",
    [
        '[ "Tenant","/status/phase",["Active"]]',
        '["Tenant", "/status/phase",["Active"]]',
        '["Tenant","/st\\u0061tus/phase",["Active"]]',
        '["T\\u0065nant","/status/phase",["Active"]]',
        '["Tenant","\\/status/phase",["Active"]]',
        '\n["Tenant","/status/phase",["Active"]]',
        '[["Tenant","/status/phase",["Active"]]]',
        '["Widget","/status/phase",["Active"]]',
        '["Tenant","/",["Active"]]',
        "",
    ],
)
def test_other_spellings_are_no_entries(text: str) -> None:
    """JSON that means an entry of the status, in words that conversion does not use, is garbage: undone or refused."""
    assert not re.search(patterns(policy("ValidatingAdmissionPolicy"), "altered")[0], text)


def test_a_later_format_is_known() -> None:
    """Entries that a newer release writes are entries to a guard of this one."""
    text = '[2,"Tenant","/status/phase",["Active"]]'
    assert re.match(patterns(policy("ValidatingAdmissionPolicy"), "altered")[0], text)
    assert re.match(patterns(policy("MutatingAdmissionPolicy"), "back")[0], text)


def test_without_a_status_subresource_status_is_a_field_like_others() -> None:
    """Then every writer may set it, and nothing of it is special."""
    body = document()
    for version in body["spec"]["versions"]:
        del version["subresources"]
    assert "status[" not in str(policy("MutatingAdmissionPolicy", body=body))
    assert "status[" in str(policy("MutatingAdmissionPolicy"))
