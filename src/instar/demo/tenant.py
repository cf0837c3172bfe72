"""What a Tenant's fields are, how they read at v1alpha1 and at v1, and what each client's edit does to them.

This is the judge of the conversion, so nothing here is computed by it. A Tenant is a dict of values, each under one
name whatever the version; an edit is the text that is sent and, stated by hand, its effect on those values:

=============  ==========================  ==========================================
value          v1alpha1                    v1
=============  ==========================  ==========================================
title          title                       displayName
tier           class, dedicated = premium  tier
cpu, memory    quota, as one text          quota.cpu, quota.memory
owners         owners, names only          owners, with role and email
labels         labels                      labels
cost_centre    costCentre                  (cannot be said)
the others     (cannot be said)            suspended, network, quota.storage, gpus, ...
=============  ==========================  ==========================================

A quota's text must come back in the spelling that it was written in. Once somebody has written the quota at v1, the
plain spelling is as right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from instar.demo import compare

__all__ = ["SHOWN", "State", "expected", "field", "is_carried", "plain", "seen"]

State = dict[str, Any]

GROUP = "platform.acme.io"
SHOWN = "quota"
"""The field of ``spec`` that looks different at each version."""
OURS = "carried."
CLASSES = {"standard": "standard", "premium": "premium", "dedicated": "premium"}
ONE_NAME = {"displayName": "title", "class": "tier"}


def expected(version: str, state: State) -> dict[str, Sequence[Any]]:
    """JSON pointer -> every value that is right there, for a Tenant read at a version."""
    spec = _old(state) if version == "v1alpha1" else _new(state)
    found = {
        "/apiVersion": f"{GROUP}/{version}",
        "/metadata/labels/acme.io~1region": state["region"],
        "/metadata/annotations/acme.io~1ticket": state["ticket"],
        **{f"/spec/labels/{key}": value for key, value in state["labels"].items()},
        **{path: value for path, value in spec.items() if value is not None},
    }
    right: dict[str, Sequence[Any]] = {path: (value,) for path, value in found.items()}
    return right | {"/spec/quota": _texts(state)} if version == "v1alpha1" else right


def plain(state: State) -> str:
    """The quota in one text, without anything odd."""
    said = {"cpu": state["cpu"], "mem": state["memory"]}
    return ",".join(f"{name}={value}" for name, value in said.items() if value is not None)


def seen(document: Mapping[str, Any]) -> dict[str, Any]:
    """JSON pointer -> value of all that clients wrote, in an object as it was read."""
    metadata, spec = document["metadata"], dict(document.get("spec") or {})
    if "owners" in spec:
        spec["owners"] = sorted(spec["owners"], key=str)
    theirs = {key: value for key, value in (metadata.get("annotations") or {}).items() if not is_carried(key)}
    return compare.leaves(
        {
            "apiVersion": document["apiVersion"],
            "metadata": {"labels": metadata.get("labels") or {}, "annotations": theirs},
            "spec": spec,
            **{key: document[key] for key in document.keys() - {"apiVersion", "kind", "metadata", "spec"}},
        }
    )


def is_carried(annotation: str) -> bool:
    """Whether an annotation is the conversion's, not the clients'."""
    return annotation.startswith(OURS)


def field(path: str) -> str:
    """The value that a path belongs to, whatever the version: a quota is one value."""
    top, _, rest = path.removeprefix("/").partition("/")
    name = rest.partition("/")[0] if top == "spec" else rest
    return f"{top}/{ONE_NAME.get(name, name)}"


def _texts(state: State) -> Sequence[str]:
    written = state["text"]
    if written is None or (written["cpu"], written["memory"]) != (state["cpu"], state["memory"]):
        return (plain(state),)
    return (written["text"],) if written["untouched"] else (written["text"], plain(state))


def _old(state: State) -> dict[str, Any]:
    return {
        "/spec/title": state["title"],
        "/spec/class": CLASSES[state["tier"]],
        "/spec/owners": sorted(state["owners"]),
        "/spec/costCentre": state["cost_centre"],
    }


def _new(state: State) -> dict[str, Any]:
    network, owners = state["network"] or {}, state["owners"]
    return {
        "/spec/displayName": state["title"],
        "/spec/tier": state["tier"],
        "/spec/suspended": state["suspended"],
        "/spec/owners": sorted(({"name": name, **said} for name, said in owners.items()), key=str),
        **{f"/spec/quota/{name}": state[name] for name in ("cpu", "memory", "storage", "gpus", "ratio", "limits")},
        **{f"/spec/network/{name}": network.get(name) for name in ("egress", "isolated")},
    }
