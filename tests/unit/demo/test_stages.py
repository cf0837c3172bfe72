"""The CRD at each stage."""

from __future__ import annotations

import copy
from typing import Any

from instar.demo import examples, stages, world

DOCUMENT = world.manifest(examples.folder("tenant"))


def standing(patch: dict[str, Any]) -> list[tuple[str, bool, bool]]:
    return [(entry["name"], entry["served"], entry["storage"]) for entry in patch["spec"]["versions"]]


def test_shipped_knows_the_old_version_alone() -> None:
    """No trace of what comes later: one version, no conversion; the manifest itself stays as it was."""
    before = copy.deepcopy(DOCUMENT)
    first = stages.shipped(DOCUMENT, "v1alpha1")
    assert standing(first) == [("v1alpha1", True, True)]
    assert "conversion" not in first["spec"]
    assert before == DOCUMENT


def test_stages_change_flags_and_nothing_else() -> None:
    """A flip is two flags: schemas and columns are the manifest's."""
    flipped = stages.versions(DOCUMENT, ("v1alpha1", "v1"), ("v1",), "v1")
    assert standing(flipped) == [("v1alpha1", False, False), ("v1", True, True)]
    assert [entry["schema"] for entry in flipped["spec"]["versions"]] == [
        entry["schema"] for entry in DOCUMENT["spec"]["versions"]
    ]
