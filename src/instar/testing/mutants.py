"""Every mutant of a conversion: of its rules and declarations, and of the files in which its functions stand."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import instar.conversion as conversion_module
from instar.conversion.rules import model
from instar.schema import structural
from instar.testing import mutating, rule_mutating

__all__ = ["Mutant", "Unloadable", "of"]


class Unloadable(Exception):
    """A mutant that cannot be imported."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Mutant:
    """A changed conversion that is yet to be made. ``name`` is how the project file names it."""

    name: str
    file: str
    line: int
    make: Callable[[], conversion_module.Conversion]


def of(bound: conversion_module.Bound) -> Iterator[Mutant]:
    """The mutants, those of the rules first; ``make`` gives the changed conversion, or raises Unloadable."""
    yield from _of_rules(bound.conversion)
    yield from _of_declarations(bound.conversion)
    fields = {name for between in bound.hops.values() for name in _names(between.source.node)}
    for file in _files(bound.conversion):
        for changed in mutating.mutants(Path(file).read_text(), file, fields):
            make = functools.partial(_executed, bound.conversion, changed)
            yield Mutant(name=changed.name, file=file, line=changed.line, make=make)


def _of_rules(conversion: conversion_module.Conversion) -> Iterator[Mutant]:
    for index, spoke in enumerate(conversion.spokes):
        for name, origin, rules in rule_mutating.changes(spoke):
            make = functools.partial(_with_rules, conversion, index, rules)
            file, _, line = origin.rpartition(":")
            yield Mutant(name=name, file=file, line=int(line) if line.isdigit() else 0, make=make)


def _of_declarations(conversion: conversion_module.Conversion) -> Iterator[Mutant]:
    """Each group, or a member of it, and each other declaration left out.

    Not so what may be dropped when annotations are full: that is met by no object of a usual size.
    """
    for name in ("groups", "normalised", "sensitive"):
        declared = getattr(conversion, name)
        for index, one in enumerate(declared):
            rest: list[tuple[str, tuple[Any, ...]]] = [("", ())]
            if isinstance(one, conversion_module.Group) and len(one.paths) > 2:
                for path in one.paths:
                    fewer = dataclasses.replace(one, paths=tuple(other for other in one.paths if other != path))
                    rest.append((f" {path}", (fewer,)))
            for what, kept in rest:
                changed: dict[str, Any] = {name: (*declared[:index], *kept, *declared[index + 1 :])}
                make = functools.partial(dataclasses.replace, conversion, **changed)
                yield Mutant(name=f"{name}[{index}]:{what} left out", file="", line=0, make=make)


def _with_rules(
    conversion: conversion_module.Conversion, index: int, rules: tuple[model.Rule, ...]
) -> conversion_module.Conversion:
    spokes = list(conversion.spokes)
    spokes[index] = dataclasses.replace(spokes[index], rules=rules)
    return dataclasses.replace(conversion, spokes=tuple(spokes))


def _files(conversion: conversion_module.Conversion) -> list[str]:
    """The files of the author's functions, in the order of the spokes."""
    functions = (function for spoke in conversion.spokes for function in _functions(spoke))
    codes = (getattr(inspect.unwrap(function), "__code__", None) for function in functions)
    files = dict.fromkeys(code.co_filename for code in codes if code is not None)
    return [file for file in files if Path(file).is_file()]


def _functions(value: Any) -> Iterator[Any]:
    """Every function in a spoke, those of its rules too."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _functions(getattr(value, field.name))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _functions(item)
    elif callable(value):
        yield value


def _names(node: structural.Node) -> Iterator[str]:
    for name, inner in node.properties.items():
        yield name
        yield from _names(inner)
    for below in (node.items, node.additional):
        if below is not None:
            yield from _names(below)


def _executed(conversion: conversion_module.Conversion, mutant: mutating.Mutant) -> conversion_module.Conversion:
    """The conversion with the functions of a changed file."""
    module = types.ModuleType("instar_mutant")
    module.__file__ = mutant.file
    sys.modules[module.__name__] = module
    try:
        exec(mutant.code, module.__dict__)
    except Exception as error:
        raise Unloadable(f"{type(error).__name__}: {error}") from error
    for value in vars(module).values():
        if isinstance(value, conversion_module.Conversion) and value.versions == conversion.versions:
            return value
    spokes = tuple(_renewed(spoke, vars(module)) for spoke in conversion.spokes)
    return dataclasses.replace(conversion, spokes=spokes)


def _renewed(value: Any, names: Mapping[str, Any]) -> Any:
    """The same with every function replaced by the one of that name."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        new = {field.name: _renewed(getattr(value, field.name), names) for field in dataclasses.fields(value)}
        return dataclasses.replace(value, **new)
    if isinstance(value, (tuple, list)):
        return tuple(_renewed(item, names) for item in value)
    return names.get(getattr(value, "__qualname__", ""), value) if callable(value) else value
