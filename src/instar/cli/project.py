"""The project file, ``instar.yaml``: which conversions there are, and what each is judged by.

Its members are listed in project_members.py. Paths are relative to the file. What is wrong is said with its line.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import yaml

import instar.conversion as conversion_module
from instar import errors, loading
from instar.cli import load, project_members
from instar.conversion import relabelling
from instar.model import crd as crd_model
from instar.schema import identical
from instar.testing import allowing, files, gathering, intent, snapshot

__all__ = ["FILE", "Entry", "find", "of_flags", "read"]

FILE = "instar.yaml"
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

    def converter(self) -> conversion_module.Bound:
        """To convert with. Raises UsageError where the strategy None would lose what the schemas do not share."""
        found = identical.differences(self.bound.crd) if self.relabelled else ()
        if found:
            text = f"there is no conversion for {self.bound.crd.name}, and its schemas differ: {found[0].message}"
            raise errors.UsageError(f"{text}; `instar prove` shows all")
        return self.bound


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
        project_members.check(document, project_members.PROJECT, self._complain)
        for index, entry in enumerate(document["conversions"]):
            where: Where = ("conversions", index)
            yield self._entry(entry, where) if "conversion" in entry else self._without_conversion(entry, where)

    def _entry(self, entry: Any, where: Where) -> Entry:
        conversion, bound = self._bound(entry)
        carried = self.file.parent / entry["carried"] if "carried" in entry else None
        corpus = entry.get("corpus", [])
        paths = [self.file.parent / path for path in (corpus if isinstance(corpus, list) else [corpus])]
        golden = files.goldens(self.file.parent / entry["golden"], conversion) if "golden" in entry else ()
        return Entry(
            name=entry["conversion"],
            bound=bound,
            real=files.corpus(paths, conversion),
            golden=golden,
            carried_file=carried,
            carried=files.read_snapshot(carried) if carried else None,
            allowances=tuple(self._allowances(entry, where, conversion)),
            equivalent={found["mutant"]: found["reason"] for found in entry.get("equivalent") or ()},
            file=str(self.file),
        )

    def _without_conversion(self, entry: Any, where: Where) -> Entry:
        manifest = entry["crd"]
        crds = load.crds(str(self.file.parent / manifest))
        if len(crds) > 1:
            self._complain((*where, "crd"), f"{manifest} has {len(crds)} CRDs; write each to a file of its own")
        try:
            return Entry(name=manifest, bound=_relabelled(crds[0]), relabelled=True, file=str(self.file))
        except errors.UsageError as error:
            self._complain(where, error.message)

    def _bound(self, entry: Any) -> tuple[conversion_module.Conversion, conversion_module.Bound]:
        spec = entry["conversion"]
        is_file = spec.partition(":")[0].endswith((".py", ".yaml", ".yml"))
        found = loading.conversion(self.file.parent / spec if is_file else spec)
        bounds = load.bounds([found], load.crds(str(self.file.parent / entry["crd"])))
        return found, bounds[found.group, found.kind]

    def _allowances(self, entry: Any, where: Where, of: conversion_module.Conversion) -> Iterator[allowing.Allowance]:
        for name in ("losses", "waivers"):
            for index, found in enumerate(entry.get(name) or ()):
                for end in ("from", "to"):
                    if found.get(end, of.hub) not in of.versions:
                        known = ", ".join(of.versions)
                        place = (*where, name, index, end)
                        self._complain(place, f"{end}: {found[end]!r} is none of the versions ({known})")
                yield allowing.Allowance(
                    laws=(found["law"],) if "law" in found else allowing.LOSSES,
                    source=found.get("from", ""),
                    target=found.get("to", ""),
                    path=found["path"],
                    reason=found["reason"],
                    expires=found["expires"],
                )

    def _complain(self, where: Where, problem: str) -> NoReturn:
        line = next(self.lines[where[:size]] for size in range(len(where), -1, -1) if where[:size] in self.lines)
        raise errors.UsageError(f"{self.file}:{line}: {problem}")
