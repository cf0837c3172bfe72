"""Which members each rule touches at each version, as patterns from the root of the object.

``prove`` and ``explain`` name the rule of a leaf with this, and carrying learns which labels and annotations are the
rules' own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from instar.conversion import patterns
from instar.conversion.rules import model

__all__ = ["Placed", "every", "metadata_paths"]

METADATA = "/metadata/"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Placed:
    """A rule and where it stands: ``rules[2].rules[0]``, and its whole patterns at either side."""

    where: str
    rule: model.Rule
    spoke: tuple[str, ...]
    hub: tuple[str, ...]

    @property
    def label(self) -> str:
        """For people: ``rules[2] (move)``, and the line where it was written."""
        text = f"{self.where} ({self.rule.kind})"
        return f"{text}, {self.rule.origin}" if self.rule.origin else text


def every(rules: Sequence[model.Rule], where: str = "", spoke: str = "", hub: str = "") -> Iterator[Placed]:
    """All rules, outer ones before those within them."""
    for index, rule in enumerate(rules):
        place = f"{where}rules[{index}]"
        at_spoke = tuple(spoke + path for _, path in model.ends(rule, "spoke"))
        at_hub = tuple(hub + path for _, path in model.ends(rule, "hub"))
        yield Placed(where=place, rule=rule, spoke=at_spoke, hub=at_hub)
        inner = model.nested(rule)
        if inner:
            yield from every(inner, f"{place}.", at_spoke[0], at_hub[0])


def metadata_paths(rules: Sequence[model.Rule], side: model.Side) -> tuple[str, ...]:
    """The labels and annotations that rules name at one side, each once: ``/metadata/labels/<key>``."""
    found = (path for placed in every(rules) for path in getattr(placed, side) if path.startswith(METADATA))
    return tuple(dict.fromkeys("".join(patterns.parse(path)[:3]) for path in found))
