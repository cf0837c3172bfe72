"""What a person is told for every state a CRD can be in."""

from __future__ import annotations

import inspect
import pathlib
import re
from typing import Any

import pytest

from instar.model import crd as crd_model
from instar.rollout import next_step
from instar.rollout.observed import Observed, Reading, Unreadable

NAME = "tenants.platform.acme.io"


def schema(**fields: str) -> dict[str, Any]:
    properties = {name: {"type": kind} for name, kind in fields.items()}
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}


SAME = schema(a="string")


def version(name: str, *, served: bool = True, storage: bool = False, like: dict[str, Any] = SAME) -> dict[str, Any]:
    return {"name": name, "served": served, "storage": storage, "schema": {"openAPIV3Schema": like}}


def observed(
    *versions: dict[str, Any],
    stored: tuple[str, ...],
    conditions: dict[str, str] | None = None,
    webhook: bool = False,
    deleted: bool = False,
    **more: Any,
) -> Observed:
    kinds = {"plural": "tenants", "kind": "Tenant"}
    document = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME} | ({"deletionTimestamp": "2026-11-30T00:00:00Z"} if deleted else {}),
        "spec": {"group": "platform.acme.io", "scope": "Namespaced", "names": kinds, "versions": list(versions)}
        | {"conversion": {"strategy": "Webhook" if webhook else "None"}},
        "status": {
            "storedVersions": list(stored),
            "conditions": [
                {"type": kind, "status": value, "message": "because"}
                for kind, value in ({"Established": "True"} | (conditions or {})).items()
            ],
        },
    }
    return Observed(crd=crd_model.parse(document), **({"objects": 3} | more))


OLD, NEW = version("v1alpha1"), version("v1", storage=True)
UNREADABLE = Unreadable(version="v1", namespace="ns", name="a", reason="no")

LIFE = {
    "only the old one stores": (
        observed(version("v1alpha1", storage=True), version("v1"), stored=("v1alpha1",)),
        f"objects are stored at v1alpha1 although v1 is served: set storage: true on v1, then: instar migrate {NAME}",
    ),
    "flipped": (
        observed(OLD, NEW, stored=("v1alpha1", "v1")),
        f"stored versions list v1alpha1 too: instar migrate {NAME}",
    ),
    "migrated": (
        observed(OLD, NEW, stored=("v1",)),
        "stored at v1 only, v1alpha1 is still served: when no client needs it, set served: false: "
        f"kubectl edit crd {NAME}",
    ),
    "unserved": (
        observed(version("v1alpha1", served=False), NEW, stored=("v1",)),
        "v1alpha1 is neither stored nor served: clear managedFields of it, then remove it from spec.versions: "
        f"instar migrate {NAME}",
    ),
    "done": (observed(NEW, stored=("v1",)), "nothing to do"),
}


@pytest.mark.parametrize("stage", LIFE)
def test_life_of_a_version(stage: str) -> None:
    """From the old version to the new one, each stage has exactly one next step, ending in nothing to do."""
    seen, expected = LIFE[stage]
    found = next_step.findings(seen)
    assert next_step.sentence(found) == expected
    assert len(found) == (expected != "nothing to do")


def test_a_version_to_come_is_not_an_old_one() -> None:
    """v2alpha1 beside the storage version v1 is being tried: neither to be unserved nor to be stored."""
    assert next_step.findings(observed(NEW, version("v2alpha1"), stored=("v1",))) == ()


