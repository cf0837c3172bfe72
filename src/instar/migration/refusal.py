"""One place that sorts an API server's refusal of one write: what it means for the object, and what a person can do.

====  =====================================================  ==========
code  what it says                                           sort
====  =====================================================  ==========
404   this object is not there                               GONE
404   anything else (the resource itself, a starting server) AGAIN
409   somebody else wrote in between                         CONFLICT
429   too busy, or storage being rebuilt                     WAIT
503   the same from further away                             WAIT
500   conversion failed, or the storage was being rebuilt    AGAIN
504   it took too long, and may have landed; no answer too   AGAIN
401   who are you                                            STOP
403   RBAC: this account may not do this at all              STOP
403   an admission plugin's refusal of this one object       PERMANENT
else  a refusal that the same write will always meet         PERMANENT
====  =====================================================  ==========

A 404 that does not name the object must never count as "deleted": an API server that is starting, or whose handlers
are being rebuilt, answers so for objects that are there.
Source: https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md
"""

from __future__ import annotations

import dataclasses
import enum
import re

__all__ = ["Refused", "Sort", "classify", "corrupt_keys", "describe", "sort", "webhook_away"]

_RBAC = re.compile(r" cannot [a-z]+ (resource|path) ")
_WEBHOOK_AWAY = re.compile(
    r"conversion webhook for .* failed: .*(connection refused|no route to host|i/o timeout|EOF|no such host|"
    r"deadline exceeded|connection reset|not found|x509|tls:|no endpoints available)",
    re.DOTALL,
)
_CORRUPT_KEY = re.compile(r"Key: (/\S+?),")


class Sort(enum.Enum):
    """What a refusal means for the object that was written."""

    GONE = "gone"
    CONFLICT = "conflict"
    WAIT = "wait"
    AGAIN = "again"
    STOP = "stop"
    PERMANENT = "permanent"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """An answer that is no success; code 0 means that no answer came."""

    code: int
    reason: str
    message: str
    retry_after_seconds: float | None = None


def sort(refused: Refused, name: str) -> Sort:
    """What the refusal of a write of the object ``name`` means."""
    match refused.code:
        case 404:
            return Sort.GONE if f'"{name}" not found' in refused.message else Sort.AGAIN
        case 409:
            return Sort.CONFLICT
        case 429 | 503:
            return Sort.WAIT
        case 0 | 500 | 502 | 504:
            return Sort.AGAIN
        case 401:
            return Sort.STOP
        case 403:
            return Sort.STOP if _RBAC.search(refused.message) else Sort.PERMANENT
        case _:
            return Sort.PERMANENT


_RULES: tuple[tuple[str, str, str], ...] = (
    (
        "conversion webhook for",
        "ConversionFailed",
        "make the conversion webhook answer for this object, then run again",
    ),
    (
        "invalid group/version",
        "VersionRemoved",
        "the object is stored at a version that is not in spec.versions: add it again (served: false is enough)",
    ),
    (
        "ValidatingAdmissionPolicy",
        "AdmissionPolicy",
        "let the policy pass updates that change nothing, or exempt this account",
    ),
    (
        "admission webhook",
        "AdmissionWebhook",
        "let the admission webhook pass updates that change nothing, or exempt this account",
    ),
    ("ownerReference", "OwnerReference", "give this account the right to set finalizers on the owner"),
    ("etcdserver: request is too large", "TooLarge", "make the object smaller: etcd takes 1.5 MiB"),
    ("Request entity too large", "TooLarge", "make the object smaller: the API server takes 3 MiB"),
    ("oldSelf", "TransitionRule", "a transition rule is never ratcheted: change the rule so that old = new passes"),
    (
        "failed rule",
        "ValidationRule",
        "fix the object or the rule: a rule at the root is never ratcheted, nor is one beside a new default",
    ),
    (
        "is invalid",
        "Invalid",
        "fix the object: a violated rule at the root, or beside a default that the new version adds, is not ratcheted",
    ),
)


def classify(refused: Refused) -> str:
    """A stable word for a permanent refusal."""
    return next((word for text, word, _ in _RULES if text in refused.message), refused.reason or f"Http{refused.code}")


def describe(refused: Refused) -> str:
    """What to change so that the write passes; empty if the server's own words have to do."""
    return next((remedy for text, _, remedy in _RULES if text in refused.message), "")


def webhook_away(refused: Refused) -> bool:
    """Whether the conversion webhook could not be asked at all: then no object is to blame."""
    return _WEBHOOK_AWAY.search(refused.message) is not None


def corrupt_keys(message: str) -> tuple[str, ...]:
    """The etcd keys that a failed read names, without the prefix of the storage: ``/group/plural/namespace/name``."""
    return tuple(dict.fromkeys(_CORRUPT_KEY.findall(message)))
