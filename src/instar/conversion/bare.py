"""One bare conversion: the author's function, then what the API server would do to its answer.

``bare(a -> b)`` is the converter, then prune, drop of nulls and defaults of b's schema, so that a later write at b adds
nothing. The converter gets a private copy without ``managedFields`` and without our annotations. What it returns is
checked against the contract of conversion webhooks here, where the function can still be named.
"""

from __future__ import annotations

import dataclasses
from types import TracebackType
from typing import Any

from instar import errors
from instar.conversion import definition, named
from instar.model import gojson
from instar.schema import settled, structural

__all__ = ["Direction", "convert", "run"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Direction:
    """From one version to another by one function, and the target's schema; rules name labels and annotations."""

    kind: str
    source: str
    target: str
    function: definition.Converter
    node: structural.Node
    names: named.Names = ()


def convert(
    direction: Direction, body: dict[str, Any], metadata: dict[str, Any], *, defaults: bool = True
) -> dict[str, Any]:
    """The settled body at the target. Raises ConversionError without the object's name; the caller knows it."""
    return run(direction, gojson.copy(body), metadata, defaults=defaults).value


def run(
    direction: Direction,
    body: dict[str, Any],
    metadata: dict[str, Any],
    *,
    defaults: bool = True,
    expected: settled.Settled | None = None,
) -> settled.Settled:
    """The same for a body that nobody else has. What comes back may share parts with the converter's constants.

    ``expected`` is what may well come back, settled with defaults.
    """
    body["apiVersion"], body["kind"] = direction.source, direction.kind
    body["metadata"] = named.join(direction.names, gojson.copy(metadata), body.get("metadata"))
    try:
        answer = direction.function(body)
    except errors.Unconvertible as error:
        raise errors.ConversionError(f"{error.message} ({_where(direction, error)})", path=error.path) from error
    except Exception as error:
        where = getattr(error, "path", "")
        raise errors.ConversionError(
            f"{errors.raised(error)} ({_where(direction, error)})", path=where if type(where) is str else ""
        ) from error
    _check(direction, answer, metadata)
    return _settled(direction, answer, defaults, expected)


def _settled(
    direction: Direction, answer: dict[str, Any], defaults: bool, expected: settled.Settled | None
) -> settled.Settled:
    body = {name: value for name, value in answer.items() if name not in structural.META}
    if direction.names:
        body["metadata"] = named.take(direction.names, answer["metadata"])
    try:
        return settled.settle(body, direction.node, defaults=defaults, expected=expected)
    except errors.JsonError:
        return _refuse(direction, body, defaults)
    except RecursionError:
        text = f"returned an object nested deeper than {gojson.MAX_DEPTH} levels, or one that holds itself"
        raise errors.ConversionError(f"{_name(direction)} {text}") from None


def _refuse(direction: Direction, body: dict[str, Any], defaults: bool) -> settled.Settled:
    """The walk over the whole answer finds the path that the settling walk does not keep."""
    try:
        return settled.settle(gojson.normal(body), direction.node, defaults=defaults)
    except errors.JsonError as error:
        text = f"{_name(direction)} returned what JSON cannot say: {error.message}"
        raise errors.ConversionError(text, path=error.path) from error


def _check(direction: Direction, answer: Any, metadata: dict[str, Any]) -> None:
    """The API server's own conditions on an answer, and the one that it checks silently."""
    if not isinstance(answer, dict):
        raise errors.ConversionError(f"{_name(direction)} returned a {type(answer).__name__}, not an object")
    if answer.get("kind") != direction.kind:
        raise _wrong(direction, "kind", answer.get("kind"), direction.kind)
    if answer.get("apiVersion") not in (direction.source, direction.target):
        raise _wrong(direction, "apiVersion", answer.get("apiVersion"), direction.target)
    found = answer.get("metadata")
    if not isinstance(found, dict):
        raise errors.ConversionError(
            f"{_name(direction)} returned no metadata: keep the object's own", path="/metadata"
        )
    for name in ("name", "namespace", "uid"):
        if found.get(name) != metadata.get(name):
            raise _wrong(direction, f"metadata.{name}", found.get(name), metadata.get(name))


def _wrong(direction: Direction, field: str, found: Any, wanted: Any) -> errors.ConversionError:
    text = f"{_name(direction)} returned {field} {found!r}, not {wanted!r}"
    return errors.ConversionError(text, path="/" + field.replace(".", "/"))


def _name(direction: Direction) -> str:
    function = direction.function
    name = getattr(function, "__name__", type(function).__name__)
    code = getattr(function, "__code__", None)
    return f"{name}, {code.co_filename.rpartition('/')[2]}:{code.co_firstlineno}" if code else str(name)


def _where(direction: Direction, error: BaseException) -> str:
    """The rule; or the function, and the last line of its own file on the way to the error."""
    if isinstance(error, errors.Unconvertible) and error.place:
        return error.place
    code = getattr(direction.function, "__code__", None)
    trace: TracebackType | None = error.__traceback__
    line = 0
    while trace is not None:
        if code is not None and trace.tb_frame.f_code.co_filename == code.co_filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    if not line or code is None:
        return _name(direction)
    return f"{direction.function.__name__}, {code.co_filename.rpartition('/')[2]}:{line}"
