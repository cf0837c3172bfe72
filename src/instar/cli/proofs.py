"""A proof as text for people, JSON for programs, JUnit XML for CI servers, and annotations for GitHub."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from instar.cli import ci_proofs, output
from instar.testing import coverage, killing, proving, wording

__all__ = ["FORMS", "Form", "render"]

Form = Literal["text", "json", "junit", "github"]
FORMS: tuple[Form, ...] = ("text", "json", "junit", "github")
LAWS = tuple(output.Column(heading=heading) for heading in ("LAW", "NAME", "CHECKS", "RESULT"))
PAIRS = tuple(
    output.Column(heading=heading) for heading in ("FROM", "TO", "LEAVES", "ENUM VALUES", "LEAVES MADE", "NOT MET")
)
MUTANTS = tuple(output.Column(heading=heading) for heading in ("OUTCOME", "BY", "PLACE", "MUTANT"))
_OBJECTS = ("corpus", "live", "spanning", "drawn")
_DERIVED = (("edited", "edits"), ("partial", "parts"), ("odd", "odd objects"), ("batch", "batches"))


def render(form: Form, reports: Sequence[proving.Report], scores: Sequence[killing.Score] = ()) -> str:
    """Everything that goes to stdout."""
    return _RENDERED[form](reports, scores)


# --- text -------------------------------------------------------------------------------------------------------------


def _text(reports: Sequence[proving.Report], scores: Sequence[killing.Score]) -> str:
    failing = {(report.kind, report.group) for report in reports if not report.holds}
    judged = (_score(score, (score.kind, score.group) in failing) for score in scores)
    parts = [*map(_report, reports), *judged]
    return "\n\n".join("\n".join(part) for part in parts)


def _report(report: proving.Report) -> Iterator[str]:
    versions = ", ".join(f"{version} (hub)" if version == report.hub else version for version in report.versions)
    yield f"{report.kind}.{report.group}: {versions}" + (f"; seed {report.seed}" if report.objects else "")
    yield f"digest: {report.digest}"
    if report.objects:
        yield _counted(report)
    yield from (f"note: {note}" for note in report.notes)
    yield ""
    rows = [(verdict.name, verdict.title, str(verdict.checks), _result(verdict)) for verdict in report.verdicts]
    yield output.table(LAWS, rows)
    if report.coverage:
        yield ""
        yield output.table(PAIRS, [_pair(pair) for pair in report.coverage])
    for verdict in report.verdicts:
        for finding in verdict.findings:
            yield ""
            yield from wording.finding(verdict, finding)


def _counted(report: proving.Report) -> str:
    real = ", ".join(f"{report.objects[name]} {name}" for name in _OBJECTS if report.objects.get(name))
    made = ", ".join(f"{report.objects[name]} {word}" for name, word in _DERIVED if report.objects.get(name))
    return f"objects: {real}; {made}" if real else "objects: none"


def _result(verdict: proving.Verdict) -> str:
    waived = f", {verdict.waived} waived" if verdict.waived else ""
    if verdict.findings:
        more = f" ({verdict.more} more like these)" if verdict.more else ""
        return f"FAILS: {_plural(len(verdict.findings), 'finding')}{more}{waived}"
    return ("holds" if verdict.asked else "not asked: no case for it") + waived


def _plural(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _pair(pair: coverage.Pair) -> tuple[str, ...]:
    unmet = [*pair.unmet, *pair.unmet_enums]
    shown = ", ".join(unmet[:3]) + (f" and {len(unmet) - 3} more" if len(unmet) > 3 else "")
    return (
        pair.source,
        pair.target,
        f"{pair.leaves - len(pair.unmet)}/{pair.leaves}",
        f"{pair.enums - len(pair.unmet_enums)}/{pair.enums}",
        f"{pair.made - len(pair.unmade)}/{pair.made}",
        shown or "-",
    )


def _score(score: killing.Score, failing: bool) -> Iterator[str]:
    rows = [(fate.outcome, fate.law or "-", _place_of(fate), fate.name) for fate in score.fates]
    yield output.table(MUTANTS, rows)
    for fate in score.fates:
        if fate.outcome != "caught" and fate.reason:
            yield f"{fate.outcome}: {fate.name}: {fate.reason}"
    counts = Counter(fate.outcome for fate in score.fates)
    if counts["survived"]:
        yield "survived: no golden pair and no law tells it from the conversion: write a golden pair that does"
    if failing:
        yield "note: a law fails without any mutant, and what it finds counts as caught: mend that first"
    yield ""
    rest = ", ".join(f"{counts[word]} {word}" for word in ("equivalent", "survived", "stale") if counts[word])
    yield f"{score.kind}.{score.group}: {score.caught} of {len(score.fates)} mutants caught" + (
        f", {rest}" if rest else ""
    )


def _place_of(fate: killing.Fate) -> str:
    return f"{fate.file.rpartition('/')[2]}:{fate.line}" if fate.file else "-"


# --- for programs -----------------------------------------------------------------------------------------------------


def _json(reports: Sequence[proving.Report], scores: Sequence[killing.Score]) -> str:
    import orjson

    document: dict[str, Any] = {
        "apiVersion": "instar.dev/v1alpha1",
        "kind": "ProofList",
        "items": [_item(report) for report in reports],
    }
    if scores:
        document["mutants"] = [_mutants(score) for score in scores]
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()


def _item(report: proving.Report) -> dict[str, Any]:
    return {
        "group": report.group,
        "for": report.kind,
        "hub": report.hub,
        "versions": list(report.versions),
        "digest": report.digest,
        "holds": report.holds,
        "seed": report.seed,
        "objects": dict(report.objects),
        "laws": [_law(verdict) for verdict in report.verdicts],
        "coverage": [_coverage(pair) for pair in report.coverage],
        "notes": list(report.notes),
        "conversions": report.conversions,
        "slowestConversionSeconds": round(report.slowest_seconds, 6),
        "seconds": round(report.seconds, 3),
    }


def _law(verdict: proving.Verdict) -> dict[str, Any]:
    return {
        "name": verdict.name,
        "title": verdict.title,
        "mustHold": verdict.holds,
        "checks": verdict.checks,
        "asked": verdict.asked,
        "waived": verdict.waived,
        "more": verdict.more,
        "findings": [
            {
                "path": finding.path,
                "problem": finding.problem,
                "from": finding.source,
                "to": finding.target,
                "origin": finding.origin,
                "by": [{"name": by.name, "file": by.file, "line": by.line} for by in finding.blame],
                "objects": [{"title": title, "object": wording.plain(document)} for title, document in finding.shown],
            }
            for finding in verdict.findings
        ],
    }


def _mutants(score: killing.Score) -> dict[str, Any]:
    return {
        "group": score.group,
        "for": score.kind,
        "holds": score.holds,
        "mutants": len(score.fates),
        "caught": score.caught,
        "fates": [
            {"mutant": fate.name, "place": _place_of(fate), "outcome": fate.outcome, "by": fate.law, "why": fate.reason}
            for fate in score.fates
        ],
    }


def _coverage(pair: coverage.Pair) -> dict[str, Any]:
    return {
        "from": pair.source,
        "to": pair.target,
        "leaves": pair.leaves,
        "leavesNotMet": list(pair.unmet),
        "enumValues": pair.enums,
        "enumValuesNotMet": list(pair.unmet_enums),
        "targetLeaves": pair.made,
        "targetLeavesNotMade": list(pair.unmade),
    }


_RENDERED: Mapping[Form, Callable[[Sequence[proving.Report], Sequence[killing.Score]], str]] = {
    "text": _text,
    "json": _json,
    "junit": ci_proofs.junit,
    "github": ci_proofs.github,
}
