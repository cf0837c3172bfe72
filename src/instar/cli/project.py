"""The project file, ``instar.yaml``: which conversions there are, and what each is judged by.

========================  ==========================================================================================
member of a conversion    what it names
========================  ==========================================================================================
conversion, crd           the conversion as ``--conversion`` takes it, and the manifest of its CRD; without a
                          conversion the strategy of the CRD is None, and its versions must have one schema
corpus                    folders or files with real objects
golden                    a folder of golden pairs
carried                   the snapshot of carried paths, written by ``instar prove --update``
losses, waivers           what may be lost, and what else is known, each with a reason and a day
equivalent                mutants of the converter that change nothing, each with the reason
========================  ==========================================================================================

Paths are relative to the file. What is wrong is said with its line.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

import instar.conversion as conversion_module
from instar import errors, loading
from instar.cli import load
from instar.conversion import relabelling
from instar.model import crd as crd_model
from instar.schema import identical
from instar.testing import allowing, files, gathering, intent, snapshot

__all__ = ["FILE", "Entry", "converting", "find", "of_flags", "read"]

FILE = "instar.yaml"
API_VERSION, KIND = "instar.dev/v1alpha1", "Project"
LAWS = tuple(f"L{number}" for number in range(1, 13))
Where = tuple[str | int, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One conversion of a project, with everything it names read.

    ``relabelled``: nothing but the apiVersion changes, as with the strategy None, which is right for one schema alone.
    """

    name: str
    bound: conversion_module.Bound
    relabelled: bool = False
    real: tuple[gathering.Source, ...] = ()
    golden: tuple[intent.Golden, ...] = ()
    carried_file: Path | None = None
    carried: frozenset[snapshot.Carried] | None = None
    allowances: tuple[allowing.Allowance, ...] = ()
    equivalent: Mapping[str, str] = dataclasses.field(default_factory=dict)
    file: str = ""


def read(path: str | Path) -> tuple[Entry, ...]:
    """Every conversion of a project file, or of the one in a folder. Raises UsageError with file and line."""
    file = Path(path) / FILE if Path(path).is_dir() else Path(path)
    try:
        text = file.read_bytes()
    except OSError as error:
        hint = "write one, or name a conversion with --conversion and --crd (see docs/prove.md)"
        raise errors.UsageError(f"{file}: {error.strerror}: {hint}") from error
    found = files.documents(text, str(file))
    if len(found) != 1:
        raise errors.UsageError(f"{file}: expected one document, and there are {len(found)}")
    reader = _Reader(file=file, lines=dict(_lines(yaml.compose(text, Loader=yaml.SafeLoader), ())))
    return tuple(reader.project(found[0]))


def find(
    path: str, conversions: Sequence[str], manifests: Sequence[str], corpus: Sequence[str] = ()
) -> tuple[Entry, ...]:
    """What the command line names, or else the project file."""
    if corpus and not conversions:
        raise errors.UsageError("--corpus goes with --conversion; a project file names its own")
    return of_flags(conversions, manifests, corpus) if conversions or manifests else read(path)


def converting(path: str, conversions: Sequence[str], manifests: Sequence[str]) -> tuple[Entry, ...]:
    """The same, to convert with. Raises UsageError where the strategy None would lose what the schemas do not share."""
    entries = find(path, conversions, manifests)
    for entry in entries:
        found = identical.differences(entry.bound.crd) if entry.relabelled else ()
        if found:
            text = f"there is no conversion for {entry.bound.crd.name}, and its schemas differ: {found[0].message}"
            raise errors.UsageError(f"{text}; `instar prove` shows all")
    return entries


def of_flags(conversions: Sequence[str], manifests: Sequence[str], corpus: Sequence[str] = ()) -> tuple[Entry, ...]:
    """The same for conversions, or CRDs without one, that are named on the command line."""
    crds = [(manifest, crd) for manifest in manifests for crd in load.crds(manifest)]
    if not conversions:
        several = [(manifest, crd) for manifest, crd in crds if len(crd.versions) > 1] or crds
        return tuple(Entry(name=manifest, bound=_relabelled(crd), relabelled=True) for manifest, crd in several)
    found = [loading.conversion(spec) for spec in conversions]
    bounds = load.bounds(found, [crd for _, crd in crds])
    return tuple(
        Entry(name=spec, bound=bounds[conversion.group, conversion.kind], real=files.corpus(corpus, conversion))
        for spec, conversion in zip(conversions, found, strict=True)
    )


def _relabelled(crd: crd_model.Crd) -> conversion_module.Bound:
    """The CRD with the strategy None. Raises UsageError where that cannot be meant."""
    if crd.strategy != "None":
        raise errors.UsageError(f"the CRD {crd.name} has the strategy {crd.strategy}: name its conversion")
    if len(crd.versions) < 2:
        raise errors.UsageError(f"the CRD {crd.name} has one version: there is nothing to convert")
    return conversion_module.bind(relabelling.relabelling(crd), crd)


