"""A run that never was, for the tests of its page: every part filled, names that try to break HTML."""

from __future__ import annotations

import math

import pytest

from instar.report import run as run_module

STEPS = (
    ("start", "Start a control plane", 0, 5),
    ("create", "Create 6,000 objects at v1alpha1", 5, 13),
    ("expand", "Serve the conversion and add v1", 18, 4),
    ("flip", "Make v1 the storage version", 24, 2),
    ("migrate", "Rewrite every object", 26, 75),
    ("trim", "Trim status.storedVersions", 101, 1),
    ("compare", "Compare every value", 102, 10),
    ("unserve", "Stop serving v1alpha1", 112, 2),
    ("remove", "Remove v1alpha1", 130, 2),
    ("check", "Get, patch and apply every object", 132, 28),
)


@pytest.fixture
def run() -> run_module.Run:
    return EXAMPLE


def writes(each: int) -> run_module.Writes:
    return run_module.Writes(
        acknowledged={"create": each, "update": 3 * each, "patch": 4 * each, "apply": 3 * each, "delete": each},
        during_rewrite=7 * each,
        retried={"409": each // 2, "429": 3, "503": 0},
    )


def _stored(second: int) -> run_module.StoredSample:
    moved = min(max(second - 26, 0) * 190, 6020)
    total = min(max(second - 5, 0) * 480, 6020)
    return run_module.StoredSample(at_seconds=second, by_version={"v1alpha1": max(total - moved, 0), "v1": moved})


EXAMPLE = run_module.Run(
    title="6,000 Tenant objects taken from v1alpha1 to v1",
    kind="Tenant",
    crd="tenants.platform.acme.io",
    old="v1alpha1",
    new="v1",
    began="2026-01-01 00:00:00 UTC",
    seconds=160.0,
    objects=6000,
    created=160,
    deleted=140,
    stored_before={"v1alpha1": 6000},
    stored_after={"v1": 6020},
    stored_versions=("v1",),
    lost=0,
    losses=(),
    compared=6020,
    acknowledged_edits=9541,
    apply_ok=True,
    writes={"v1alpha1": writes(110), "v1": writes(120)},
    facts=(
        run_module.Fact(
            name="nothing_lost", statement="Nothing was lost", measured="6,020 objects compared twice", holds=True
        ),
        run_module.Fact(
            name="stored_at_new", statement="Every object is stored at v1", measured="6,020 keys in etcd", holds=True
        ),
    ),
    steps=tuple(
        run_module.Step(
            name=name, title=title, begin_seconds=begin, seconds=took, proofs=(f"{title}: seen <here> & now",)
        )
        for name, title, begin, took in STEPS
    ),
    software={"instar": "0.1.0", "kube-apiserver": "v1.37.2", "etcd": "3.6.16", "Python": "3.11.9"},
    stored_samples=tuple(_stored(second) for second in range(161)),
    latency_samples=tuple(
        run_module.LatencySample(
            at_seconds=second,
            calls=200,
            median_seconds=0.0011 + 0.0004 * math.sin(second / 4),
            p99_seconds=0.0048 + 0.002 * math.sin(second / 7),
        )
        for second in range(27, 130)
    ),
    write_samples=tuple(
        run_module.WriteSample(at_seconds=second, by_version={"v1alpha1": 60 + second % 13, "v1": 55 + second % 7})
        for second in range(24, 112, 2)
    ),
    write_interval_seconds=2.0,
    settle_seconds=60.0,
    rewrite_seconds=31.6,
)
