"""Every exception of Instar, so that one place turns any of them into an exit code, a Condition or a Status.

::

    InstarError                     reason, message, exit code
    |-- UsageError                  2  wrong flags, files or settings
    |   |-- DefinitionError         2  a conversion that cannot be served: says where
    |   `-- JsonError               2  bytes or a value that Go's JSON cannot read or say
    |-- FindingError                1  a gate that holds, or a check that found something
    |   |-- ConversionError         1  one object that cannot be converted
    |   |   `-- Unconvertible       1  what a converter raises: the field, its value and what is wrong with it
    |   `-- GateHeldError           1  a step that may not be taken on the evidence at hand
    |-- ClusterError                3  no usable answer from a cluster
    |   |-- KubeconfigError         3  no or broken kubeconfig
    |   |-- UnreachableError        3  connection refused, reset, timed out, bad certificate
    |   `-- ApiError                3  the API server refused; carries Kubernetes' code, reason and causes
    |-- ControlPlaneError           3  a disposable control plane that cannot be built or started
    `-- InternalError               4  our own fault

Each carries a stable CamelCase ``reason`` and one ``message`` line: the object, the field, the value and the remedy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = [
    "ApiError",
    "Cause",
    "ClusterError",
    "ControlPlaneError",
    "ConversionError",
    "DefinitionError",
    "FindingError",
    "GateHeldError",
    "InstarError",
    "InternalError",
    "JsonError",
    "KubeconfigError",
    "Unconvertible",
    "UnreachableError",
    "UsageError",
    "raised",
]


def raised(error: BaseException) -> str:
    """What somebody else's exception says: a ValueError its text, others their type too, one without text its type."""
    text, kind = str(error), type(error).__name__
    return text if text and isinstance(error, ValueError) else f"{kind}: {text}" if text else kind


class InstarError(Exception):
    """The root: one line for a person (``message``) and one stable word for a program (``reason``)."""

    reason = "Error"
    exit_code = 4

    def __init__(self, message: str, *, reason: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if reason is not None:
            self.reason = reason


class UsageError(InstarError):
    """Wrong flags, files or settings."""

    reason = "BadUsage"
    exit_code = 2


class DefinitionError(UsageError):
    """A conversion that may not be served; the message names the exact place."""

    reason = "BadDefinition"


class JsonError(UsageError):
    """Bytes that are no JSON to Go, or a value that JSON cannot say; ``path`` is where, as ``/spec/replicas``."""

    reason = "BadJson"

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class FindingError(InstarError):
    """A check that found something, or a gate that holds."""

    reason = "Finding"
    exit_code = 1


class ConversionError(FindingError):
    """One object that cannot be converted; ``path`` is where, as ``/spec/quota``."""

    reason = "ConversionFailed"

    def __init__(self, message: str, *, path: str = "", reason: str | None = None) -> None:
        super().__init__(message, reason=reason)
        self.path = path


class Unconvertible(ConversionError):
    """What a converter raises: ``raise Unconvertible("spec.quota", "cpu=,mem=1Gi", "cpu is empty")``.

    The path is written with dots, or as ``/spec/quota``; the value is shown, shortened, so never name a secret.
    ``place`` is the rule that raised it, where it was one.
    """

    place = ""

    def __init__(self, path: str, value: object, problem: str) -> None:
        dotted = path.lstrip("/").replace("/", ".")
        shown = f'"{value}"' if isinstance(value, str) else repr(value)
        super().__init__(
            f"{dotted}: {shown[:117] + '...' if len(shown) > 120 else shown}: {problem}",
            path="/" + dotted.replace(".", "/"),
        )
        self.problem = problem


class GateHeldError(FindingError):
    """A step that cannot be undone and whose evidence is missing."""

    reason = "GateHeld"


class ClusterError(InstarError):
    """No usable answer from a cluster."""

    reason = "ClusterError"
    exit_code = 3


class KubeconfigError(ClusterError):
    """No kubeconfig, or one that cannot be used."""

    reason = "BadKubeconfig"


class UnreachableError(ClusterError):
    """The connection failed before an answer came: refused, reset, timed out, or not trusted."""

    reason = "Unreachable"


@dataclass(frozen=True, kw_only=True, slots=True)
class Cause:
    """One entry of a Status' ``details.causes``."""

    reason: str
    message: str
    field: str


class ApiError(ClusterError):
    """An answer of the API server that is not a success: its ``code``, ``reason``, ``message`` and ``causes``.

    ``reason`` is Kubernetes' own word (NotFound, Conflict, Invalid, Expired, ...), or one made from the code where the
    body is no Status. ``retry_after_seconds`` is None unless the server asked for it. ``detail`` is the API server's
    own sentence, on one line, where ``message`` also names the server. ``continue_token`` comes with a 410: it goes on
    with a list at a newer revision.
    Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
    """

    def __init__(
        self,
        message: str,
        *,
        code: int,
        reason: str,
        causes: Sequence[Cause] = (),
        retry_after_seconds: int | None = None,
        detail: str = "",
        continue_token: str = "",
    ) -> None:
        super().__init__(message, reason=reason)
        self.code = code
        self.detail = detail or message
        self.continue_token = continue_token
        self.causes = tuple(causes)
        self.retry_after_seconds = retry_after_seconds


class ControlPlaneError(InstarError):
    """A disposable control plane that cannot be built, found or started."""

    reason = "ControlPlane"
    exit_code = 3


class InternalError(InstarError):
    """Our own fault: a bug, and how to report it."""

    reason = "InternalError"
    exit_code = 4
