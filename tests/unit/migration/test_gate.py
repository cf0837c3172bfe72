"""Each gate states a fact, and says what is missing when it does not hold."""

import dataclasses

import pytest
from tests.unit.migration import test_trim

from instar.migration import evidence, gate
from instar.model import crd as crd_model

CRD = test_trim.crd()
HASH = crd_model.storage_version_hash(CRD)
CLEAN = evidence.Scan(mark=1, counts=evidence.Counts(listed=2, unchanged=2))
OLD = evidence.Finding(namespace="n", name="a", reason="StoredAtOldVersion", message="m")


def server(url: str = "https://a", shown: str | None = HASH, since: float | None = 10.0) -> evidence.ServerSeen:
    return evidence.ServerSeen(url=url, hash=shown, error="" if shown else "no answer within 5 s", steady_since=since)


def observed(**facts: object) -> gate.Observed:
    base = gate.Observed(
        crd=CRD,
        now=100.0,
        settle_seconds=60.0,
        servers=evidence.ServersSeen(servers=(server(),), source="named"),
        proof_began=90.0,
        rewrite=CLEAN,
        proof=CLEAN,
        crd_now=CRD,
        lock_held=True,
    )
    return dataclasses.replace(base, **facts)  # type: ignore[arg-type]


def reason(facts: dict[str, object]) -> str:
    verdicts = gate.judge(gate.GATES, "trim", observed(**facts))
    return "; ".join(verdict.reason for verdict in verdicts if not verdict.holds)


def test_all_facts_hold() -> None:
    """A clean pass passes every gate."""
    assert reason({}) == ""


def test_what_others_write_all_the_time_holds_nothing() -> None:
    """Contended objects are current at the revision that was answered: only whether they were old is not known."""
    hot = dataclasses.replace(CLEAN, counts=evidence.Counts(listed=2, unchanged=1, contended=1), contended=(OLD,))
    assert reason({"rewrite": hot, "proof": hot}) == ""


def seen(*servers: evidence.ServerSeen, leases: int | None = None) -> evidence.ServersSeen:
    return evidence.ServersSeen(servers=servers, source="kubeconfig", leases=leases)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"servers": None}, "no API server is known"),
        ({"servers": seen(server(), server("https://b", None, None))}, "https://b does not answer"),
        ({"servers": seen(server("https://b", "old=", None))}, "https://b shows storageVersionHash old="),
        ({"servers": seen(server("https://b", "", None))}, "storageVersionHash none"),
        ({"servers": seen(server(), leases=2)}, "2 API servers hold an identity lease"),
        ({"proof_began": 69.0}, "until requests that began before the flip have ended"),
        ({"rewrite": None}, "there was no rewrite"),
        ({"proof": None}, "there was no proof"),
        ({"proof": dataclasses.replace(CLEAN, complete=False)}, "did not reach the end of the list"),
        (
            {"proof": dataclasses.replace(CLEAN, counts=evidence.Counts(listed=2, moved=1), moved=(OLD,))},
            "stored at an old version: 1 object (n/a",
        ),
        (
            {"rewrite": dataclasses.replace(CLEAN, counts=evidence.Counts(quarantined=1), quarantined=(OLD,))},
            "1 refused: n/a",
        ),
        ({"proof": dataclasses.replace(CLEAN, counts=evidence.Counts(unknown=1), unknown=(OLD,))}, "1 unknown: n/a"),
        ({"crd_now": None}, "the CRD is gone"),
        ({"crd_now": dataclasses.replace(CRD, uid="u-2")}, "re-created (uid u-1, now u-2)"),
        ({"crd_now": dataclasses.replace(CRD, generation=8)}, "(generation 7, now 8)"),
        ({"crd_now": dataclasses.replace(CRD, terminating=True)}, "being deleted"),
        ({"lock_held": False}, "another run took the lease"),
        ({"bytes_wanted": True}, "etcd was not read"),
        ({"bytes_wanted": True, "stored": evidence.StoredBytes(by_version={}, unreadable=0)}, "is it this cluster's"),
        (
            {"bytes_wanted": True, "stored": evidence.StoredBytes(by_version={"x.io/v2": 1}, unreadable=1)},
            "1 values in etcd cannot be read",
        ),
        (
            {"bytes_wanted": True, "stored": evidence.StoredBytes(by_version={"x.io/v1": 3}, unreadable=0)},
            "3 at x.io/v1 in etcd",
        ),
        (
            {"managed_fields": dataclasses.replace(CLEAN, counts=evidence.Counts(unknown=1), unknown=(OLD,))},
            "1 unknown",
        ),
    ],
)
def test_what_holds_the_trim(facts: dict[str, object], expected: str) -> None:
    """One fact missing is enough, and it is said in words that name what to look at."""
    assert expected in reason(facts)


def test_every_gate_is_documented() -> None:
    """docs/migrate.md names every gate of the list."""
    import pathlib

    page = (pathlib.Path(__file__).parents[3] / "docs" / "migrate.md").read_text()
    assert [entry.judge.__name__ for entry in gate.GATES if f"`{entry.judge.__name__}`" not in page] == []
