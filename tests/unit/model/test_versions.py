"""Versions in Kubernetes' order."""

from instar.model import versions


def test_documented_order() -> None:
    """The example list of Kubernetes' documentation sorts as it says there."""
    expected = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"]
    assert versions.by_priority(reversed(expected)) == tuple(expected)


def test_near_misses_are_other_names() -> None:
    """v0, v01, V1 and v1gamma1 are no API versions, so they come last, in the order of letters."""
    assert versions.by_priority(["v0", "V1", "v1alpha1", "v01", "v1gamma1"]) == (
        "v1alpha1",
        "V1",
        "v0",
        "v01",
        "v1gamma1",
    )


def test_age() -> None:
    """A version tried for the next major one is younger, whatever its priority; a name of another kind has no age."""
    ages = ["v1alpha1", "v1alpha2", "v1beta1", "v1", "v2alpha1", "v2", "v10"]
    for place, one in enumerate(ages):
        assert [versions.is_older(one, other) for other in ages] == [index > place for index in range(len(ages))]
    assert not versions.is_older("foo", "v1")
    assert not versions.is_older("v1", "foo")
