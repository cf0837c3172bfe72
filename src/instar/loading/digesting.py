"""One number for a conversion with its schemas: what was proved is what is served exactly if the digests are equal.

In it are the format of entries, the conversion's own values (rules, categories, domain), the versions of its CRD with
their schemas, and of functions the source (sources.py) and what they are bound to: closures, defaults, partials. Left
out is what does not convert: where files stand, on which line a rule is, the storage version, and Instar's own code.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import re
import types
from collections.abc import Iterator, Mapping
from typing import Any

import instar.conversion as conversion_module
from instar.conversion import entries
from instar.conversion.rules import decoding, model
from instar.loading import sources

__all__ = ["digest"]

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def digest(bound: conversion_module.Bound) -> str:
    """``sha256:`` and 64 hex digits; the same wherever the files are the same."""
    made = _Values()
    document = {
        "entries": entries.FORMAT,
        "conversion": made.plain(bound.conversion),
        "schemas": made.plain({version.name: version.schema for version in bound.crd.versions}),
        "sources": made.sources.digests(),
    }
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


class _Values:
    """Values as JSON that is the same for what converts the same, and the sources that they lead to."""

    def __init__(self) -> None:
        self.sources = sources.Sources()
        self._above: list[int] = []

    def plain(self, value: Any) -> Any:
        """JSON of a value; what holds itself is cut off there."""
        if value is None or isinstance(value, (str, bool, int, float)):
            return value
        if id(value) in self._above:
            return {"above": len(self._above) - self._above.index(id(value))}
        self._above.append(id(value))
        try:
            return self._compound(value)
        finally:
            self._above.pop()

    def _compound(self, value: Any) -> Any:
        match value:
            case Mapping():
                return {"map": sorted(([self.plain(key), self.plain(found)] for key, found in value.items()), key=repr)}
            case list() | tuple():
                return [self.plain(item) for item in value]
            case set() | frozenset():
                return {"set": sorted((self.plain(item) for item in value), key=repr)}
            case re.Pattern():
                return {"pattern": value.pattern, "flags": value.flags}
            case types.CodeType():
                return {"code": value.co_code.hex(), "names": value.co_names, "has": self.plain(value.co_consts)}
            case types.FunctionType():
                return self._function(value)
            case types.MethodType():
                return {"method": self.plain(value.__func__), "of": self.plain(value.__self__)}
            case functools.partial():
                return {"partial": self.plain(value.func), "with": self.plain([value.args, value.keywords])}
            case type() | types.BuiltinFunctionType():
                return self._named(value.__module__, value.__qualname__)
            case types.ModuleType():
                return self._named(value.__name__, "")
            case _:
                of = type(value)
                name = self._named(of.__module__, of.__qualname__)
                return {"is": name, "has": self.plain(dict(_members(value)))}

    def _named(self, module: str | None, name: str) -> str:
        self.sources.add(module or "builtins")
        return f"{sources.stem(module or 'builtins')}:{name}"

    def _function(self, function: types.FunctionType) -> Any:
        made = {"function": self._named(function.__module__, function.__qualname__)}
        if not self.sources.add(function.__module__ or "builtins"):
            made["code"] = self.plain(function.__code__)  # it stands in no file
        return {**made, "bound": self.plain([list(_cells(function)), function.__defaults__, function.__kwdefaults__])}


def _cells(function: types.FunctionType) -> Iterator[Any]:
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # an empty one
            yield cell.cell_contents


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """What an object holds, but for what depends on the process."""
    names = [*getattr(value, "__dict__", ()), *(name for of in type(value).__mro__ for name in _slots(of))]
    if not names:
        yield "repr", _ADDRESS.sub("", repr(value))
    hidden = decoding.HIDDEN if isinstance(value, model.Rule) else frozenset()
    for name in names:
        told = name == "__wrapped__" or not name.startswith("__")
        if told and name not in hidden and hasattr(value, name):
            yield name, getattr(value, name)


def _slots(of: type) -> tuple[str, ...]:
    slots = vars(of).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)
