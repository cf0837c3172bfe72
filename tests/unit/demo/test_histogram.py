"""Quantiles of a Prometheus histogram."""

from __future__ import annotations

import math

from instar.demo import histogram

PAGE = """\
# HELP calls_seconds How long
# TYPE calls_seconds histogram
calls_seconds_bucket{crd_name="a",from_version="v1",le="0.001"} 10
calls_seconds_bucket{crd_name="a",from_version="v1",le="0.002"} 30
calls_seconds_bucket{crd_name="a",from_version="v1",le="+Inf"} 40
calls_seconds_bucket{crd_name="a",from_version="v2",le="0.001"} 0
calls_seconds_bucket{crd_name="a",from_version="v2",le="0.002"} 10
calls_seconds_bucket{crd_name="a",from_version="v2",le="+Inf"} 10
calls_seconds_bucket{crd_name="b",from_version="v1",le="0.001"} 1000
calls_seconds_sum{crd_name="a",from_version="v1"} 3.5
calls_seconds_count{crd_name="a",from_version="v1"} 40
calls_seconds_more_bucket{crd_name="a",le="0.001"} 7
"""


def test_parse_sums_series_of_the_labels() -> None:
    """Both versions of one CRD are added; another CRD and a metric whose name only begins so are not."""
    found = histogram.parse(PAGE, "calls_seconds", {"crd_name": "a"})
    assert found.buckets == {0.001: 10, 0.002: 40, math.inf: 50}
    assert histogram.calls(found) == 50
    assert histogram.parse(PAGE, "absent_seconds", {}).buckets == {}


def test_quantile_lies_in_its_bucket() -> None:
    """Half of 50 calls is 15 of the 30 between 1 and 2 ms; what is beyond the last bound is said to be at it."""
    found = histogram.parse(PAGE, "calls_seconds", {"crd_name": "a"})
    assert math.isclose(histogram.quantile(found, 0.5), 0.0015)
    assert histogram.quantile(found, 0.99) == 0.002
    assert histogram.quantile(histogram.Histogram(buckets={}), 0.5) == 0.0


def test_since_is_what_happened_in_between() -> None:
    """The difference of two readings; a series that was not there before counts from zero."""
    earlier = histogram.Histogram(buckets={0.001: 10, math.inf: 12})
    later = histogram.Histogram(buckets={0.001: 15, 0.002: 20, math.inf: 22})
    assert histogram.since(earlier, later).buckets == {0.001: 5, 0.002: 20, math.inf: 10}
