"""The demo's own idea of a Tenant: what clients send, and what must be read at each version after it."""

from __future__ import annotations

from typing import Any

import pytest

from instar.demo import edits, tenant

V1ALPHA1, V1 = "v1alpha1", "v1"


def made(version: str, number: int) -> tenant.State:
    return edits.create(version, number).effect({})


def after(state: tenant.State, *changes: tuple[str, str, int]) -> tenant.State:
    for change in changes:
        state = edits.change(*change).effect(state)
    return state


def shown(version: str, state: tenant.State) -> dict[str, Any]:
    """What must be there, where only one value is right."""
    return {path: values[0] for path, values in tenant.expected(version, state).items() if len(values) == 1}


def test_a_tenant_made_at_v1alpha1() -> None:
    """Written by hand: number 4 is spelled with the memory first, and reads so at v1alpha1."""
    body = edits.create(V1ALPHA1, 4).body
    assert body["spec"]["quota"] == "mem=5Gi,cpu=5m"
    assert shown(V1ALPHA1, made(V1ALPHA1, 4)) == {
        "/apiVersion": "platform.acme.io/v1alpha1",
        "/metadata/labels/acme.io~1region": "region-4",
        "/metadata/annotations/acme.io~1ticket": "T-4",
        "/spec/title": "Tenant 4",
        "/spec/class": "standard",
        "/spec/quota": "mem=5Gi,cpu=5m",
        "/spec/owners": ["lead", "owner-4"],
        "/spec/labels/team": "team-4",
        "/spec/costCentre": "0004",
    }
    assert shown(V1, made(V1ALPHA1, 4)) == {
        "/apiVersion": "platform.acme.io/v1",
        "/metadata/labels/acme.io~1region": "region-4",
        "/metadata/annotations/acme.io~1ticket": "T-4",
        "/spec/displayName": "Tenant 4",
        "/spec/tier": "standard",
        "/spec/suspended": False,
        "/spec/quota/cpu": "5m",
        "/spec/quota/memory": "5Gi",
        "/spec/owners": [{"name": "lead", "role": "viewer"}, {"name": "owner-4", "role": "viewer"}],
        "/spec/labels/team": "team-4",
    }


def test_what_v1alpha1_cannot_say_stays_through_its_edits() -> None:
    """Made at v1 with everything; each kind of v1alpha1's edits later, the v1 values are as they were."""
    state = after(made(V1, 9), (V1ALPHA1, "update", 10), (V1ALPHA1, "patch", 11), (V1ALPHA1, "apply", 12))
    seen = shown(V1, state)
    assert seen["/spec/quota/gpus"] == 2**53 + 10
    assert seen["/spec/quota/storage"] == "10Ti"
    assert seen["/spec/network/egress"] == ["10.0.0.9/32", "0.0.0.0/0"]
    assert seen["/spec/owners"] == [
        {"name": "lead", "role": "admin", "email": "9@acme.io"},
        {"name": "owner-11", "role": "viewer"},
    ]
    assert (seen["/spec/quota/cpu"], seen["/spec/quota/memory"]) == ("13", "13Gi")
    assert (seen["/spec/tier"], seen["/spec/displayName"]) == ("standard", "Renamed at v1alpha1 11")


def test_the_spelling_must_come_back_until_somebody_writes_the_quota_at_v1() -> None:
    """Exact at first; after an edit at v1 that says the same, plain is right too; after another value, plain alone."""
    state = made(V1ALPHA1, 3)
    odd, plain = "cpu=4, mem=4Gi", "cpu=4,mem=4Gi"
    assert tenant.expected(V1ALPHA1, state)["/spec/quota"] == (odd,)
    assert tenant.expected(V1ALPHA1, after(state, (V1, "patch", 50)))["/spec/quota"] == (odd,)
    touched = after(state, (V1, "update", 50)) | {"cpu": "4"}
    assert tenant.expected(V1ALPHA1, touched)["/spec/quota"] == (odd, plain)
    assert tenant.expected(V1ALPHA1, after(state, (V1, "update", 50)))["/spec/quota"] == ("cpu=51m,mem=4Gi",)


def test_a_quota_may_say_only_one_thing() -> None:
    """Number 6 sets the memory alone: there is no cpu at v1."""
    assert edits.create(V1ALPHA1, 6).body["spec"]["quota"] == "mem=7Gi"
    assert "/spec/quota/cpu" not in tenant.expected(V1, made(V1ALPHA1, 6))


def test_dedicated_reads_as_premium() -> None:
    """v1alpha1 has no word for it."""
    assert shown(V1ALPHA1, made(V1, 1))["/spec/class"] == "premium"


def test_seen_is_all_that_clients_wrote() -> None:
    """Carried annotations are not theirs; owners have no order; whatever else is there is seen, status too."""
    document = {
        "apiVersion": "platform.acme.io/v1",
        "kind": "Tenant",
        "metadata": {"name": "a", "annotations": {"carried.platform.acme.io/v1.0": "[]", "mine": "1"}},
        "spec": {"owners": [{"name": "b"}, {"name": "a"}], "new": {}},
        "status": {"phase": "Active"},
    }
    assert tenant.seen(document) == {
        "/apiVersion": "platform.acme.io/v1",
        "/metadata/labels": {},
        "/metadata/annotations/mine": "1",
        "/spec/owners": [{"name": "a"}, {"name": "b"}],
        "/spec/new": {},
        "/status/phase": "Active",
    }


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/spec/title", "spec/title"),
        ("/spec/displayName", "spec/title"),
        ("/spec/class", "spec/tier"),
        ("/spec/quota", "spec/quota"),
        ("/spec/quota/limits", "spec/quota"),
        ("/metadata/labels/acme.io~1region", "metadata/labels/acme.io~1region"),
    ],
)
def test_a_value_has_one_name_at_both_versions(path: str, name: str) -> None:
    """So that one wrong value is one loss, wherever it shows."""
    assert tenant.field(path) == name
