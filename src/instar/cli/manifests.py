"""Objects in files as ``-f`` names them: several documents, Lists, folders, ``-`` for standard input."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from instar import errors
from instar.testing import files

__all__ = ["Form", "each", "is_list", "objects", "read", "render", "stripped"]

Form = Literal["yaml", "json"]
Document = dict[str, Any]
CARRIED = re.compile(r"carried\.[^/]+/[a-z][-a-z0-9]*\.([0-9a-f]{16}|view)")


def read(names: Iterable[str]) -> list[Any]:
    """Every document. Raises UsageError with file and line."""
    found: list[Any] = []
    for name in names:
        if name == "-":
            found += files.documents(sys.stdin.buffer.read(), "standard input")
            continue
        path = Path(name)
        if not path.exists():
            raise errors.UsageError(f"{name}: no such file or folder")
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if path.is_file() or (file.suffix in files.SUFFIXES and file.is_file()):
                found += files.documents(file.read_bytes(), str(file))
    return found


def each(documents: Iterable[Any], change: Callable[[Document], Document]) -> list[Any]:
    """The documents with every object in them changed, those inside of Lists too."""
    return [_each(document, change) for document in documents]


def _each(document: Any, change: Callable[[Document], Document]) -> Any:
    if not isinstance(document, dict):
        return document
    if is_list(document):
        return {**document, "items": [_each(item, change) for item in document["items"]]}
    return change(document)


def is_list(document: Mapping[str, Any]) -> bool:
    """Whether it is a List of objects, of any kind."""
    return str(document.get("kind", "")).endswith("List") and isinstance(document.get("items"), list)


def objects(documents: Iterable[Any]) -> Iterator[Document]:
    """Every object, those inside of Lists too."""
    for document in documents:
        if isinstance(document, dict) and is_list(document):
            yield from objects(document["items"])
        elif isinstance(document, dict):
            yield document


def stripped(document: Document) -> Document:
    """The object without what was carried on it, by any operator."""
    metadata = document.get("metadata")
    notes = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not isinstance(metadata, dict) or not isinstance(notes, dict):
        return document
    kept = {key: text for key, text in notes.items() if not CARRIED.fullmatch(key)}
    if len(kept) == len(notes):
        return document
    without = {name: value for name, value in metadata.items() if name != "annotations"}
    return {**document, "metadata": {**without, **({"annotations": kept} if kept else {})}}


def render(form: Form, documents: Sequence[Any]) -> str:
    """Documents as one text; several objects in JSON are a List, as kubectl has it."""
    if form == "json":
        import orjson

        whole = documents[0] if len(documents) == 1 else {"apiVersion": "v1", "kind": "List", "items": documents}
        return orjson.dumps(whole, option=orjson.OPT_INDENT_2).decode()
    import yaml

    texts = (yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=10_000) for document in documents)
    return "---\n".join(texts).rstrip("\n")
