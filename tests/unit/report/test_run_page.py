"""The page of a run: self-contained, honest, and the same numbers as its JSON."""

from __future__ import annotations

import dataclasses
import html.parser
import json
import re

from instar.report import run as run_module
from instar.report import run_page


class Reader(html.parser.HTMLParser):
    """What a browser would see: every element's attributes, and the text outside of them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_page_is_well_formed_and_loads_nothing(run: run_module.Run) -> None:
    """Every element is closed; no script, no link, no address but the name of SVG; a policy that forbids loading."""
    page = run_page.render(run)
    seen = Reader(page)
    assert seen.open == []
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in seen.elements}
    assert not [attributes for _, attributes in seen.elements if {"src", "href", "onload", "onclick"} & set(attributes)]
    assert set(re.findall(r"https?://[^\"'\s)]+", page)) == {"http://www.w3.org/2000/svg"}
    assert "url(" not in page
    assert "default-src &#x27;none&#x27;" in page


def test_text_of_a_run_cannot_break_the_page(run: run_module.Run) -> None:
    """A loss that names hostile values is text."""
    hostile = "Tenant default/a: <img src=x onerror=alert(1)>"
    seen = Reader(run_page.render(dataclasses.replace(run, lost=1, losses=(hostile,))))
    assert "img" not in {tag for tag, _ in seen.elements}
    assert hostile in seen.text


def test_a_run_that_holds_says_so_and_one_that_does_not_says_what(run: run_module.Run) -> None:
    """The verdict follows the facts, in words and not in colour alone; every loss is listed, up to fifty."""
    good = Reader(run_page.render(run)).text
    assert "Nothing was lost: every one of 6,020 objects" in good
    broken = dataclasses.replace(run.facts[0], holds=False)
    losses = tuple(f"loss {number}" for number in range(53))
    bad = Reader(run_page.render(dataclasses.replace(run, facts=(broken,), lost=53, losses=losses))).text
    assert "Not everything holds: 1 of 1 facts" in bad
    assert "does not hold:" in bad
    assert "loss 49" in bad
    assert "loss 50" not in bad
    assert "and 3 more in report.json" in bad


def test_page_shows_the_numbers_of_the_json(run: run_module.Run) -> None:
    """What report.json says about writers, losses and objects stands on the page."""
    document = json.loads(json.dumps(run_module.document(run)))
    text = Reader(run_page.render(run)).text
    assert document["objects"] == 6000
    assert document["stored"] == {"before": {"v1alpha1": 6000}, "after": {"v1": 6020}}
    assert document["writers"] == {"v1alpha1": 770, "v1": 840}
    assert (document["lost"], document["storedVersions"], document["apply_ok"]) == (0, ["v1"], True)
    assert "770 of them during the rewrite" in text
    assert "6,000 at v1alpha1 before, 6,020 at v1 after" in text
    assert len(document["samples"]["stored"]) == len(run.stored_samples)


def test_a_run_that_ended_early_still_has_a_page(run: run_module.Run) -> None:
    """No samples, no writers, nothing rewritten: the page says what there is."""
    page = run_page.render(
        dataclasses.replace(
            run, stored_samples=(), latency_samples=(), write_samples=(), writes={}, rewrite_seconds=0.0, steps=()
        )
    )
    assert Reader(page).open == []
    assert "<svg" not in page
