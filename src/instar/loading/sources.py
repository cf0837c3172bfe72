"""The source files that decide what an author's functions do, found from the modules that the functions are in.

A module's own imports are followed as far as they are the same author's: of the same package, or below the folder from
which the module is imported. Python's own modules, Instar's and those of other packages are not followed.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

__all__ = ["Sources", "stem"]

INSTALLED = frozenset(("site-packages", "dist-packages"))
Spec = importlib.machinery.ModuleSpec


class Sources:
    """Modules by name, and from them the bytes of all that they use."""

    def __init__(self) -> None:
        self._specs: dict[str, Spec] = {}

    def add(self, module: str) -> bool:
        """Takes a module in; whether its source is known, or is none of the author's."""
        if _others(module):
            return True
        spec = _spec(module)
        if spec is None or _source(spec) is None:
            return False
        self._specs[module] = spec
        return True

    def digests(self) -> list[tuple[str, str]]:
        """Each file's name and the digest of its bytes."""
        return sorted(self._digests())

    def _digests(self) -> Iterator[tuple[str, str]]:
        waiting, met = list(self._specs.values()), set(self._specs)
        while waiting:
            spec = waiting.pop()
            source = _source(spec) or b""
            yield stem(spec.name), hashlib.sha256(source).hexdigest()
            for name in _imported(spec, source):
                found = None if name in met or _others(name) else _spec(name)
                if found is not None and _near(spec, found) and _source(found) is not None:
                    met.add(name)
                    waiting.append(found)


def stem(module: str) -> str:
    """A module's name without its packages: that of its file, whatever it was imported as."""
    spec = _spec(module)
    return Path(spec.origin).stem if spec and spec.origin and not spec.parent else module.rpartition(".")[2]


def _others(module: str) -> bool:
    top = module.partition(".")[0]
    return top == "instar" or (top in sys.stdlib_module_names and top not in ("__main__", "builtins"))


def _spec(module: str) -> Spec | None:
    """Where a module comes from; nothing is imported for it."""
    above = module.rpartition(".")[0]
    try:
        return importlib.util.find_spec(module) if not above or above in sys.modules else None
    except (ImportError, ValueError, AttributeError):  # a script, or no module at all
        file = getattr(sys.modules.get(module), "__file__", None)
        return importlib.util.spec_from_file_location(module, file) if file else None


def _source(spec: Spec) -> bytes | None:
    try:
        found: bytes = spec.loader.get_data(spec.origin)  # type: ignore[union-attr]  # loaders of files have it
    except (AttributeError, OSError, TypeError):
        return None
    return found


def _imported(spec: Spec, source: bytes) -> Iterator[str]:
    """The names of all that a module may import, in functions too."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # compiled code
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            name = _whole("." * node.level + (node.module or ""), spec.parent or "")
            yield name
            yield from (f"{name}.{alias.name}" for alias in node.names)


def _whole(name: str, package: str) -> str:
    try:
        return importlib.util.resolve_name(name, package) if name.startswith(".") else name
    except ImportError:
        return ""


def _near(importer: Spec, found: Spec) -> bool:
    """Whether both are one author's."""
    if importer.name.partition(".")[0] == found.name.partition(".")[0]:
        return True
    depth = importer.name.count(".") + (importer.submodule_search_locations is not None)
    above, file = [*Path(importer.origin or "").parents], Path(found.origin or "")
    return depth < len(above) and above[depth] in file.parents and not INSTALLED & set(file.parts)
