"""A conversion as its author writes it: a hub, spokes, two functions for each spoke. A value that checks itself.

Every pair of versions goes spoke -> hub -> spoke, and the hub need not be the storage version. A converter is a
synchronous function from object to object (plain dicts). It owns its argument, returns an object of the other version
and reads nothing else: no clock, no network, no randomness. What the other version cannot say is not its business:
that is carried (carrying.py).

Patterns name leaves: a path with ``[]`` for any item and ``/*`` for any map key, ``/spec/containers[]/image``.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

from instar import errors
from instar.conversion import patterns
from instar.conversion.rules import model, touching

__all__ = ["Conversion", "Converter", "Droppable", "Group", "Normalised", "Sensitive", "Spoke"]

Converter = Callable[[dict[str, Any]], dict[str, Any]]

LONGEST_VERSION = 46  # the name of an annotation key holds 63: a version, a dot, 16 hex digits
_VERSION = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LONGEST_DOMAIN = 253 - len("carried.")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Spoke:
    """One version that is not the hub: its two functions, or the rules that say both directions."""

    version: str
    to_hub: Converter = None  # type: ignore[assignment]  # a missing one is a DefinitionError that says where
    from_hub: Converter = None  # type: ignore[assignment]
    rules: tuple[model.Rule, ...] | None = None

    def __post_init__(self) -> None:
        if self.rules is not None:
            object.__setattr__(self, "rules", tuple(self.rules))

    @property
    def metadata_paths(self) -> tuple[str, ...]:
        """The labels and annotations of this version that its rules name: ``/metadata/annotations/<key>``."""
        return touching.metadata_paths(self.rules or (), "spoke")

    @property
    def hub_metadata_paths(self) -> tuple[str, ...]:
        """The same of the hub's side."""
        return touching.metadata_paths(self.rules or (), "hub")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """Leaves of one version that stand or fall together, as the members of a union do.

    What was carried of them comes back only while none of them was edited.
    """

    version: str
    paths: tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Normalised:
    """A leaf whose spellings are the same value where ``by`` gives the same: another spelling is not carried."""

    version: str
    path: str
    by: Callable[[Any], Any]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Sensitive:
    """A leaf that is never written to an annotation.

    Where it does not survive, the conversion fails; with ``loss``, the reason why it may be lost, it is lost.
    """

    version: str
    path: str
    loss: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Droppable:
    """A leaf that may be given up when the annotations are full; the first declared goes first."""

    version: str
    path: str
    reason: str
    expires: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Conversion:
    """All versions of one kind around a hub. Raises DefinitionError naming the exact place.

    ``domain`` is the operator's, in the keys of what is carried (``carried.<domain>/...``); the API group if not given.
    """

    group: str
    kind: str
    hub: str
    spokes: tuple[Spoke, ...]
    domain: str = ""
    groups: tuple[Group, ...] = ()
    normalised: tuple[Normalised, ...] = ()
    sensitive: tuple[Sensitive, ...] = ()
    droppable: tuple[Droppable, ...] = ()

    def __post_init__(self) -> None:
        for name in ("spokes", "groups", "normalised", "sensitive", "droppable"):
            object.__setattr__(self, name, tuple(getattr(self, name) or ()))
        object.__setattr__(self, "domain", self.domain or self.group)
        found = next(_problems(self), None)
        if found:
            raise errors.DefinitionError(f"conversion of {self.kind or '?'}.{self.group or '?'}: {found}")

    @property
    def versions(self) -> tuple[str, ...]:
        """The hub, then the spokes."""
        return (self.hub, *(spoke.version for spoke in self.spokes))


def _problems(conversion: Conversion) -> Iterator[str]:
    if not conversion.kind:
        yield "kind: is empty"
    if not _DOMAIN.fullmatch(str(conversion.group)):
        yield f"group: {conversion.group!r} is no DNS name"
    if not _DOMAIN.fullmatch(str(conversion.domain)) or len(conversion.domain) > LONGEST_DOMAIN:
        yield f"domain: {conversion.domain!r} is no DNS name of at most {LONGEST_DOMAIN} characters"
    yield from _version_problems("hub", conversion.hub)
    if not conversion.spokes:
        yield "spokes: is empty; a conversion has at least one version beside its hub"
    yield from _spoke_problems(conversion)
    yield from _category_problems(conversion)


def _version_problems(where: str, version: str) -> Iterator[str]:
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        yield f"{where}: {version!r} is no name of a version; one looks like v1alpha1"
    elif len(version) > LONGEST_VERSION:
        text = f"{len(version)} characters, more than {LONGEST_VERSION}: a key of an annotation would not hold it"
        yield f"{where}: {version!r} has {text}"


def _spoke_problems(conversion: Conversion) -> Iterator[str]:
    seen: set[str] = set()
    for index, spoke in enumerate(conversion.spokes):
        where = f"spokes[{index}]"
        if not isinstance(spoke, Spoke):
            yield f"{where}: is a {type(spoke).__name__}, not a Spoke"
            return
        yield from _version_problems(f"{where}.version", spoke.version)
        if spoke.version == conversion.hub:
            yield f"{where}.version: {spoke.version} is the hub; the hub is no spoke"
        if spoke.version in seen:
            yield f"{where}.version: {spoke.version} is there twice"
        seen.add(spoke.version)
        yield from _function_problems(where, spoke)


def _function_problems(where: str, spoke: Spoke) -> Iterator[str]:
    given = [name for name in ("to_hub", "from_hub") if getattr(spoke, name) is not None]
    if spoke.rules is not None:
        if given:
            yield f"{where}.{given[0]}: a spoke has rules or functions; a rule of kind python holds a pair of functions"
        return
    for name in ("to_hub", "from_hub"):
        if inspect.iscoroutinefunction(getattr(spoke, name)):
            yield f"{where}.{name}: is async; a converter is a plain function"
        if not callable(getattr(spoke, name)):
            yield f"{where}.{name}: the direction of {spoke.version} is missing: {getattr(spoke, name)!r}"


def _category_problems(conversion: Conversion) -> Iterator[str]:
    for name in ("groups", "normalised", "sensitive", "droppable"):
        for index, entry in enumerate(getattr(conversion, name)):
            where = f"{name}[{index}]"
            if entry.version not in conversion.versions:
                known = ", ".join(conversion.versions)
                yield f"{where}.version: {entry.version!r} is no version of this conversion ({known})"
            for text in entry.paths if isinstance(entry, Group) else (entry.path,):
                problem = patterns.problem(text)
                if problem:
                    yield f"{where}: {problem}"
            yield from _entry_problems(where, entry)


def _entry_problems(where: str, entry: Any) -> Iterator[str]:
    if isinstance(entry, Group) and len(entry.paths) < 2:
        yield f"{where}.paths: a group has at least two members, not {len(entry.paths)}"
    if isinstance(entry, Normalised) and not callable(entry.by):
        yield f"{where}.by: {entry.by!r} is no function"
    if isinstance(entry, Droppable) and not (entry.reason and entry.expires):
        yield f"{where}: a droppable leaf needs a reason and a date at which that ends"
