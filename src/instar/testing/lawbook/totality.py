"""L4: every object is converted, or refused in words; a converter never just falls over.

A valid object must convert: one that does not is stored and then cannot be read, nor listed with all others. An object
that no client could write today may be refused, but by ``Unconvertible`` or a ``ValueError``, which the author meant.
Only where a value has another type than its schema says (a schema changed in place, long ago) any error will do: the
framework says it in one line all the same, and converters need not ask each value what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from instar import errors
from instar.schema import structural
from instar.testing import cases, twin
from instar.testing.lawbook import law

__all__ = ["TOTALITY"]

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}


def _totality(of: twin.Twin, case: cases.Case) -> Iterator[cases.Finding]:
    valid = case.kind == "whole" and of.problem(case.object) is None
    document = of.written(case.object) if case.kind == "whole" else case.object
    for target in of.others(case.version):
        try:
            of.convert(document, target)
        except errors.ConversionError as error:
            if valid or not (_meant(error) or _mistyped(document, of.sides[case.version].node)):
                yield _finding(case, document, target, error, valid)


def _meant(error: BaseException) -> bool:
    while error.__cause__ is not None:
        error = error.__cause__
    return isinstance(error, (errors.InstarError, ValueError))


def _mistyped(value: Any, node: structural.Node) -> bool:
    wanted = _TYPES.get(node.raw.get("type", ""))
    if wanted is not None and value is not None and type(value) not in wanted:
        return True
    if type(value) is list:
        inner = node.items or structural.ANY  # a null item is kept; a null field is dropped, or takes the default
        return any((item is None and not inner.nullable) or _mistyped(item, inner) for item in value)
    if type(value) is dict:
        below = ((structural.child(node, name), item) for name, item in value.items() if name not in structural.META)
        return any(_mistyped(item, found[0]) for found, item in below if found is not None)
    return False


def _finding(
    case: cases.Case, document: cases.Document, target: str, error: errors.ConversionError, valid: bool
) -> cases.Finding:
    _, _, text = error.message.partition(f"{case.version} -> {target}: ")
    return cases.Finding(
        law="L4",
        path=error.path,
        place=error.path or (text or error.message).partition(":")[0],
        problem=("a valid object is refused: " if valid else "the converter falls over: ") + (text or error.message),
        source=case.version,
        target=target,
        shown=((f"at {case.version}", document),),
    )


TOTALITY = law.Law(
    name="L4",
    title="totality",
    holds="every valid object converts; any other is converted or refused in words",
    kinds=("whole", "odd"),
    judge=_totality,
)
