"""A finding in words: what people read in a terminal, in a failed test and in a CI report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from instar.testing import cases, proving

__all__ = ["finding", "headline", "plain"]


def finding(verdict: proving.Verdict, found: cases.Finding) -> Iterator[str]:
    """A finding for people: what must hold, where it does not, between which versions, and the objects as YAML."""
    yield f"{verdict.name} {verdict.title}: {headline(found)}"
    if found.source and found.source != found.target:
        by = f", by {', '.join(map(str, found.blame))}" if found.blame else ""
        yield f"  {found.source} -> {found.target}{by}"
    yield f"  must hold: {verdict.holds}"
    if found.origin:
        yield f"  seen on: {found.origin}"
    for title, document in found.shown:
        yield f"  --- # {title}"
        yield from (f"  {line}" for line in _yaml(document).splitlines())


def headline(found: cases.Finding) -> str:
    """Its first line."""
    return found.problem if found.path in ("", "/") else f"{found.path}: {found.problem}"


def _yaml(document: Any) -> str:
    return yaml.safe_dump(plain(document), sort_keys=False, allow_unicode=True, width=10_000)


def plain(document: Any) -> Any:
    """Without the uid that stands for a stored object."""
    if type(document) is not dict or type(document.get("metadata")) is not dict:
        return document
    metadata = {name: value for name, value in document["metadata"].items() if (name, value) != ("uid", "1")}
    return {**document, "metadata": metadata}
