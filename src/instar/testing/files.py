"""Objects, golden pairs and snapshots in YAML files, read as the API server would read them.

A date without quotes is text, as it is to Kubernetes; numbers are Go's. What is wrong is said with the file, and the
line where the parser knows one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

import instar.conversion as conversion_module
from instar import errors
from instar.model import crd as crd_model
from instar.model import gojson
from instar.testing import gathering, intent, snapshot

__all__ = ["corpus", "crd", "documents", "goldens", "read_snapshot", "write"]

SUFFIXES = (".yaml", ".yml", ".json")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML without its own idea of dates."""


_Loader.yaml_implicit_resolvers = {
    first: [entry for entry in entries if entry[0] != "tag:yaml.org,2002:timestamp"]
    for first, entries in _Loader.yaml_implicit_resolvers.items()
}


def documents(text: bytes | str, name: str) -> list[Any]:
    """Every document of a YAML or JSON text that is not empty. Raises UsageError with the line."""
    try:
        found = list(yaml.load_all(text, Loader=_Loader))
        return [gojson.normal(document) for document in found if document is not None]
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise errors.UsageError(f"{name}:{line}: no YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, UnicodeError, ValueError, RecursionError) as error:
        raise errors.UsageError(f"{name}: no YAML: {' '.join(str(error).split())[:300]}") from error
    except errors.JsonError as error:
        raise errors.UsageError(f"{name}: {error.message}") from error


def _read(path: Path) -> list[Any]:
    try:
        return documents(path.read_bytes(), str(path))
    except OSError as error:
        raise errors.UsageError(f"{path}: {error.strerror}") from error


def _files(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield from sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
    elif path.exists():
        yield path
    else:
        raise errors.UsageError(f"{path}: no such file or folder")


def crd(path: str | Path) -> crd_model.Crd:
    """The first CustomResourceDefinition of a manifest."""
    for document in _read(Path(path)):
        if isinstance(document, dict) and document.get("kind") == "CustomResourceDefinition":
            return crd_model.parse(document)
    raise errors.UsageError(f"{path}: no CustomResourceDefinition in it")


def corpus(paths: Iterable[str | Path], of: conversion_module.Conversion) -> tuple[gathering.Source, ...]:
    """Every object of the conversion's kind in these files and folders; other objects are passed over.

    Raises UsageError where an object has a version that the conversion does not know.
    """
    found = []
    for path in paths:
        for file in _files(Path(path)):
            for number, document in enumerate(_objects(_read(file)), 1):
                if _ours(document, of, f"{file} #{number}"):
                    found.append(gathering.Source(origin=f"corpus {file} #{number}", object=document))
    return tuple(found)


def _objects(found: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for document in found:
        if isinstance(document, dict) and isinstance(document.get("items"), list) and "spec" not in document:
            yield from _objects(document["items"])
        elif isinstance(document, dict):
            yield document


def _ours(document: Any, of: conversion_module.Conversion, name: str) -> bool:
    if not isinstance(document, dict) or document.get("kind") != of.kind:
        return False
    group, _, version = str(document.get("apiVersion")).rpartition("/")
    if group != of.group:
        return False
    if version not in of.versions:
        known = ", ".join(of.versions)
        raise errors.UsageError(f"{name}: version {version!r} is none of the conversion ({known})")
    return True


def goldens(path: str | Path, of: conversion_module.Conversion) -> tuple[intent.Golden, ...]:
    """The golden pairs of a folder, a file each. Raises UsageError where one is not two or three documents."""
    return tuple(_golden(file, of) for file in _files(Path(path)))


def _golden(file: Path, of: conversion_module.Conversion) -> intent.Golden:
    found = _read(file)
    if len(found) == 2 and isinstance(found[1], dict) and set(found[1]) == {"refused"}:
        return _refusal(file, of, *found)
    if len(found) == 3 and isinstance(found[1], dict) and set(found[1]) == {"edited"}:
        return _edit(file, of, *found)
    if not 2 <= len(found) <= 3:
        raise errors.UsageError(
            f"{file}: a golden pair is two documents, or three where the second does not convert back to the first; "
            f"there are {len(found)}"
        )
    for number, document in enumerate(found, 1):
        if not _ours(document, of, f"{file} #{number}"):
            raise errors.UsageError(f"{file} #{number}: not a {of.kind} of {of.group}")
    versions = [document["apiVersion"] for document in found]
    if versions[0] == versions[1] or (len(versions) == 3 and versions[2] != versions[0]):
        raise errors.UsageError(f"{file}: expected two versions, and the first again if there is a third document")
    return intent.Golden(origin=str(file), source=found[0], target=found[1], back=found[2] if len(found) > 2 else None)


def _refusal(file: Path, of: conversion_module.Conversion, source: Any, refused: Any) -> intent.Golden:
    words = refused["refused"]
    if not isinstance(words, dict) or words.get("version") not in of.versions or not _ours(source, of, f"{file} #1"):
        raise errors.UsageError(f"{file} #2: expected refused: {{version: ..., message: ...}} after a {of.kind}")
    return intent.Golden(
        origin=str(file), source=source, refused_at=words["version"], refused_with=str(words.get("message", ""))
    )


def _edit(file: Path, of: conversion_module.Conversion, source: Any, edited: Any, after: Any) -> intent.Golden:
    words = edited["edited"]
    right = isinstance(words, dict) and words.get("version") in of.versions and isinstance(words.get("merge"), dict)
    ours = all([_ours(source, of, f"{file} #1"), _ours(after, of, f"{file} #3")])
    versions = [document["apiVersion"] for document in (source, after)] if ours else []
    if not right or len(set(versions)) != 1 or versions[0] == f"{of.group}/{words['version']}":
        text = f"edited: {{version: ..., merge: {{...}}}}, of another version than the {of.kind}s before and after it"
        raise errors.UsageError(f"{file} #2: expected {text}")
    return intent.Golden(origin=str(file), source=source, back=after, edited_at=words["version"], edit=words["merge"])


def read_snapshot(path: str | Path) -> frozenset[snapshot.Carried] | None:
    """The carried places of a snapshot; None where there is no file yet."""
    if not Path(path).exists():
        return None
    found = _read(Path(path))
    try:
        return snapshot.parse(found[0] if found else None)
    except errors.UsageError as error:
        raise errors.UsageError(f"{path}: {error.message}; write it anew with `instar prove --update`") from error


def write(path: str | Path, document: dict[str, Any]) -> None:
    """A document as YAML."""
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    try:
        Path(path).write_text(text)
    except OSError as error:
        raise errors.UsageError(f"{path}: {error.strerror}") from error
