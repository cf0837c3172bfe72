"""What a law is: a name, a sentence, the kinds of cases it is asked about, and a judge of one case."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from instar import errors
from instar.conversion import leaves
from instar.testing import cases, twin

__all__ = ["Judge", "Law", "compare"]

Judge = Callable[[twin.Twin, cases.Case], Iterator[cases.Finding]]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Law:
    """``name`` is L1 to L15; ``holds`` says what must; ``judge`` yields what does not."""

    name: str
    title: str
    holds: str
    kinds: tuple[cases.Kind, ...]
    judge: Judge

    def check(self, of: twin.Twin, case: cases.Case) -> tuple[cases.Finding, ...]:
        """The findings of one case. An object that cannot be converted is a finding of L4, and of no other law."""
        try:
            return tuple(self.judge(of, case))
        except errors.ConversionError:
            return ()


def compare(
    of: twin.Twin, wanted: dict[str, Any], found: dict[str, Any], *, shown: tuple[str, str], **known: Any
) -> Iterator[cases.Finding]:
    """A finding for each leaf at which an object is not what it should be."""
    version = cases.version_of(wanted)
    for difference in of.differences(wanted, found):
        yield cases.Finding(
            path=difference.path,
            place=of.place(version, difference.path),
            problem=_said(difference),
            shown=((shown[0], of.stripped(wanted)), (shown[1], found)),
            **known,
        )


def _said(difference: leaves.Difference) -> str:
    wanted, found = difference.value, difference.seen
    if difference.path.endswith("[]"):
        return "comes back in another order"
    if found is leaves.ABSENT:
        return f"is lost: was {wanted!r:.80}"
    if wanted is leaves.ABSENT:
        return f"appears: {found!r:.80}, and was not there"
    return f"is {found!r:.80}, was {wanted!r:.80}"
