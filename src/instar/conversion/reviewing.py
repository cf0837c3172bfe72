"""A whole webhook call as one total function: ConversionReview bytes in, ConversionReview bytes out.

The uid is echoed always; objects keep their order and count. One object that fails fails the review, because the API
server knows no other way to be told: the message is one line which says who and why, and it is all that a user sees.

    body -> envelope.read -> each object: frame.split -> Bound.convert -> frame.check -> frame.join -> envelope.success
                    \\ no review that can be read, or one object that failed                        -> envelope.failure

Source: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from instar import errors
from instar.conversion import binding, envelope, frame, hop

__all__ = ["Answer", "Bounds", "Convertible", "Outcome", "answer", "refuse", "review"]

MAX_MESSAGE = 2000
"""Characters of a message; converters quote what they were given, and that may be megabytes."""


class Convertible(Protocol):
    """What can take one object of a kind to another version: a ``Bound``."""

    @property
    def versions(self) -> tuple[str, ...]:
        """Every version that it can take an object from and to."""
        ...

    def convert(self, obj: dict[str, Any], to: str) -> dict[str, Any]:
        """The object at version ``to``; ConversionError says why it cannot be."""
        ...


Bounds = Mapping[tuple[str, str], Convertible]
"""Conversions by (group, kind)."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of one object, without its contents; ``reason`` is empty where it was converted."""

    group: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    from_version: str = ""
    to_version: str = ""
    reason: str = ""
    path: str = ""
    carried_bytes: int = 0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """``code`` is 200, or 400 where no uid was found; ``message`` is empty on success."""

    code: int
    body: bytes
    message: str
    outcomes: tuple[Outcome, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Result:
    """One object's bytes, or who failed and with what words."""

    outcome: Outcome
    converted: bytes = b""
    subject: str = ""
    problem: str = ""


def review(bounds: Bounds, body: bytes) -> bytes:
    """The ConversionReview that answers a ConversionReview, whatever the body is; never raises."""
    return answer(bounds, body).body


def answer(bounds: Bounds, body: bytes) -> Answer:
    """As ``review``, with what a server needs besides: the HTTP code, the message, and what became of each object."""
    request = envelope.read(body)
    if isinstance(request, envelope.Unreadable):
        return _unreadable(request)
    results = [_result(bounds, raw, request.desired) for raw in request.objects]
    message = _first_failure(results)
    if message:
        encoded = envelope.failure(request.api_version, request.uid, message)
    else:
        encoded = envelope.success(request, [result.converted for result in results])
    return Answer(code=200, body=encoded, message=message, outcomes=tuple(result.outcome for result in results))


def refuse(head: bytes, message: str) -> Answer:
    """The answer to a request that is not looked at (too large, say); ``head`` is as much of its body as was kept."""
    version, uid = envelope.api_version(head), envelope.find_uid(head)
    return _unreadable(envelope.Unreadable(api_version=version, uid=uid, message=message))


def _unreadable(request: envelope.Unreadable) -> Answer:
    message = _one_line(request.message)
    encoded = envelope.failure(request.api_version, request.uid or "", message)
    return Answer(code=400 if request.uid is None else 200, body=encoded, message=message)


def _first_failure(results: Sequence[_Result]) -> str:
    """The line of the first object that failed, with its place in the list and how many more did; or empty."""
    failed = [(index, result) for index, result in enumerate(results, 1) if result.outcome.reason]
    if not failed:
        return ""
    index, first = failed[0]
    place = f" [{index} of {len(results)}]" if len(results) > 1 else ""
    more = f" (and {len(failed) - 1} more of them failed)" if len(failed) > 1 else ""
    return _one_line(f"{first.subject}{place} {first.problem}") + more


def _one_line(message: str) -> str:
    text = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in message[: 2 * MAX_MESSAGE])
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 4] + " ..."


def _result(bounds: Bounds, raw: bytes, desired: str) -> _Result:
    try:
        split = frame.split(raw)
    except errors.ConversionError as error:
        return _Result(subject="object", problem=error.message, outcome=Outcome(reason=error.reason))
    outcome = _outcome(split, desired)
    try:
        converted, metadata = _found(bounds, split, desired)
    except errors.ConversionError as error:
        return _Result(
            subject=_subject(outcome),
            problem=_problem(outcome, error.message),
            outcome=dataclasses.replace(outcome, reason=error.reason, path=error.path),
        )
    carried_bytes = frame.carried_bytes(metadata)
    return _Result(
        converted=converted,
        outcome=dataclasses.replace(outcome, carried_bytes=carried_bytes) if carried_bytes else outcome,
    )


def _outcome(split: frame.Split, desired: str) -> Outcome:
    group, _, version = split.api_version.rpartition("/")
    metadata = split.whole["metadata"]
    return Outcome(
        group=group,
        kind=split.kind,
        namespace=str(metadata.get("namespace") or ""),
        name=_name(metadata),
        from_version=version,
        to_version=desired.rpartition("/")[2],
    )


def _name(metadata: Mapping[str, Any]) -> str:
    if metadata.get("name"):
        return str(metadata["name"])
    return f"{metadata['generateName']}*" if metadata.get("generateName") else "<unnamed>"


def _subject(outcome: Outcome) -> str:
    key = f"{outcome.namespace}/{outcome.name}" if outcome.namespace else outcome.name
    return f"{outcome.kind} {key}"


def _problem(outcome: Outcome, message: str) -> str:
    """The words after the subject; a message that has the subject and the versions already keeps them once."""
    rest = message.removeprefix(_subject(outcome))
    if rest != message and rest.startswith(" "):
        return rest[1:]
    return f"{outcome.from_version} -> {outcome.to_version}: {rest.removeprefix(': ')}"


def _found(bounds: Bounds, split: frame.Split, desired: str) -> tuple[bytes, Mapping[str, Any]]:
    """The checked object at the desired version, and its metadata."""
    group, _, version = desired.rpartition("/")
    bound = bounds.get((group, split.kind))
    source_group, _, source = split.api_version.rpartition("/")
    if bound is None or source_group != group or not {source, version} <= set(bound.versions):
        served = ", ".join(f"{kind}.{of} ({', '.join(bounds[of, kind].versions)})" for of, kind in sorted(bounds))
        text = (
            f"no conversion of {split.kind} from {split.api_version!r} to {desired!r} here, only of "
            f"{served or 'nothing'}: start the server with its conversion, or correct spec.conversion of the CRD"
        )
        raise errors.ConversionError(text, reason="NotServed")
    if split.api_version == desired:
        return frame.join(split, split.whole), split.whole["metadata"]
    found = _call(bound, split.whole, version)
    if isinstance(found, hop.Outcome):
        return frame.written(split, found, desired), found.metadata
    frame.check(found, split, desired)
    return frame.join(split, found), found["metadata"]


def _call(bound: Convertible, whole: dict[str, Any], version: str) -> hop.Outcome | dict[str, Any]:
    """A converter is somebody else's code: whatever it raises is one failed object, and the server goes on."""
    try:
        return bound.take(whole, version) if type(bound) is binding.Bound else bound.convert(whole, version)
    except errors.ConversionError:
        raise
    except errors.InstarError as error:
        raise errors.ConversionError(error.message, reason=error.reason) from error
    except KeyboardInterrupt:  # somebody's Ctrl-C, wherever it hits
        raise
    except BaseException as error:
        text = f"the converter raised {type(error).__name__}" + (f": {error}" if str(error) else "")
        raise errors.ConversionError(text, reason="ConverterRaised") from error
