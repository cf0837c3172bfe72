"""What clients of each version write: the body that is sent, and its effect on a Tenant.

Numbers make every edit a new one, so that no write is without effect and the last one can be told. What a client of
v1alpha1 cannot see, its edits leave alone: that is what is being tried here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from instar.demo import tenant

__all__ = ["Edit", "change", "create"]

State = tenant.State
BEYOND_DOUBLE = 2**53 + 1
"""The first whole number that a floating point number cannot hold."""
LEAD = "lead"
"""An owner whom every Tenant has: clients of v1 give a role and an address, those of v1alpha1 only a name."""

UNSAID: Mapping[str, Any] = MappingProxyType(
    {
        "suspended": False,
        "cost_centre": None,
        "network": None,
        "storage": None,
        "gpus": None,
        "ratio": None,
        "limits": None,
        "text": None,
    }
)
"""What a Tenant is where nobody has said anything."""

SPELLINGS = (
    "cpu={cpu},mem={memory}",
    "cpu={cpu},mem={memory}",
    "cpu={cpu},mem={memory}",
    "cpu={cpu}, mem={memory}",
    "mem={memory},cpu={cpu}",
    "  cpu = {cpu} ,mem= {memory} ",
)
"""How people write a quota; the first ones are plain."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """A part of an object to be merged in, and what that makes of a Tenant."""

    body: Mapping[str, Any]
    effect: Callable[[State], State]


def create(version: str, number: int) -> Edit:
    """Everything that a client of that version says of a new object."""
    region, ticket = f"region-{number % 7}", f"T-{number}"
    metadata = {"labels": {"acme.io/region": region}, "annotations": {"acme.io/ticket": ticket}}
    spec, state = _old_create(number) if version == "v1alpha1" else _new_create(number)
    made = {**UNSAID, **state, "region": region, "ticket": ticket}
    return Edit(body={"metadata": metadata, "spec": spec}, effect=lambda _: made)


def change(version: str, verb: str, number: int) -> Edit:
    """What a client of that version changes by an update, a patch or an apply."""
    return _CHANGES[version, verb](number)


# --- v1alpha1 ---------------------------------------------------------------------------------------------------------


def _old_create(number: int) -> tuple[dict[str, Any], State]:
    title, kind = f"Tenant {number}", ("standard", "premium")[number % 2]
    quota = _text(number)
    spec = {
        "title": title,
        "class": kind,
        "quota": quota["text"],
        "owners": [LEAD, f"owner-{number}"],
        "labels": {"team": f"team-{number}"},
        "costCentre": f"{number:04}",
    }
    return spec, {
        "title": title,
        "tier": kind,
        **_said(quota),
        "owners": {LEAD: {"role": "viewer"}, f"owner-{number}": {"role": "viewer"}},
        "labels": {"team": f"team-{number}"},
        "cost_centre": f"{number:04}",
    }


def _old_update(number: int) -> Edit:
    quota = _text(number)
    return Edit(body={"spec": {"quota": quota["text"]}}, effect=lambda state: state | _said(quota))


def _old_patch(number: int) -> Edit:
    """Owners by name: whoever stays keeps the role and the address that only v1 can say."""
    other, title = f"owner-{number}", f"Renamed at v1alpha1 {number}"

    def effect(state: State) -> State:
        owners = {LEAD: state["owners"].get(LEAD, {"role": "viewer"}), other: {"role": "viewer"}}
        labels = state["labels"] | {"team": f"team-{number}"}
        return state | {"title": title, "cost_centre": f"{number:04}", "owners": owners, "labels": labels}

    spec = {"title": title, "costCentre": f"{number:04}", "owners": [LEAD, other], "labels": {"team": f"team-{number}"}}
    return Edit(body={"spec": spec}, effect=effect)


def _old_apply(number: int) -> Edit:
    quota = _text(number)
    body = {"spec": {"quota": quota["text"], "class": "standard"}}
    return Edit(body=body, effect=lambda state: state | {"tier": "standard"} | _said(quota))


def _text(number: int) -> dict[str, Any]:
    """A text with what it says; one in seven says nothing of the processor."""
    memory = f"{number + 1}Gi"
    if number % 7 == 6:
        return {"cpu": None, "memory": memory, "text": f"mem={memory}", "untouched": True}
    cpu = f"{number + 1}m" if number % 3 else str(number + 1)
    text = SPELLINGS[number % len(SPELLINGS)].format(cpu=cpu, memory=memory)
    return {"cpu": cpu, "memory": memory, "text": text, "untouched": True}


def _said(quota: Mapping[str, Any]) -> State:
    return {"cpu": quota["cpu"], "memory": quota["memory"], "text": quota}


# --- v1 ---------------------------------------------------------------------------------------------------------------


def _new_create(number: int) -> tuple[dict[str, Any], State]:
    lead = {"role": "admin", "email": f"{number}@acme.io"}
    quota = {
        "cpu": str(number + 1),
        "memory": f"{number + 1}Gi",
        "storage": f"{number + 1}Ti",
        "gpus": BEYOND_DOUBLE + number,
        "ratio": number + 0.5,
        "limits": [{"name": "pods", "max": number, "hard": False}, {"name": "volumes", "max": "10%", "hard": True}],
    }
    same = {
        "tier": "dedicated",
        "suspended": True,
        "labels": {"team": f"team-{number}"},
        "network": {"egress": [f"10.0.0.{number % 256}/32", "0.0.0.0/0"], "isolated": True},
    }
    title = f"Tenant {number}"
    spec = {"displayName": title, "quota": quota, "owners": [{"name": LEAD, **lead}], **same}
    return spec, {"title": title, "owners": {LEAD: lead}, **quota, **same}


def _new_update(number: int) -> Edit:
    tier, said = ("dedicated", "premium")[number % 2], {"cpu": f"{number + 1}m", "gpus": BEYOND_DOUBLE + number}
    body = {"spec": {"tier": tier, "suspended": number % 2 == 0, "quota": said, "labels": {"zone": f"zone-{number}"}}}

    def effect(state: State) -> State:
        labels = state["labels"] | {"zone": f"zone-{number}"}
        return _touched(state) | {"tier": tier, "suspended": number % 2 == 0, "labels": labels} | said

    return Edit(body=body, effect=effect)


def _new_patch(number: int) -> Edit:
    title, ticket = f"Renamed at v1 {number}", f"T-{number}"
    said = {"storage": f"{number + 1}Ti", "ratio": number + 0.25}
    network = {"egress": [f"10.0.0.{number % 256}/32", f"10.1.{number % 256}.0/24"], "isolated": number % 2 == 0}
    metadata = {"annotations": {"acme.io/ticket": ticket}}
    body = {"metadata": metadata, "spec": {"displayName": title, "quota": said, "network": network}}
    return Edit(body=body, effect=lambda state: state | {"title": title, "ticket": ticket, "network": network} | said)


def _new_apply(number: int) -> Edit:
    lead = {"role": ("admin", "editor")[number % 2], "email": f"{number}@acme.io"}
    memory, limit = f"{number + 1}Mi", {"name": "pods", "max": number, "hard": number % 2 == 0}

    def effect(state: State) -> State:
        others = [entry for entry in state["limits"] or () if entry["name"] != "pods"]
        owners = state["owners"] | {LEAD: state["owners"].get(LEAD, {}) | lead}
        return _touched(state) | {"memory": memory, "limits": [limit, *others], "owners": owners}

    quota = {"memory": memory, "limits": [limit]}
    return Edit(body={"spec": {"quota": quota, "owners": [{"name": LEAD, **lead}]}}, effect=effect)


def _touched(state: State) -> State:
    """Somebody has written the quota at v1: its text may be spelled plainly from now on."""
    written = state["text"]
    return state | {"text": written and {**written, "untouched": False}}


_CHANGES: Mapping[tuple[str, str], Callable[[int], Edit]] = MappingProxyType(
    {
        ("v1alpha1", "update"): _old_update,
        ("v1alpha1", "patch"): _old_patch,
        ("v1alpha1", "apply"): _old_apply,
        ("v1", "update"): _new_update,
        ("v1", "patch"): _new_patch,
        ("v1", "apply"): _new_apply,
    }
)
