"""Finds a conversion by the name that people give it, in Python or in a file of rules.

``path.py`` (the name ``conversion`` in it), ``path.py:name``, ``package.module:name``, or ``path.yaml``, a file of
rules. What is wrong is said with the file and the line, for its author reads it.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.machinery
import importlib.util
import sys
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import instar.conversion as conversion_module
from instar import errors
from instar.loading import rulesfile

__all__ = ["conversion", "function"]

DEFAULT_NAME = "conversion"
RULES = (".yaml", ".yml")


def conversion(spec: str | Path) -> conversion_module.Conversion:
    """The Conversion that ``path.yaml``, ``path.py``, ``path.py:name`` or ``module:name`` names.

    Raises UsageError where there is none, and DefinitionError where it is wrong, with the file and the line.
    """
    spec = str(spec)
    if spec.endswith(RULES):
        return rulesfile.read(Path(spec), function)
    place, name = _parse(spec)
    module = _import_file(Path(place)) if place.endswith(".py") else _import_module(place, spec)
    found = getattr(module, name, None)
    if isinstance(found, conversion_module.Conversion):
        return found
    names = [key for key, value in vars(module).items() if isinstance(value, conversion_module.Conversion)]
    what = f"there is no {name} in it" if found is None else f"{name} is a {type(found).__name__}, not a Conversion"
    hint = (
        f"name one of {', '.join(f'{place}:{key}' for key in names)}"
        if names
        else "define conversion = Conversion(...)"
    )
    raise errors.UsageError(f"{place}: {what}; {hint}")


def function(spec: str, folder: Path) -> Callable[[Any], Any]:
    """The function that a file of rules names: ``module:name``, or ``file.py:name`` beside it. Raises UsageError."""
    place, _, name = str(spec).rpartition(":")
    if not place or not name.isidentifier():
        raise errors.UsageError(f"{spec!r} names no function; write module:name or file.py:name")
    module = _import_file(folder / place) if place.endswith(".py") else _import_module(place, spec)
    found = getattr(module, name, None)
    if not callable(found):
        raise errors.UsageError(f"{place} has no function {name}")
    called: Callable[[Any], Any] = found
    return called


def _parse(spec: str) -> tuple[str, str]:
    place, colon, name = spec.rpartition(":")
    if not colon or name.endswith(".py"):
        place, name = spec, DEFAULT_NAME
    if not name.isidentifier() or not place:
        raise errors.UsageError(f"conversion {spec!r}: expected path.yaml, path.py, path.py:name or module:name")
    return place, name


class _Fresh(importlib.machinery.SourceFileLoader):
    """Reads the file itself: bytecode beside it may be of another one of the same second and size."""

    def get_code(self, fullname: str) -> types.CodeType:
        code: types.CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


def _import_file(path: Path) -> types.ModuleType:
    if not path.is_file():
        raise errors.UsageError(
            f"{path}: no such file; a conversion is path.yaml, path.py, path.py:name or module:name"
        )
    resolved = path.resolve()
    name = f"instar_conversion_{resolved.stem}_{hashlib.sha256(str(resolved).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, resolved, loader=_Fresh(name, str(resolved)))
    if spec is None or spec.loader is None:
        raise errors.UsageError(f"{path}: cannot be imported as Python")
    module = importlib.util.module_from_spec(spec)
    if str(resolved.parent) not in sys.path:
        sys.path.insert(0, str(resolved.parent))
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        raise _not_imported(str(path), error, resolved) from error
    return module


def _import_module(name: str, spec: str) -> types.ModuleType:
    try:
        return importlib.import_module(name)
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError) and error.name and name.startswith(error.name):
            text = f"conversion {spec}: no module {error.name!r}; a file is named path.py"
            raise errors.UsageError(text) from error
        raise _not_imported(name, error, None) from error


def _not_imported(place: str, error: BaseException, file: Path | None) -> BaseException:
    """One line with the line in the author's file; the definition errors of ours keep their own words."""
    if isinstance(error, KeyboardInterrupt):
        return error
    line = _line(error, file)
    where = f"{place}:{line}" if line else place
    if isinstance(error, errors.DefinitionError):
        return errors.DefinitionError(f"{where}: {error.message}", reason=error.reason)
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return errors.UsageError(f"{where}: cannot be imported: {type(error).__name__}: {text}")


def _line(error: BaseException, file: Path | None) -> int | None:
    """The last line of the author's file on the way to the error."""
    if isinstance(error, SyntaxError) and (file is None or error.filename == str(file)):
        return error.lineno
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if file and frame.filename == str(file)]
    return frames[-1].lineno if frames else None
