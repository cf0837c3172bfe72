"""kubeconfig files on disk: which ones count, how several become one, and their fields read one by one.

``--kubeconfig`` names one file that must exist; else every file of ``$KUBECONFIG`` that exists, where the first file to
name a context, cluster or user wins the whole entry; else ``~/.kube/config``. Relative file names count from the folder
of the file that they stand in.
Source: https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from instar import errors

__all__ = ["Entry", "Merged", "find", "merge", "searched"]


def searched() -> str:
    if listed := os.environ.get("KUBECONFIG"):
        return f"KUBECONFIG={listed} names no file that exists"
    return f"KUBECONFIG is not set and {Path.home() / '.kube' / 'config'} does not exist"


def find(path: str | None) -> list[Path]:
    if path is not None:
        return [_named(Path(path))]
    listed = [entry for entry in os.environ.get("KUBECONFIG", "").split(os.pathsep) if entry]
    candidates = [Path(entry) for entry in listed] if listed else [Path.home() / ".kube" / "config"]
    return [candidate for candidate in dict.fromkeys(candidates) if candidate.is_file()]


def _named(file: Path) -> Path:
    """A pipe counts too: a shell's ``<(...)`` is one."""
    try:
        folder = stat.S_ISDIR(file.stat().st_mode)
    except OSError as error:
        why = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise errors.KubeconfigError(f"kubeconfig {file}: {why}; check --kubeconfig") from error
    if folder:
        raise errors.KubeconfigError(f"kubeconfig {file}: is a folder; name a file with --kubeconfig")
    return file


@dataclasses.dataclass(kw_only=True, slots=True)
class Merged:
    """Entries by name, each with the folder its relative file names count from."""

    current: str
    clusters: dict[str, tuple[dict[str, Any], Path]]
    users: dict[str, tuple[dict[str, Any], Path]]
    contexts: dict[str, tuple[dict[str, Any], Path]]


def merge(files: list[Path]) -> Merged:
    merged = Merged(current="", clusters={}, users={}, contexts={})
    for file in files:
        document = _read(file)
        merged.current = merged.current or str(document.get("current-context") or "")
        for key, into in (("cluster", merged.clusters), ("user", merged.users), ("context", merged.contexts)):
            for name, entry in _entries(document, key, file):
                into.setdefault(name, (entry, file.absolute().parent))
    return merged


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML as kubectl reads it: a date is a string."""


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for letter, resolvers in _Loader.yaml_implicit_resolvers.items()
}


def _read(file: Path) -> dict[str, Any]:
    try:
        document = yaml.load(file.read_bytes(), Loader=_Loader)
    except OSError as error:
        raise errors.KubeconfigError(f"kubeconfig {file}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise errors.KubeconfigError(f"kubeconfig {file}: not valid YAML: {_one_line(error)}") from error
    if document is None:
        return {}
    if not isinstance(document, dict) or document.get("kind", "Config") != "Config":
        raise errors.KubeconfigError(f"kubeconfig {file}: not a document of kind Config")
    return document


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def _entries(document: Mapping[str, Any], key: str, file: Path) -> list[tuple[str, dict[str, Any]]]:
    listed = document.get(f"{key}s") or []
    if not isinstance(listed, list):
        raise errors.KubeconfigError(f"kubeconfig {file}: {key}s must be a list")
    found = []
    for index, entry in enumerate(listed):
        if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
            raise errors.KubeconfigError(f"kubeconfig {file}: {key}s[{index}] must have a name")
        value = entry.get(key) or {}
        if not isinstance(value, dict):
            raise errors.KubeconfigError(f"kubeconfig {file}: {key}s[{index}].{key} must be a map")
        found.append((entry["name"], value))
    return found


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """A cluster or user, read field by field with errors that name the place."""

    entry: Mapping[str, Any]
    folder: Path
    where: str

    def text(self, key: str) -> str:
        value = self.entry.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise errors.KubeconfigError(f"{self.where}: {key} must be a string, not {value!r}; put it in quotes")
        return value

    def flag(self, key: str) -> bool:
        value = self.entry.get(key)
        if value is not None and not isinstance(value, bool):
            raise errors.KubeconfigError(f"{self.where}: {key} must be true or false, not {value!r}")
        return bool(value)

    def file(self, key: str) -> str:
        name = self.text(key)
        return str(self.folder / name) if name else ""

    def pem(self, key: str) -> bytes:
        """``<key>-data`` in base64, which wins, or the content of the file ``<key>``."""
        if data := self.text(f"{key}-data"):
            try:
                return base64.b64decode("".join(data.split()), validate=True)
            except (binascii.Error, ValueError) as error:
                raise errors.KubeconfigError(f"{self.where}: {key}-data is not base64: {error}") from error
        if not (name := self.file(key)):
            return b""
        try:
            return Path(name).read_bytes()
        except OSError as error:
            raise errors.KubeconfigError(f"{self.where}: {key} {name}: {error.strerror}") from error
