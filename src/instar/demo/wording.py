"""Small pieces of what is said on the screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from instar.demo import world
from instar.model import crd as crd_model
from instar.report import numbers

__all__ = ["counts", "stored_versions", "words"]


def words(names: Iterable[str]) -> str:
    """Names in a row."""
    return ", ".join(names)


def counts(by_version: Mapping[str, int], at: str = "at") -> str:
    """How many of each version, the old one first: ``6,000 at v1alpha1, 20 at v1``."""
    ordered = sorted(by_version.items(), key=lambda entry: (entry[0] != world.OLD, entry[0]))
    return ", ".join(f"{numbers.count(number)} {at} {version}" for version, number in ordered)


def stored_versions(crd: crd_model.Crd) -> str:
    """The list as the CRD has it."""
    return f"status.storedVersions: [{', '.join(crd.stored_versions)}]"
