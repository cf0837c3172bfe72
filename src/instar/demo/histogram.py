"""Quantiles from a Prometheus histogram, between two readings of it.

The API server counts how long conversion calls took in buckets that only ever grow; the difference of two readings is
what happened in between. A quantile lies somewhere in its bucket: it is placed by the share of calls below it, as
Prometheus' ``histogram_quantile`` does.
Source: https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

__all__ = ["Histogram", "calls", "parse", "quantile", "since"]

BUCKET = r"^%s_bucket\{(.*)\} (\S+)$"
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Histogram:
    """Upper bound of each bucket -> calls that took at most so long, ascending, infinity last."""

    buckets: Mapping[float, float]


def parse(text: str, metric: str, labels: Mapping[str, str]) -> Histogram:
    """One histogram out of a metrics page, summed over all series that have these labels."""
    summed: dict[float, float] = {}
    for found in re.finditer(BUCKET % re.escape(metric), text, re.MULTILINE):
        own = dict(LABEL.findall(found[1]))
        if labels.items() <= own.items():
            bound = float(own["le"])
            summed[bound] = summed.get(bound, 0.0) + float(found[2])
    return Histogram(buckets=dict(sorted(summed.items())))


def since(earlier: Histogram, later: Histogram) -> Histogram:
    """What was counted between two readings."""
    return Histogram(buckets={bound: value - earlier.buckets.get(bound, 0.0) for bound, value in later.buckets.items()})


def calls(histogram: Histogram) -> int:
    """How many calls it counts."""
    return round(max(histogram.buckets.values(), default=0.0))


def quantile(histogram: Histogram, share: float) -> float:
    """The time that this share of the calls did not exceed, in seconds; 0 without calls.

    Calls beyond the last finite bound are said to be at that bound, the most that is known of them.
    """
    wanted = share * max(histogram.buckets.values(), default=0.0)
    if wanted == 0:
        return 0.0
    low_bound, low_count = 0.0, 0.0
    for bound, count in histogram.buckets.items():
        if count >= wanted:
            if bound == float("inf"):
                return low_bound
            return low_bound + (bound - low_bound) * (wanted - low_count) / (count - low_count)
        low_bound, low_count = bound, count
    return low_bound
