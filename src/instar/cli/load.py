"""Reads the CRDs of manifests that a person names on the command line, and ties conversions to them.

What is wrong is said with the file and the line, for its author reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

import instar.conversion as conversion_module
from instar import errors
from instar.model import crd as crd_model

__all__ = ["aliases", "bounds", "crds"]


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
