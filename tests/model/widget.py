"""A Widget as its two versions say it, by hand: two sizes for any number of replicas, and none for three."""

from __future__ import annotations

from typing import Any

from tests.model import example
from tests.model.relations import MISSING, Field, Relation, Shell, hidden

REPLICAS = {"small": 1, "large": 5}


def replicas(size: Any) -> Any:
    """v1 has three where nobody said anything."""
    return 3 if size is MISSING else REPLICAS[size]


def size(number: Any) -> Any:
    return "large" if number >= 5 else "small"


def shell(inside: Any) -> Any:
    return inside if inside is MISSING else {}


EXAMPLE = example.Example(
    name="widget",
    relations=(
        Relation(name="spec", old=Shell(("spec",)), new=Shell(("spec",)), up=shell, down=shell),
        Relation(name="status", old=Shell(("status",)), new=Shell(("status",)), up=shell, down=shell),
        Relation(name="image", old=Field(("spec", "image")), new=Field(("spec", "image"))),
        Relation(
            name="size",
            old=Field(("spec", "size")),
            new=Field(("spec", "resources", "replicas")),
            up=replicas,
            down=size,
        ),
        hidden("tier", new=Field(("spec", "tier")), default="bronze"),
        Relation(name="readyReplicas", old=Field(("status", "readyReplicas")), new=Field(("status", "readyReplicas"))),
    ),
    applied=("image", "size", "tier"),
    most_carried={"v1alpha1": 1, "v1": 2},
)