BROKEN = {
    "Terminating": (observed(OLD, NEW, stored=("v1alpha1", "v1"), deleted=True), "being deleted"),
    "NotEstablished": (
        observed(OLD, NEW, stored=("v1",), conditions={"Established": "False", "NamesAccepted": "False"}),
        "not established (because)",
    ),
    "StoredVersionRemoved": (observed(NEW, stored=("v1beta1", "v1")), "put v1beta1 back"),
    "Unreadable": (
        observed(
            OLD,
            NEW,
            stored=("v1alpha1", "v1"),
            reading=Reading(objects=9, versions=("v1alpha1", "v1"), unreadable=(UNREADABLE,)),
        ),
        "1 of 9 objects cannot be read at v1",
    ),
    "ListIncomplete": (
        observed(OLD, NEW, stored=("v1",), reading=Reading(objects=9, versions=(), unreadable=(), incomplete="why")),
        "not every object was found: why",
    ),
    "Unlisted": (observed(OLD, NEW, stored=("v1",), unlisted=(("v1", "why"),)), "cannot be listed at v1 (why)"),
    "StorageMigrating": (
        observed(OLD, NEW, stored=("v1alpha1", "v1"), conditions={"StorageMigrating": "True"}),
        "wait for its end",
    ),
    "StorageNotServed": (
        observed(OLD, version("v1", storage=True, served=False), stored=("v1alpha1", "v1")),
        "set served: true on v1",
    ),
    "FieldsLost": (
        observed(
            version("v1alpha1", like=schema(a="string", b="string", c="string")),
            version("v1", storage=True, like=schema(a="integer", d="string")),
            stored=("v1alpha1", "v1"),
        ),
        "v1alpha1 and v1 differ in spec.a, spec.b and spec.c and 1 more",
    ),
    "StorageVersionNotListed": (observed(OLD, NEW, stored=("v1alpha1",)), "written by hand"),
}


@pytest.mark.parametrize("reason", BROKEN)
def test_broken_comes_first(reason: str) -> None:
    """What is broken or would lose data is the next step, before the life of the version goes on."""
    seen, words = BROKEN[reason]
    first = next_step.findings(seen)[0]
    assert first.reason == reason
    assert words in first.message


def test_everything_is_reported() -> None:
    """Several things at once are all said, the most urgent first."""
    unlisted = (("v1", "why"), ("v1alpha1", "why"))
    seen = observed(
        version("v1alpha1", like=schema(b="string")),
        NEW,
        stored=("v0", "v1alpha1", "v1"),
        objects=None,
        unlisted=unlisted,
    )
    assert [found.reason for found in next_step.findings(seen)] == [
        "StoredVersionRemoved",
        "Unlisted",
        "FieldsLost",
        "OldVersionsStored",
    ]


def test_forbidden_hides_nothing() -> None:
    """Who may not see the objects still learns what the CRD says, and that the rest was not seen."""
    hidden = observed(OLD, NEW, stored=("v1alpha1", "v1"), objects=None, forbidden=True)
    assert [found.reason for found in next_step.findings(hidden)] == ["OldVersionsStored", "Forbidden"]
    done = observed(NEW, stored=("v1",), objects=None, forbidden=True)
    assert next_step.sentence(next_step.findings(done)).startswith("this account may not list its objects")


def test_a_webhook_keeps_fields() -> None:
    """With a conversion webhook, differing schemas are what the webhook is for."""
    seen = observed(version("v1alpha1", like=schema(b="string")), NEW, stored=("v1alpha1", "v1"), webhook=True)
    assert [found.reason for found in next_step.findings(seen)] == ["OldVersionsStored"]


def test_every_rule_is_listed() -> None:
    """A rule that is written but not in RULES would never speak."""
    written = [
        value
        for name, value in vars(next_step).items()
        if callable(value) and value.__module__ == next_step.__name__ and not name.startswith("_")
    ]
    assert set(written) - {next_step.Finding, next_step.findings, next_step.sentence} == set(next_step.RULES)


def test_every_reason_is_documented() -> None:
    """docs/status.md explains each reason, in the order of the rules."""
    page = (pathlib.Path(__file__).parents[3] / "docs" / "status.md").read_text()
    reasons = re.findall(r'reason="(\w+)"', inspect.getsource(next_step))
    table = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert set(table) == set(reasons)
    rules = [re.findall(r'reason="(\w+)"', inspect.getsource(rule)) for rule in next_step.RULES]
    assert [name for rule in rules for name in rule if name != "ListIncomplete"] == [
        name for name in table if name != "ListIncomplete"
    ]
