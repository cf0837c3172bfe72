"""The locks of the trim, and what may not be written."""

import dataclasses

import pytest

from instar.migration import trim
from instar.model import crd as crd_model


def crd(storage: str = "v2", stored: tuple[str, ...] = ("v1", "v2")) -> crd_model.Crd:
    return crd_model.parse(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.x.io", "uid": "u-1", "generation": 7},
            "spec": {
                "group": "x.io",
                "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [{"name": name, "served": True, "storage": name == storage} for name in ("v1", "v2")],
            },
            "status": {"storedVersions": list(stored)},
        }
    )


def test_the_patch_carries_its_locks() -> None:
    """It lands only on this uid, this generation and this list."""
    assert trim.patch(crd(), ("v2",)) == [
        {"op": "test", "path": "/metadata/uid", "value": "u-1"},
        {"op": "test", "path": "/metadata/generation", "value": 7},
        {"op": "test", "path": "/status/storedVersions", "value": ["v1", "v2"]},
        {"op": "replace", "path": "/status/storedVersions", "value": ["v2"]},
    ]


def test_the_target_is_the_storage_version() -> None:
    """Also where the list held nonsense or lacked it."""
    assert trim.target(crd(stored=("v1", "nope"))) == ("v2",)


@pytest.mark.parametrize(
    ("new", "absent", "objection"),
    [
        ((), {"v1", "v2"}, "it would be empty"),
        (("v1",), {"v2"}, "lacks the storage version v2"),
        (("v2", "v2"), {"v1"}, "names a version twice"),
        (("v2", "v9"), {"v1"}, "v9 is not in spec.versions"),
        (("v2",), set(), "v1 was not proved absent"),
    ],
)
def test_what_may_not_be_written(new: tuple[str, ...], absent: set[str], objection: str) -> None:
    """The API server would take each of these with 200."""
    verdict = trim.sound(crd(), new, frozenset(absent))
    assert not verdict.holds
    assert objection in verdict.reason


def test_a_proved_trim_is_sound() -> None:
    """Every removed version was proved absent, and the storage version stays."""
    assert trim.sound(crd(), ("v2",), frozenset({"v1"})).holds
    assert trim.sound(dataclasses.replace(crd(), stored_versions=("v1", "v2", "v1")), ("v2",), frozenset({"v1"})).holds
