"""The set of revisions that a sweep knows."""

from hypothesis import given
from hypothesis import strategies as st

from instar.migration import revisions


@given(st.lists(st.integers(0, 2**62)), st.lists(st.integers(0, 2**62)))
def test_it_is_a_set(added: list[int], asked: list[int]) -> None:
    """Whatever the order, also when asked in between."""
    known = revisions.Revisions()
    for number, revision in enumerate(added):
        known.add(revision)
        assert revision in known
        assert all(other in known for other in added[: number + 1])
    assert [revision in known for revision in asked] == [revision in set(added) for revision in asked]


def test_what_is_no_number_is_newer_than_everything() -> None:
    """A resourceVersion of another shape is looked at again, always."""
    assert revisions.parse("17") == 17
    assert revisions.parse("x17") == revisions.NEVER
    assert revisions.parse("") == revisions.NEVER
    known = revisions.Revisions()
    known.add(revisions.NEVER)
    assert revisions.NEVER not in known
