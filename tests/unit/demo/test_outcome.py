"""What is said of the clients at the end."""

from __future__ import annotations

from instar.demo import outcome
from instar.report import run


def writes(*failures: str) -> dict[str, run.Writes]:
    version = run.Writes(acknowledged={"patch": 3}, during_rewrite=2, retried={"409": 4}, failures=failures)
    return {"v1alpha1": version}


def test_writes_without_an_answer_are_not_called_lost_without_a_word() -> None:
    """What nobody was told of may stand in etcd: the page says so, and what to do, wherever a write failed."""
    fact = outcome.clients_unharmed(writes("patch through v1alpha1: Server disconnected"))
    assert not fact.holds
    assert "1 failures, the first: patch through v1alpha1: Server disconnected" in fact.measured
    assert "may have been carried out all the same" in fact.measured
    assert "--settle" in fact.measured


def test_no_failure_is_the_whole_story() -> None:
    """Answers that ask to try again are no failures."""
    fact = outcome.clients_unharmed(writes())
    assert (fact.holds, fact.measured) == (True, "4 answers said try again (409, 429, 503); 0 failures")
