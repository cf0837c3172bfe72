"""What came of the dialogues of one sweep, counted; names are kept where a person has to look, up to a bound."""

from __future__ import annotations

from instar import errors
from instar.migration import evidence, refusal, revisions
from instar.migration import object as object_dialogue

__all__ = ["Tally"]

WEBHOOK_AWAY = 100
"""So many objects in a row for which the conversion webhook could not be asked: the sweep ends, nobody is to blame."""


_CURRENT = (object_dialogue.Kind.UNCHANGED, object_dialogue.Kind.MOVED, object_dialogue.Kind.CONTENDED)


class Tally:
    """What came of every dialogue."""

    def __init__(self, *, name_moved: bool) -> None:
        self.counts: dict[str, int] = dict.fromkeys(evidence.Counts.__dataclass_fields__, 0)
        self.moved: list[evidence.Finding] = []
        self.contended: list[evidence.Finding] = []
        self.quarantined: list[evidence.Finding] = []
        self.unknown: list[evidence.Finding] = []
        self.known = revisions.Revisions()
        self._name_moved = name_moved
        self._away = 0
        self.breaker = ""

    def add(self, result: object_dialogue.Result, mark: int) -> None:
        """Count one end; STOPPED raises, since it concerns all objects."""
        if result.kind is object_dialogue.Kind.STOPPED and result.refused is not None:
            refused = result.refused
            raise errors.ApiError(refused.message, code=refused.code, reason=refused.reason)
        self.counts[result.kind.value] += 1
        self.counts["conflicts"] += result.conflicts
        self.counts["changed"] += result.changed
        self._away = self._away + 1 if result.refused and refusal.webhook_away(result.refused) else 0
        if self._away >= WEBHOOK_AWAY and result.refused is not None:
            self.breaker = (
                f"the conversion webhook cannot be reached: {result.refused.message}: mend it, then run again"
            )
        if result.kind in _CURRENT:
            if (revision := revisions.parse(result.revision)) > mark:
                self.known.add(revision)
            if result.kind is object_dialogue.Kind.MOVED and self._name_moved:
                _keep(self.moved, _moved(result.item))
            elif result.kind is object_dialogue.Kind.CONTENDED:
                _keep(self.contended, _contended(result))
        elif result.kind is not object_dialogue.Kind.GONE:
            quarantined = result.kind is object_dialogue.Kind.QUARANTINED
            _keep(self.quarantined if quarantined else self.unknown, _finding(result))

    @property
    def done(self) -> int:
        """How many dialogues have ended."""
        return sum(self.counts[kind.value] for kind in object_dialogue.Kind if kind.value in self.counts)


def _keep(findings: list[evidence.Finding], finding: evidence.Finding) -> None:
    if len(findings) < evidence.FINDINGS_KEPT:
        findings.append(finding)


def _moved(item: object_dialogue.Item) -> evidence.Finding:
    return evidence.Finding(
        namespace=item.namespace,
        name=item.name,
        reason="StoredAtOldVersion",
        message=f"was stored at an old version (resourceVersion {item.resource_version}); it is rewritten now",
    )


def _contended(result: object_dialogue.Result) -> evidence.Finding:
    return evidence.Finding(
        namespace=result.item.namespace,
        name=result.item.name,
        reason="WrittenAllTheTime",
        message=f"others wrote it {result.conflicts} times in between; it is current at {result.revision}",
    )


def _finding(result: object_dialogue.Result) -> evidence.Finding:
    refused = result.refused or refusal.Refused(code=0, reason="Unknown", message="no clear answer")
    return evidence.Finding(
        namespace=result.item.namespace,
        name=result.item.name,
        reason=refusal.classify(refused),
        message=refused.message,
        remedy=refusal.describe(refused),
    )
