"""A conversion bound to its CRD: what ``prove`` proves is what ``serve`` serves.

Binding checks that every version which the CRD has, or which may still be stored, is one of the conversion's, and
compiles each version's schema once. Two spokes convert through the hub: what the hub cannot say of the source, and what
the target cannot say of the hub, are carried side by side.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from instar import errors
from instar.conversion import bare, carrying, categories, definition, entries, hop, named, patterns
from instar.conversion.rules import compiling, model
from instar.model import crd as crd_model
from instar.model import gojson
from instar.schema import settled, structural

__all__ = ["Bound", "bind"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """A conversion with the schemas of its versions. Made by ``bind``."""

    conversion: definition.Conversion
    crd: crd_model.Crd
    hops: Mapping[tuple[str, str], hop.Hop]

    @property
    def versions(self) -> tuple[str, ...]:
        """Every version that an object may be taken from and to."""
        return self.conversion.versions

    def convert(self, obj: Mapping[str, Any], to: str) -> dict[str, Any]:
        """The object at version ``to``, a new one that shares nothing with the argument.

        Raises ConversionError, in one line: the object, both versions, the field, what is wrong, the function.
        """
        return self.outcome(obj, to).object

    def outcome(self, obj: Mapping[str, Any], to: str) -> hop.Outcome:
        """The same with what was carried, restored and dropped on the way. Raises ConversionError."""
        return _outcome(self, obj, to, False)

    def take(self, obj: dict[str, Any], to: str) -> hop.Outcome:
        """The same for an object that is the caller's to give: it may be changed, which saves a copy of it."""
        return _outcome(self, obj, to, True)


def bind(conversion: definition.Conversion, crd: crd_model.Crd) -> Bound:
    """Checks a conversion against its CRD. Raises DefinitionError naming every version or path that does not fit."""
    problems = list(_problems(conversion, crd))
    if problems:
        raise errors.DefinitionError(f"conversion of {conversion.kind}.{conversion.group}: {'; '.join(problems)}")
    sides = {name: _side(conversion, crd, name) for name in conversion.versions}
    misplaced = list(_misplaced(conversion, sides))
    if misplaced:
        raise errors.DefinitionError(f"conversion of {conversion.kind}.{conversion.group}: {'; '.join(misplaced)}")
    hops = {}
    for spoke, functions in zip(conversion.spokes, _functions(conversion, sides), strict=True):
        names = named.parse((*spoke.metadata_paths, *spoke.hub_metadata_paths))
        hub, other = (_with_names(sides[version], names) for version in (conversion.hub, spoke.version))
        out = _direction(conversion, hub, other, functions.from_hub, names)
        back = _direction(conversion, other, hub, functions.to_hub, names)
        hops[conversion.hub, spoke.version] = _paired(conversion, hub, other, out, back, names)
        hops[spoke.version, conversion.hub] = _paired(conversion, other, hub, back, out, names)
    return Bound(conversion=conversion, crd=crd, hops=hops)


def _problems(conversion: definition.Conversion, crd: crd_model.Crd) -> Iterator[str]:
    if (conversion.group, conversion.kind) != (crd.group, crd.kind):
        yield f"the CRD {crd.name} is {crd.kind}.{crd.group}"
    has = {entry.name for entry in crd.versions}
    for entry in crd.versions:
        if entry.name not in conversion.versions:
            yield f"version {entry.name} of the CRD {crd.name} has no spoke"
    for name in crd.stored_versions:
        if name not in conversion.versions and name not in has:
            yield f"version {name} is in status.storedVersions of the CRD {crd.name} and has no spoke"
    for name in conversion.versions:
        if name not in has:
            yield f"version {name} is not in spec.versions of the CRD {crd.name}"


def _misplaced(conversion: definition.Conversion, sides: Mapping[str, hop.Side]) -> Iterator[str]:
    """Declared paths that the schema does not have."""
    declared = [(group.version, text) for group in conversion.groups for text in group.paths]
    for leaves in (conversion.normalised, conversion.sensitive, conversion.droppable):
        declared += [(leaf.version, leaf.path) for leaf in leaves]
    for version, text in declared:
        if not patterns.reaches(patterns.parse(text), sides[version].node):
            yield f"{text}: version {version} has no such field"
    for leaf in conversion.sensitive:
        if patterns.names_item(patterns.parse(leaf.path), sides[leaf.version].node):
            yield f"{leaf.path}: a key of a list cannot be sensitive, for every path of its item says it"


