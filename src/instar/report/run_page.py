"""The page of one run: the verdict first, then what must hold, then how it went, then every number behind it."""

from __future__ import annotations

from instar.report import markup, numbers, page, run_charts, tables
from instar.report import run as run_module

__all__ = ["render"]

SHOWN_LOSSES = 50


def render(run: run_module.Run) -> str:
    """One self-contained HTML document."""
    return page.page(
        f"{run.title}: {run.lost} lost" if run.lost else run.title,
        _opening(run),
        _tiles(run),
        page.section("What must hold", _facts(run), *_losses(run)),
        page.section("How it went", *run_charts.figures(run)),
        page.section("Step by step", _steps(run), lead="Each bar is the step's place in the whole run."),
        page.section("Clients that went on writing", _writes(run), lead=_writes_lead(run)),
        page.section("Software", tables.table("What ran here", ("part", "version"), list(run.software.items()))),
        footer=f"Written by Instar {run.software.get('instar', '')}. The same numbers are in report.json beside it.",
    )


def _opening(run: run_module.Run) -> markup.Markup:
    kicker = markup.element("p", f"{run.crd} · {run.began} · {numbers.duration(run.seconds)}", class_="kicker")
    words = (
        f"Nothing was lost: every one of {numbers.count(run.compared)} objects holds what was last written to it, "
        f"and is stored at {run.new}."
        if run.holds
        else f"Not everything holds: {sum(not fact.holds for fact in run.facts)} of {len(run.facts)} facts, see below."
    )
    verdict = markup.element(
        "div", markup.element("p", words), class_=f"verdict {'good' if run.holds else 'bad'}", role="status"
    )
    return markup.element("header", kicker, markup.element("h1", run.title), verdict)


def _tiles(run: run_module.Run) -> markup.Markup:
    tiles = (
        ("objects", numbers.count(run.objects), f"and {numbers.count(run.created)} made by clients meanwhile"),
        ("lost", numbers.count(run.lost), f"of {numbers.count(run.acknowledged_edits)} acknowledged edits"),
        (
            "rewritten in",
            numbers.duration(run.rewrite_seconds),
            numbers.rate(run.stored_before.get(run.old, 0) / run.rewrite_seconds) if run.rewrite_seconds else "",
        ),
        *(
            (f"writes through {version}", numbers.count(sum(writes.acknowledged.values())), _meanwhile(writes))
            for version, writes in run.writes.items()
        ),
        ("whole run", numbers.duration(run.seconds), f"{numbers.duration(run.settle_seconds)} settle time within"),
    )
    return markup.element(
        "dl",
        *(
            markup.element(
                "div",
                markup.element("dt", name),
                markup.element("dd", value, markup.element("small", note)),
            )
            for name, value, note in tiles
        ),
        class_="tiles",
    )


def _meanwhile(writes: run_module.Writes) -> str:
    return f"{numbers.count(writes.during_rewrite)} of them during the rewrite"


def _facts(run: run_module.Run) -> markup.Markup:
    return markup.element("ul", *(_fact(fact) for fact in run.facts), class_="facts")


def _fact(fact: run_module.Fact) -> markup.Markup:
    mark, word, style = ("✓", "holds", "holds") if fact.holds else ("✗", "does not hold", "fails")
    return markup.element(
        "li",
        markup.element(
            "span",
            markup.element("span", mark, aria_hidden="true"),
            markup.element("span", f"{word}:", class_="unseen"),
            class_="mark",
        ),
        markup.element("div", markup.element("p", fact.statement), markup.element("p", fact.measured)),
        class_=style,
    )


def _losses(run: run_module.Run) -> list[markup.Markup]:
    if not run.losses:
        return []
    shown = [markup.element("li", loss) for loss in run.losses[:SHOWN_LOSSES]]
    rest = len(run.losses) - SHOWN_LOSSES
    more = [markup.element("li", f"and {rest} more in report.json")] if rest > 0 else []
    return [markup.element("h3", "What was lost"), markup.element("ul", *shown, *more, class_="losses")]


def _steps(run: run_module.Run) -> markup.Markup:
    return markup.element("ol", *(_step(run, step) for step in run.steps), class_="steps")


def _step(run: run_module.Run, step: run_module.Step) -> markup.Markup:
    whole = run.seconds or 1
    left, width = 100 * step.begin_seconds / whole, 100 * step.seconds / whole
    bar = markup.element("span", style=f"left:{left:.2f}%;width:{width:.2f}%")
    return markup.element(
        "li",
        markup.element("strong", step.title),
        markup.element("span", numbers.duration(step.seconds), class_="took"),
        markup.element("div", bar, class_="track", aria_hidden="true"),
        *(markup.element("p", proof) for proof in step.proofs),
    )


def _writes_lead(run: run_module.Run) -> str:
    return (
        f"Clients of {run.old} and of {run.new} wrote to the same objects. An answer that says try again "
        "(409, 429, 503) was tried again, as every client does; those are counted in the last columns."
    )


def _writes(run: run_module.Run) -> markup.Markup:
    verbs = list(dict.fromkeys(verb for writes in run.writes.values() for verb in writes.acknowledged))
    codes = sorted({code for writes in run.writes.values() for code in writes.retried})
    header = ("through", *verbs, "all", "during the rewrite", *(f"retried {code}" for code in codes), "failed")
    rows = [
        (
            version,
            *(numbers.count(writes.acknowledged.get(verb, 0)) for verb in verbs),
            numbers.count(sum(writes.acknowledged.values())),
            numbers.count(writes.during_rewrite),
            *(numbers.count(writes.retried.get(code, 0)) for code in codes),
            numbers.count(len(writes.failures)),
        )
        for version, writes in run.writes.items()
    ]
    return tables.table("Acknowledged writes by verb", header, rows, numeric=True)
