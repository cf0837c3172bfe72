"""Reads what a person names on the command line: conversions in Python or YAML files, CRDs in manifests.

A conversion is named as ``path.py`` (the name ``conversion`` in it), ``path.py:name``, ``package.module:name``, or as
``path.yaml``, a file of rules. What is wrong is said with the file and the line, for its author reads it.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
import traceback
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

import instar.conversion as conversion_module
from instar import errors
from instar.cli import rulesfile
from instar.model import crd as crd_model

__all__ = ["aliases", "bounds", "conversion", "crds", "function"]

DEFAULT_NAME = "conversion"
RULES = (".yaml", ".yml")


def conversion(spec: str) -> conversion_module.Conversion:
    """The Conversion that ``path.yaml``, ``path.py``, ``path.py:name`` or ``module:name`` names. Raises UsageError."""
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
        raise errors.UsageError(f"--conversion {spec}: expected path.yaml, path.py, path.py:name or module:name")
    return place, name


def _import_file(path: Path) -> types.ModuleType:
    if not path.is_file():
        raise errors.UsageError(
            f"{path}: no such file; --conversion takes path.yaml, path.py, path.py:name or module:name"
        )
    resolved = path.resolve()
    name = f"instar_conversion_{resolved.stem}_{hashlib.sha256(str(resolved).encode()).hexdigest()[:8]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, resolved)
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
            text = f"--conversion {spec}: no module {error.name!r}; a file is named path.py"
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


def crds(path: str) -> tuple[crd_model.Crd, ...]:
    """Every CustomResourceDefinition of a YAML or JSON manifest; other documents in it are passed over."""
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise errors.UsageError(f"{path}: {error.strerror}; --crd takes a CRD manifest") from error
    found = tuple(_parse_crd(path, document) for document in _crd_documents(_documents(path, text)))
    if not found:
        raise errors.UsageError(f"{path}: no CustomResourceDefinition in it")
    return found


def _documents(path: str, text: bytes) -> list[Any]:
    try:
        return list(yaml.load_all(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise errors.UsageError(f"{path}:{line}: no YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, UnicodeError, ValueError) as error:
        raise errors.UsageError(f"{path}: no YAML: {' '.join(str(error).split())}") from error


def _crd_documents(documents: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    for document in documents:
        if not isinstance(document, dict):
            continue
        if str(document.get("kind", "")).endswith("List") and isinstance(document.get("items"), list):
            yield from _crd_documents(document["items"])
        elif document.get("kind") == "CustomResourceDefinition":
            yield document


def _parse_crd(path: str, document: Mapping[str, Any]) -> crd_model.Crd:
    try:
        return crd_model.parse(document)
    except errors.UsageError as error:
        raise errors.UsageError(f"{path}: {error.message}", reason=error.reason) from error


def bounds(
    conversions: Sequence[conversion_module.Conversion], found: Sequence[crd_model.Crd]
) -> dict[tuple[str, str], conversion_module.Bound]:
    """Each conversion bound to its CRD, by (group, kind). Raises DefinitionError where one has none, or two."""
    by_kind: dict[tuple[str, str], crd_model.Crd] = {}
    for crd in found:
        if by_kind.setdefault((crd.group, crd.kind), crd) is not crd:
            raise errors.DefinitionError(f"{crd.kind}.{crd.group} has two CRDs; give one of them with --crd")
    bound: dict[tuple[str, str], conversion_module.Bound] = {}
    for item in conversions:
        key = (item.group, item.kind)
        if key in bound:
            raise errors.DefinitionError(f"{item.kind}.{item.group} has two conversions; give one with --conversion")
        if key not in by_kind:
            known = ", ".join(f"{kind}.{group}" for group, kind in sorted(by_kind)) or "none"
            text = f"{item.kind}.{item.group} has no CRD: give its manifest with --crd (given: {known})"
            raise errors.DefinitionError(text)
        bound[key] = conversion_module.bind(item, by_kind[key])
    return bound


def aliases(found: Sequence[crd_model.Crd]) -> dict[str, tuple[str, str]]:
    """The paths below /convert: each CRD's plural and its whole name."""
    return {name: (crd.group, crd.kind) for crd in found for name in (crd.plural, crd.name)}
