"""MachineQuota, by rules alone: the spec and its twins in status, and what a converter must not do."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

import instar.conversion as conversion
from instar import loading
from instar.cli import load

EXAMPLE = Path(__file__).parents[4] / "examples" / "machinequota"


@pytest.fixture(scope="module")
def bound() -> conversion.Bound:
    found = loading.conversion(str(EXAMPLE / "conversion.yaml"))
    return load.bounds([found], load.crds(str(EXAMPLE / "crd.yaml")))[found.group, found.kind]


def quota(version: str, **body: Any) -> dict[str, Any]:
    metadata = {"name": "team", "namespace": "default", "uid": "1"}
    return {"apiVersion": f"kairon.zyvor.dev/{version}", "kind": "MachineQuota", "metadata": metadata, **body}


OLD = quota(
    "v1alpha1",
    spec={"maxMachines": 10, "maxTotalCpu": "40", "maxTotalMemory": "160Gi"},
    status={"usedMachines": 3, "usedTotalCpu": "12500m", "usedTotalMemory": "48Gi"},
)
NEW = quota(
    "v1",
    spec={"maxMachines": 10, "maxCpu": "40", "maxMemory": "160Gi"},
    status={"usedMachines": 3, "usedCpu": "12500m", "usedMemory": "48Gi"},
)


def test_spec_and_status_are_renamed_both_ways(bound: conversion.Bound) -> None:
    """Both directions, nothing carried, and the count of machines passes as it is."""
    assert bound.convert(OLD, "v1") == NEW
    assert bound.convert(NEW, "v1alpha1") == OLD


def test_the_same_version_is_the_same_object(bound: conversion.Bound) -> None:
    """Asked for the version that it has, an object is as it was."""
    assert bound.convert(OLD, "v1alpha1") == OLD
    assert bound.convert(NEW, "v1") == NEW


def test_a_version_that_is_none_is_an_error(bound: conversion.Bound) -> None:
    """To it or from it."""
    with pytest.raises(conversion.ConversionError, match=r"MachineQuota default/team v1 -> v2: no such version"):
        bound.convert(NEW, "v2")
    with pytest.raises(conversion.ConversionError, match=r"'kairon.zyvor.dev/v0' is no version of MachineQuota"):
        bound.convert({**NEW, "apiVersion": "kairon.zyvor.dev/v0"}, "v1")


def test_the_argument_is_not_changed(bound: conversion.Bound) -> None:
    """Not in any part of it."""
    given = copy.deepcopy(OLD)
    bound.convert(given, "v1")["spec"]["maxCpu"] = "0"
    assert given == OLD


@pytest.mark.parametrize("body", [{}, {"spec": {}}, {"spec": {"maxTotalCpu": "1"}}, {"status": {"usedTotalCpu": "0"}}])
def test_parts_of_an_object(bound: conversion.Bound, body: Any) -> None:
    """What is absent stays absent, and comes back so."""
    there = bound.convert(quota("v1alpha1", **body), "v1")
    assert "annotations" not in there["metadata"]
    assert {name: set(value) for name, value in there.items() if name in body} == {
        name: {key.replace("Total", "") for key in value} for name, value in body.items()
    }
    assert bound.convert(there, "v1alpha1") == quota("v1alpha1", **body)
