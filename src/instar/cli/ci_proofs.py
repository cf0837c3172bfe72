"""A proof for CI: JUnit XML for servers that read it, and annotations of lines for GitHub."""

from __future__ import annotations

import os
from collections.abc import Sequence
from xml.etree import ElementTree

from instar.testing import cases, killing, proving, wording

__all__ = ["github", "junit"]


def junit(reports: Sequence[proving.Report], scores: Sequence[killing.Score]) -> str:
    """JUnit XML: a suite for each conversion, a case for each law; mutants are a suite of their own."""
    suites = ElementTree.Element("testsuites", name="instar prove")
    for report in reports:
        failed = sum(bool(verdict.findings) for verdict in report.verdicts)
        suite = ElementTree.SubElement(
            suites,
            "testsuite",
            name=f"{report.kind}.{report.group}",
            tests=str(len(report.verdicts)),
            failures=str(failed),
            time=f"{report.seconds:.3f}",
        )
        properties = ElementTree.SubElement(suite, "properties")
        ElementTree.SubElement(properties, "property", name="digest", value=report.digest)
        for verdict in report.verdicts:
            _testcase(suite, report, verdict)
    for score in scores:
        _mutant_suite(suites, score)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True)


def _mutant_suite(suites: ElementTree.Element, score: killing.Score) -> None:
    name = f"mutants of {score.kind}.{score.group}"
    bad = [fate for fate in score.fates if fate.outcome in ("survived", "stale")]
    counts = {"name": name, "tests": str(len(score.fates)), "failures": str(len(bad))}
    suite = ElementTree.SubElement(suites, "testsuite", counts)
    for fate in score.fates:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name=_printable(fate.name), time="0")
        if fate in bad:
            ElementTree.SubElement(case, "failure", message=_printable(f"{fate.outcome}: {fate.reason}"))


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() or letter == "\n" else ascii(letter)[1:-1] for letter in text)


def _testcase(suite: ElementTree.Element, report: proving.Report, verdict: proving.Verdict) -> None:
    name = f"{verdict.name} {verdict.title}"
    case = ElementTree.SubElement(suite, "testcase", classname=f"{report.kind}.{report.group}", name=name, time="0")
    if verdict.findings:
        text = "\n\n".join("\n".join(wording.finding(verdict, finding)) for finding in verdict.findings)
        failure = ElementTree.SubElement(case, "failure", message=_printable(wording.headline(verdict.findings[0])))
        failure.text = _printable(text)
    elif not verdict.asked:
        ElementTree.SubElement(case, "skipped", message="no case for it")


def github(reports: Sequence[proving.Report], scores: Sequence[killing.Score]) -> str:
    """Workflow commands, a line for each finding; https://docs.github.com/actions/reference/workflow-commands-for-github-actions."""
    lines = []
    for report in reports:
        for verdict in report.verdicts:
            for finding in verdict.findings:
                file, line = _place(finding)
                place = f"file={_escaped(file)},line={line}," if file else ""
                title = _escaped(f"{verdict.name} {verdict.title}: {report.kind}")
                text = "\n".join(wording.finding(verdict, finding))
                lines.append(f"::error {place}title={title}::{_escaped(text, value=True)}")
        found = sum(len(verdict.findings) for verdict in report.verdicts)
        name = f"{report.kind}.{report.group}, seed {report.seed}"
        lines.append(f"::notice title=instar prove::{name}: {found} findings; {report.digest}")
    for score in scores:
        for fate in score.fates:
            if fate.outcome in ("survived", "stale"):
                place = f"file={_escaped(os.path.relpath(fate.file))},line={fate.line}," if fate.file else ""
                text = _escaped(f"{fate.outcome}: {fate.name} {fate.reason}", value=True)
                lines.append(f"::error {place}title=mutant of {score.kind}::{text}")
    return "\n".join(lines)


def _place(finding: cases.Finding) -> tuple[str, int]:
    if finding.law == "L14" and finding.origin:
        return os.path.relpath(finding.origin), 1
    by = next((by for by in finding.blame if by.file), None)
    return (os.path.relpath(by.file), by.line) if by else ("", 0)


def _escaped(text: str, *, value: bool = False) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text if value else text.replace(":", "%3A").replace(",", "%2C")