def _lines(node: Any, where: Where) -> Iterator[tuple[Where, int]]:
    yield where, node.start_mark.line + 1 if node is not None else 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            for place, line in _lines(value, (*where, key.value)):
                yield place, key.start_mark.line + 1 if place == (*where, key.value) else line
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            yield from _lines(value, (*where, index))


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Reader:
    file: Path
    lines: Mapping[Where, int]

    def project(self, document: Any) -> Iterator[Entry]:
        self._members(document, (), {"apiVersion", "kind", "conversions"}, {"apiVersion", "kind", "conversions"})
        for name, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
            if document[name] != wanted:
                raise self._wrong((name,), f"{name} is {document[name]!r}, not {wanted}")
        for index, entry in enumerate(self._list(document, "conversions", ())):
            yield self._entry(entry, ("conversions", index))

    def _entry(self, entry: Any, where: Where) -> Entry:
        if isinstance(entry, dict) and "conversion" not in entry:
            return self._without_conversion(entry, where)
        known = {"conversion", "crd", "corpus", "golden", "carried", "losses", "waivers", "equivalent"}
        self._members(entry, where, known, {"conversion", "crd"})
        conversion, bound = self._bound(entry, where)
        carried = self._path(entry, "carried", where)
        golden = self._path(entry, "golden", where)
        return Entry(
            name=self._text(entry, "conversion", where),
            bound=bound,
            real=files.corpus(self._paths(entry, "corpus", where), conversion),
            golden=files.goldens(golden, conversion) if golden else (),
            carried_file=carried,
            carried=files.read_snapshot(carried) if carried else None,
            allowances=tuple(self._allowances(entry, where, conversion)),
            equivalent=dict(self._equivalent(entry, where)),
            file=str(self.file),
        )

    def _without_conversion(self, entry: Any, where: Where) -> Entry:
        self._members(entry, where, {"crd"}, {"crd"})
        manifest = self._text(entry, "crd", where)
        crds = load.crds(str(self.file.parent / manifest))
        if len(crds) > 1:
            raise self._wrong((*where, "crd"), f"{manifest} has {len(crds)} CRDs; write each to a file of its own")
        try:
            return Entry(name=manifest, bound=_relabelled(crds[0]), relabelled=True, file=str(self.file))
        except errors.UsageError as error:
            raise self._wrong(where, error.message) from error

    def _bound(self, entry: Any, where: Where) -> tuple[conversion_module.Conversion, conversion_module.Bound]:
        spec, manifest = self._text(entry, "conversion", where), self._text(entry, "crd", where)
        is_file = spec.partition(":")[0].endswith((".py", ".yaml", ".yml"))
        found = loading.conversion(str(self.file.parent / spec) if is_file else spec)
        bounds = load.bounds([found], load.crds(str(self.file.parent / manifest)))
        return found, bounds[found.group, found.kind]

    # --- declarations -------------------------------------------------------------------------------------------------

    def _allowances(self, entry: Any, where: Where, of: conversion_module.Conversion) -> Iterator[allowing.Allowance]:
        members = {"from", "to", "path", "reason", "expires"}
        for name, more in (("losses", set[str]()), ("waivers", {"law"})):
            for index, found in enumerate(self._list(entry, name, where, optional=True)):
                place = (*where, name, index)
                self._members(found, place, members | more, {"path", "reason", "expires"} | more)
                yield self._allowance(found, place, of)

    def _allowance(self, found: Any, where: Where, of: conversion_module.Conversion) -> allowing.Allowance:
        texts = {name: self._text(found, name, where) for name in found}
        for name in ("from", "to"):
            if texts.get(name, of.hub) not in of.versions:
                known = ", ".join(of.versions)
                raise self._wrong((*where, name), f"{name}: {texts[name]!r} is none of the versions ({known})")
        if texts.get("law", "L1") not in LAWS:
            raise self._wrong((*where, "law"), f"law: {texts['law']!r} is none of {', '.join(LAWS)}")
        return allowing.Allowance(
            laws=(texts["law"],) if "law" in texts else allowing.LOSSES,
            source=texts.get("from", ""),
            target=texts.get("to", ""),
            path=texts["path"],
            reason=texts["reason"],
            expires=texts["expires"],
        )

    def _equivalent(self, entry: Any, where: Where) -> Iterator[tuple[str, str]]:
        for index, found in enumerate(self._list(entry, "equivalent", where, optional=True)):
            place = (*where, "equivalent", index)
            self._members(found, place, {"mutant", "reason"}, {"mutant", "reason"})
            yield self._text(found, "mutant", place), self._text(found, "reason", place)

    # --- values -------------------------------------------------------------------------------------------------------

    def _wrong(self, where: Where, problem: str) -> errors.UsageError:
        line = next(self.lines[where[:size]] for size in range(len(where), -1, -1) if where[:size] in self.lines)
        return errors.UsageError(f"{self.file}:{line}: {problem}")

    def _members(self, found: Any, where: Where, known: set[str], needed: set[str]) -> None:
        if not isinstance(found, dict):
            raise self._wrong(where, f"expected {', '.join(sorted(needed))}, and it is {found!r:.60}")
        for name in found:
            if name not in known:
                raise self._wrong((*where, name), f"{name!r} is none of {', '.join(sorted(known))}")
        if missing := sorted(needed - set(found)):
            raise self._wrong(where, f"{', '.join(missing)} is missing")

    def _list(self, found: Any, name: str, where: Where, *, optional: bool = False) -> list[Any]:
        value = found.get(name)
        if value is None and optional:
            return []
        if not isinstance(value, list) or (not value and not optional):
            raise self._wrong((*where, name), f"{name}: expected a list, and it is {value!r:.60}")
        return value

    def _text(self, found: Any, name: str, where: Where) -> str:
        value = found[name]
        if not isinstance(value, str) or not value.strip():
            raise self._wrong((*where, name), f"{name}: expected text, and it is {value!r:.60}")
        return value

    def _path(self, found: Any, name: str, where: Where) -> Path | None:
        return self.file.parent / self._text(found, name, where) if name in found else None

    def _paths(self, found: Any, name: str, where: Where) -> list[Path]:
        value = found.get(name, [])
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or any(not isinstance(text, str) for text in texts):
            raise self._wrong((*where, name), f"{name}: expected a path or a list of them, and it is {value!r:.60}")
        return [self.file.parent / text for text in texts]
