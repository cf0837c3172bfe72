"""What a CRD's own state says before anything is done."""

import dataclasses

import pytest
from tests.unit.migration import test_trim

from instar import errors, migration
from instar.migration import settings, standing
from instar.model import crd as crd_model

ESTABLISHED = {"Established": {"type": "Established", "status": "True"}}
CRD = dataclasses.replace(test_trim.crd(), conditions=ESTABLISHED)


def with_served(crd: crd_model.Crd, name: str, served: bool) -> crd_model.Crd:
    versions = [dataclasses.replace(entry, served=served) if entry.name == name else entry for entry in crd.versions]
    return dataclasses.replace(crd, versions=tuple(versions))


def test_a_sound_crd_has_no_obstacle() -> None:
    """Established, not terminating, storage version served."""
    assert standing.obstacle(CRD) is None


@pytest.mark.parametrize(
    ("crd", "fact", "text"),
    [
        (dataclasses.replace(CRD, terminating=True), "crd_stays", "is being deleted"),
        (dataclasses.replace(CRD, conditions={}), "crd_established", "is not Established"),
        (
            dataclasses.replace(
                CRD, conditions={"NamesAccepted": {"status": "False", "message": "shortName is taken"}}
            ),
            "crd_established",
            "shortName is taken",
        ),
        (
            dataclasses.replace(CRD, conditions=ESTABLISHED | {"StorageMigrating": {"status": "True"}}),
            "no_other_migration",
            "StorageMigrating=True",
        ),
        (with_served(CRD, "v2", False), "storage_version_served", "set served: true on v2"),
    ],
)
def test_obstacles(crd: crd_model.Crd, fact: str, text: str) -> None:
    """Each is a verdict with what to do."""
    verdict = standing.obstacle(crd)
    assert verdict is not None
    assert verdict.fact == fact
    assert text in verdict.reason


def test_nothing_to_do() -> None:
    """The list is right, and no version is about to go."""
    trimmed = dataclasses.replace(CRD, stored_versions=("v2",))
    assert "is [v2] already" in standing.nothing_to_do(trimmed, ())
    assert standing.nothing_to_do(CRD, ()) == ""
    assert standing.nothing_to_do(trimmed, ("v1",)) == ""
    assert standing.nothing_to_do(with_served(trimmed, "v1", False), ()) == ""
    single = dataclasses.replace(trimmed, versions=tuple(entry for entry in trimmed.versions if entry.storage))
    assert "v2 is its only version" in standing.nothing_to_do(single, ())


def test_before_the_flip_it_is_said_how_to_flip() -> None:
    """A newer version is served, and nobody has made it the storage version."""
    flipped = [dataclasses.replace(entry, storage=entry.name == "v1") for entry in CRD.versions]
    before = dataclasses.replace(CRD, versions=tuple(flipped), stored_versions=("v1",))
    assert "to store objects at v2, set storage: true on v2 first" in standing.nothing_to_do(before, ())
    assert "first" not in standing.nothing_to_do(dataclasses.replace(CRD, stored_versions=("v2",)), ())


def test_a_list_that_lacks_or_repeats_is_not_right() -> None:
    """Anything but exactly [storage version] has to be made right."""
    for stored in ((), ("v1",), ("v2", "v2"), ("v2", "nope")):
        assert standing.nothing_to_do(dataclasses.replace(CRD, stored_versions=stored), ()) == ""


def test_all_wrong_settings_are_named() -> None:
    """Every one, not the first."""
    with pytest.raises(errors.UsageError) as raised:
        settings.check(migration.Settings(settle_seconds=-1, concurrency=0, servers=("here",), etcd="there"))
    for text in ("settle is -1", "concurrency is 0", "'here' is no URL", "'there' is no URL"):
        assert text in raised.value.message


@pytest.mark.parametrize("url", ["https://h:99999", "https://[::1", "https://", "ftp://h", "https://h:0", "h:6443"])
def test_half_an_address_is_none(url: str) -> None:
    """What no client can call is wrong use, and no fault of ours."""
    for chosen in (migration.Settings(servers=(url,)), migration.Settings(etcd=url)):
        with pytest.raises(errors.UsageError, match="is no URL"):
            settings.check(chosen)
