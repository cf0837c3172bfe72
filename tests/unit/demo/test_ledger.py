"""The last acknowledged edit of each field is what must be there."""

from __future__ import annotations

import itertools

import pytest

from instar.demo import ledger
from instar.model import resource

KEY = resource.ObjectKey(namespace="a", name="b")
WRITES = (
    (10, {"cpu": "1", "memory": "1Gi", "note": "first"}),
    (20, {"cpu": "2"}),
    (30, {"cpu": "3", "memory": "3Gi"}),
    (30, {"memory": "3Gi"}),
    (40, {"memory": "4Gi", "note": None}),
)


@pytest.mark.parametrize("order", list(itertools.permutations(range(len(WRITES))))[::7])
def test_order_of_answers_does_not_matter(order: tuple[int, ...]) -> None:
    """Writes count in the order of their resource versions, however late an answer arrived."""
    book = ledger.Ledger()
    for index in order:
        revision, fields = WRITES[index]
        book.wrote(KEY, "uid", revision, lambda state, fields=fields: state | fields)
    assert [entry.state for entry in book.expected()] == [{"cpu": "3", "memory": "4Gi", "note": None}]


def test_a_name_made_again_is_another_object() -> None:
    """Deleting one object takes nothing from the one that has its name now."""
    book = ledger.Ledger()
    book.wrote(KEY, "one", 1, lambda _: {"cpu": "1"})
    book.deleted("one")
    book.wrote(KEY, "two", 3, lambda _: {"memory": "2Gi"})
    assert [(entry.uid, entry.state) for entry in book.expected()] == [("two", {"memory": "2Gi"})]
    assert (book.live, book.edits) == (1, 3)
