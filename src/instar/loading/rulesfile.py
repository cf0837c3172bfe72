"""Reads a conversion that is written as rules in a YAML file; every complaint names the line.

The lines are those of the YAML nodes. A key that is there twice in one mapping is refused: YAML would drop the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from instar import errors
from instar.conversion import definition
from instar.conversion.rules import decoding

__all__ = ["read"]

Where = tuple[str | int, ...]
Function = Callable[[Any], Any]
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(path: Path, function: Callable[[str, Path], Function]) -> definition.Conversion:
    """The conversion in a file; ``function(name, folder)`` finds the Python functions that it names."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise errors.UsageError(f"{path}: {error.strerror}; a conversion is path.yaml or path.py") from error
    root, document = _parsed(path, text)
    lines = dict(_lines(root, (), path))
    source = decoding.Source(
        file=str(path), line=lambda where: _line(lines, where), function=lambda name: function(name, path.parent)
    )
    return decoding.decode(document, source)


def _parsed(path: Path, text: bytes) -> tuple[yaml.Node | None, Any]:
    try:
        root = yaml.compose(text, Loader=_Loader)
        return root, yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        hint = "; within {...} a path with [] stands in quotes" if "',' or '}'" in (error.problem or "") else ""
        raise errors.UsageError(f"{path}:{line}: no YAML: {error.problem or error.context}{hint}") from error
    except (yaml.YAMLError, UnicodeError, ValueError, RecursionError) as error:
        raise errors.UsageError(f"{path}: no YAML: {' '.join(str(error).split())[:200]}") from error


def _lines(node: yaml.Node | None, where: Where, path: Path) -> Iterator[tuple[Where, int]]:
    if node is None:
        return
    yield where, node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _lines(value, (*where, index), path)
    elif isinstance(node, yaml.MappingNode):
        seen: set[tuple[str, str]] = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            name = (key.tag, str(key.value))
            if name in seen:
                raise errors.DefinitionError(f"{path}:{line}: the key {key.value} is there twice")
            seen.add(name)
            yield from _lines(value, (*where, str(key.value)), path)
            yield (*where, str(key.value)), line


def _line(lines: dict[Where, int], where: Where) -> int:
    """The line of a place, or of the nearest one that holds it."""
    for depth in range(len(where), -1, -1):
        found = lines.get(tuple(str(step) if isinstance(step, str) else step for step in where[:depth]))
        if found:
            return found
    return 1