def _functions(conversion: definition.Conversion, sides: Mapping[str, hop.Side]) -> list[model.Functions]:
    """Each spoke's two functions, its rules made ready. Raises DefinitionError with all that is wrong with rules."""
    found: list[model.Functions] = []
    problems: list[str] = []
    for index, spoke in enumerate(conversion.spokes):
        if spoke.rules is None:
            found.append(model.Functions(spoke.to_hub, spoke.from_hub))
            continue
        at_spoke, at_hub = ((name, sides[name].node) for name in (spoke.version, conversion.hub))
        compiled = compiling.compile_rules(spoke.rules, at_spoke, at_hub, f"spokes[{index}].")
        found.append(compiled.functions)
        problems += compiled.problems
    if problems:
        listed = "".join(f"\n  {problem}" for problem in problems) if len(problems) > 1 else problems[0]
        raise errors.DefinitionError(f"conversion of {conversion.kind}.{conversion.group}: {listed}")
    return found


def _side(conversion: definition.Conversion, crd: crd_model.Crd, name: str) -> hop.Side:
    return hop.Side(
        version=name,
        api_version=crd_model.resource(crd, name).api_version,
        node=structural.compile_schema(crd_model.version(crd, name).schema),
        plan=categories.plan(conversion, name),
    )


def _direction(
    conversion: definition.Conversion,
    source: hop.Side,
    target: hop.Side,
    function: definition.Converter,
    names: named.Names,
) -> bare.Direction:
    return bare.Direction(
        kind=conversion.kind,
        source=source.api_version,
        target=target.api_version,
        function=function,
        node=target.node,
        names=names,
    )


def _with_names(side: hop.Side, names: named.Names) -> hop.Side:
    return dataclasses.replace(side, node=named.node(side.node, names)) if names else side


def _paired(
    conversion: definition.Conversion,
    source: hop.Side,
    target: hop.Side,
    forward: bare.Direction,
    reverse: bare.Direction,
    names: named.Names,
) -> hop.Hop:
    return hop.Hop(
        kind=conversion.kind,
        prefix=entries.prefix(conversion.domain),
        source=source,
        target=target,
        forward=forward,
        reverse=reverse,
        names=names,
    )


def _outcome(bound: Bound, obj: Mapping[str, Any], to: str, owned: bool) -> hop.Outcome:
    source, hub = _version(bound, obj, to), bound.conversion.hub
    if source == to:
        return _unchanged(obj)
    if hub in (source, to):
        return _hop(bound, obj, source, to, owned)
    first = _hop(bound, obj, source, hub, owned)
    return _joined(first, _hop(bound, first.object, hub, to, True))


def _hop(bound: Bound, obj: Mapping[str, Any], start: str, end: str, owned: bool) -> hop.Outcome:
    try:
        return carrying.convert(bound.hops[start, end], obj, owned=owned)
    except errors.ConversionError as error:
        raise errors.ConversionError(f"{_named(obj)} {start} -> {end}: {error.message}", path=error.path) from error


def _joined(first: hop.Outcome, second: hop.Outcome) -> hop.Outcome:
    return dataclasses.replace(
        second,
        carried=first.carried + second.carried,
        restored=first.restored + second.restored,
        dropped=first.dropped + second.dropped,
    )


def _version(bound: Bound, obj: Mapping[str, Any], to: str) -> str:
    """The version of the object, once it is known to be ours to convert."""
    conversion = bound.conversion
    api_version, kind = obj.get("apiVersion"), obj.get("kind")
    group, _, version = api_version.rpartition("/") if isinstance(api_version, str) else ("", "", "")
    if (group, kind) != (conversion.group, conversion.kind) or version not in conversion.versions:
        known = ", ".join(conversion.versions)
        raise errors.ConversionError(
            f"{_named(obj)}: {api_version!r} is no version of {conversion.kind}.{conversion.group} ({known})"
        )
    if to not in conversion.versions:
        known = ", ".join(conversion.versions)
        raise errors.ConversionError(f"{_named(obj)} {version} -> {to}: no such version; there are {known}")
    return version


def _named(obj: Mapping[str, Any]) -> str:
    """``Tenant default/acme`` as far as the object says."""
    metadata = obj.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = metadata.get("name") or (f"{metadata['generateName']}*" if metadata.get("generateName") else "<unnamed>")
    return (
        f"{obj.get('kind')} {metadata['namespace']}/{name}"
        if metadata.get("namespace")
        else f"{obj.get('kind')} {name}"
    )


def _unchanged(obj: Mapping[str, Any]) -> hop.Outcome:
    metadata, body = obj.get("metadata"), {name: value for name, value in obj.items() if name not in structural.META}
    return hop.Outcome(
        api_version=obj["apiVersion"],
        kind=obj["kind"],
        metadata=gojson.copy(metadata) if isinstance(metadata, dict) else {},
        body=settled.as_it_is(gojson.copy(body)),
    )
