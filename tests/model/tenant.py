"""A Tenant as its two versions say it, by hand."""

from __future__ import annotations

import re
from typing import Any

from tests.model import example
from tests.model.relations import MISSING, Field, Parts, Relation, Shell, hidden

AMOUNTS = {"cpu": "cpu", "mem": "memory"}


def amounts(text: Any) -> Any:
    """What a quota string says: each amount stands after its name and an equals sign."""
    if text is MISSING:
        return MISSING
    found = {field: re.search(rf"{name} *= *([0-9.A-Za-z]+)", text) for name, field in AMOUNTS.items()}
    return {field: match[1] for field, match in found.items() if match}


def spelled(said: Any) -> Any:
    """The plain spelling of what v1alpha1 can say; MISSING if that is nothing."""
    words = [] if said is MISSING else [f"{name}={said[field]}" for name, field in AMOUNTS.items() if field in said]
    return ",".join(words) if words else MISSING


def spelled_class(tier: Any) -> Any:
    return "premium" if tier == "dedicated" else tier


def viewers(names: Any) -> Any:
    return names if names is MISSING else [{"name": name, "role": "viewer"} for name in names]


def names(owners: Any) -> Any:
    return owners if owners is MISSING else [owner["name"] for owner in owners]


def at(*path: str) -> Field:
    return Field(path)


def shell(inside: Any) -> Any:
    return inside if inside is MISSING else {}


EXAMPLE = example.Example(
    name="tenant",
    relations=(
        Relation(name="spec", old=Shell(("spec",)), new=Shell(("spec",)), up=shell, down=shell),
        Relation(name="status", old=Shell(("status",)), new=Shell(("status",)), up=shell, down=shell),
        Relation(name="title", old=at("spec", "title"), new=at("spec", "displayName")),
        Relation(name="class", old=at("spec", "class"), new=at("spec", "tier"), down=spelled_class),
        Relation(
            name="quota",
            old=at("spec", "quota"),
            new=Parts(("spec", "quota"), ("cpu", "memory")),
            up=amounts,
            down=spelled,
        ),
        hidden("storage", new=at("spec", "quota", "storage")),
        hidden("gpus", new=at("spec", "quota", "gpus")),
        hidden("ratio", new=at("spec", "quota", "ratio")),
        hidden("scopes", new=at("spec", "quota", "scopes")),
        hidden("limits", new=at("spec", "quota", "limits")),
        Relation(name="owners", old=at("spec", "owners"), new=at("spec", "owners"), up=viewers, down=names, key="name"),
        Relation(name="labels", old=at("spec", "labels"), new=at("spec", "labels")),
        hidden("costCentre", old=at("spec", "costCentre")),
        hidden("suspended", new=at("spec", "suspended"), default=False),
        hidden("network", new=at("spec", "network")),
        Relation(name="phase", old=at("status", "phase"), new=at("status", "phase")),
        Relation(
            name="used",
            old=at("status", "used"),
            new=Parts(("status", "used"), ("cpu", "memory")),
            up=amounts,
            down=spelled,
        ),
        hidden("observedGeneration", new=at("status", "observedGeneration")),
        hidden("conditions", new=at("status", "conditions")),
    ),
    applied=("title", "class", "quota", "labels", "costCentre", "suspended", "storage", "gpus"),
    most_carried={"v1alpha1": 2, "v1": 2},
)
