"""The charts of a run: where the objects were stored, how long conversions took, and who wrote meanwhile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from instar.report import charts, frame, markup, numbers, page, tables
from instar.report import run as run_module

__all__ = ["figures"]

CHANGES = ("expand", "flip", "unserve", "remove")
"""Steps that a chart marks when they begin: each changes what the API server does."""
PROOFS: Mapping[str, str] = {"migrate": "trimmed"}
"""Steps that a chart marks when they end, and the word for what was reached."""


def figures(run: run_module.Run) -> list[markup.Markup]:
    """The charts there is data for, each with its legend and its numbers."""
    made = []
    if run.stored_samples:
        made.append(_stored(run))
    if run.latency_samples:
        made.append(_latency(run))
    if run.write_samples:
        made.append(_writes(run))
    return made


def _moments(run: run_module.Run) -> list[frame.Moment]:
    begun = [frame.Moment(at_seconds=step.begin_seconds, label=step.name) for step in run.steps if step.name in CHANGES]
    return begun + [
        frame.Moment(at_seconds=step.begin_seconds + step.seconds, label=PROOFS[step.name])
        for step in run.steps
        if step.name in PROOFS
    ]


def _stored(run: run_module.Run) -> markup.Markup:
    samples, versions = run.stored_samples, (run.new, run.old)
    summary = _stored_summary(run)
    drawn = charts.areas(
        charts.Chart(
            title="Objects by stored version over time",
            summary=summary,
            seconds=run.seconds,
            series=[
                charts.Series(
                    name=f"stored at {version}",
                    style=_style(run, version),
                    points=[(sample.at_seconds, sample.by_version.get(version, 0)) for sample in samples],
                )
                for version in versions
            ],
            moments=_moments(run),
        )
    )
    rows = [
        (numbers.duration(sample.at_seconds), *(numbers.count(sample.by_version.get(name, 0)) for name in versions))
        for sample in samples
    ]
    table = tables.table("Objects in etcd by version", ("after", *versions), rows, numeric=True)
    return page.figure(
        "Objects by stored version",
        summary,
        [(f"stored at {version}", _style(run, version)) for version in reversed(versions)],
        drawn,
        table,
    )


def _stored_summary(run: run_module.Run) -> str:
    before, after = _counts(run.stored_before), _counts(run.stored_after)
    return f"Counted in etcd, not asked of the API: {before} before, {after} after."


def _counts(by_version: Mapping[str, int]) -> str:
    return " and ".join(f"{numbers.count(number)} at {version}" for version, number in by_version.items()) or "none"


def _style(run: run_module.Run, version: str) -> int:
    """The old version is warm, the new one blue, on every chart of the page."""
    return 0 if version == run.old else 1


def _latency(run: run_module.Run) -> markup.Markup:
    samples = run.latency_samples
    calls = sum(sample.calls for sample in samples)
    slowest = max(samples, key=lambda sample: sample.p99_seconds)
    summary = (
        f"{numbers.count(calls)} conversions, timed by the API server. The slowest second had a 99th percentile of "
        f"{numbers.duration(slowest.p99_seconds)}, {numbers.duration(slowest.at_seconds)} into the run."
    )
    drawn = charts.lines(
        charts.Chart(
            title="Conversion latency over time",
            summary=summary,
            seconds=run.seconds,
            series=[
                charts.Series(
                    name="99th percentile",
                    style=0,
                    points=[(sample.at_seconds, sample.p99_seconds) for sample in samples],
                ),
                charts.Series(
                    name="median", style=1, points=[(sample.at_seconds, sample.median_seconds) for sample in samples]
                ),
            ],
            moments=_moments(run),
            y_label=numbers.short_duration,
        )
    )
    rows = [
        (
            numbers.duration(sample.at_seconds),
            numbers.count(sample.calls),
            numbers.duration(sample.median_seconds),
            numbers.duration(sample.p99_seconds),
        )
        for sample in samples
    ]
    table = tables.table("Conversion calls", ("after", "calls", "median", "99th percentile"), rows, numeric=True)
    return page.figure("Conversion latency", summary, [("median", 1), ("99th percentile", 0)], drawn, table)


def _writes(run: run_module.Run) -> markup.Markup:
    versions = (run.old, run.new)
    total = {name: sum(sample.by_version.get(name, 0) for sample in run.write_samples) for name in versions}
    summary = f"Acknowledged by the API server while the run went on: {_through(total)}."
    drawn = charts.bars(
        charts.Chart(
            title="Client writes by version over time",
            summary=summary,
            seconds=run.seconds,
            series=[_write_series(run, version, run.write_samples) for version in versions],
            moments=_moments(run),
        ),
        run.write_interval_seconds,
    )
    rows = [
        (numbers.duration(sample.at_seconds), *(numbers.count(sample.by_version.get(name, 0)) for name in versions))
        for sample in run.write_samples
    ]
    table = tables.table("Acknowledged writes", ("until", *versions), rows, numeric=True)
    every = numbers.duration(run.write_interval_seconds)
    return page.figure(
        f"Client writes, every {every}",
        summary,
        [(f"through {version}", _style(run, version)) for version in versions],
        drawn,
        table,
    )


def _write_series(run: run_module.Run, version: str, samples: Sequence[run_module.WriteSample]) -> charts.Series:
    points = [(sample.at_seconds, float(sample.by_version.get(version, 0))) for sample in samples]
    return charts.Series(name=f"through {version}", style=_style(run, version), points=points)


def _through(by_version: Mapping[str, int]) -> str:
    return " and ".join(f"{numbers.count(number)} through {version}" for version, number in by_version.items())
