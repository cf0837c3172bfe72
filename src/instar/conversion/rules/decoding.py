"""A conversion written as data, as a file of rules holds it, becomes the same values that Python code makes.

::

    apiVersion: instar.dev/v1alpha1
    kind: Conversion
    group: acme.io
    for: Thing
    hub: v1
    spokes:
    - version: v1alpha1
      rules:
      - move: {spoke: /spec/a, hub: /spec/b}

Each rule is a mapping with one key, its kind. A member that nobody knows is refused, with the name that it may have
been meant to be. Everything that is wrong is said with the line it is on.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

import msgspec

from instar import errors
from instar.conversion import definition, rules
from instar.conversion.rules import model

__all__ = ["API_VERSION", "KIND", "Source", "decode", "members"]

API_VERSION, KIND = "instar.dev/v1alpha1", "Conversion"
HIDDEN = frozenset(("origin",))
Where = tuple[str | int, ...]
Made = TypeVar("Made")
_KINDS = {kind.kind: kind for kind in rules.KINDS}
_DECLARED: Mapping[str, type] = {
    "groups": definition.Group,
    "normalised": definition.Normalised,
    "sensitive": definition.Sensitive,
    "droppable": definition.Droppable,
}
_CAMEL = re.compile(r"_([a-z])")
_PLACE = re.compile(r" - at `(key in )?\$([^`]*)`$")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]|\[\.\.\.\]")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """Where a document comes from: its file, the line of each place in it, and how a named function is found."""

    file: str
    line: Callable[[Where], int]
    function: Callable[[str], Callable[[Any], Any]]

    def refuse(self, where: Where, text: str) -> NoReturn:
        """Raises DefinitionError with file and line."""
        raise errors.DefinitionError(f"{self.file}:{self.line(where)}: {text}")


def decode(document: Any, source: Source) -> definition.Conversion:
    """The conversion. Raises DefinitionError naming the file, the line and the member."""
    known = ["apiVersion", "kind", "group", "for", "hub", "domain", "spokes", *_DECLARED]
    _check(document, known, ("apiVersion", "kind", "group", "for", "hub", "spokes"), (), source)
    for name, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if document[name] != wanted:
            source.refuse((name,), f"{name} is {document[name]!r}, not {wanted}")
    texts = {name: _text(document, name, source) for name in ("group", "for", "hub", "domain") if name in document}
    try:
        return definition.Conversion(
            group=texts["group"],
            kind=texts["for"],
            hub=texts["hub"],
            domain=texts.get("domain", ""),
            spokes=tuple(_spokes(document, source)),
            **{name: tuple(_declared(document, name, of, source)) for name, of in _DECLARED.items()},
        )
    except errors.DefinitionError as error:
        if error.message.startswith(f"{source.file}:"):
            raise
        raise errors.DefinitionError(f"{source.file}: {error.message}") from error


def members(of: type) -> dict[str, dataclasses.Field[Any]]:
    """The members that a file may say, by the name that they have there: ``toHub``."""
    fields = (field for field in dataclasses.fields(of) if field.name not in HIDDEN)
    return {_CAMEL.sub(lambda match: match[1].upper(), field.name): field for field in fields}


def _spokes(document: Mapping[str, Any], source: Source) -> Iterator[definition.Spoke]:
    for index, spoke in enumerate(_list(document, "spokes", (), source)):
        where: Where = ("spokes", index)
        _check(spoke, ("version", "rules"), ("version", "rules"), where, source)
        found = tuple(_rules(_list(spoke, "rules", where, source), (*where, "rules"), source))
        yield definition.Spoke(version=spoke["version"], rules=found)


def _rules(found: Sequence[Any], where: Where, source: Source) -> Iterator[model.Rule]:
    for index, entry in enumerate(found):
        place: Where = (*where, index)
        if not isinstance(entry, dict) or len(entry) != 1:
            source.refuse(place, f"a rule is a mapping with one key, its kind: `- move: {{...}}`, not {entry!r:.80}")
        ((kind, body),) = entry.items()
        of = _KINDS.get(kind)
        if of is None:
            source.refuse(place, f"there is no rule of kind {kind!r}{_hint(str(kind), _KINDS)}; see docs/rules.md")
        yield _rule(of, body, (*place, kind), source)


def _rule(of: type[model.Rule], body: Any, where: Where, source: Source) -> model.Rule:
    inner: tuple[model.Rule, ...] = ()
    if isinstance(body, dict) and "rules" in body and "rules" in members(of):
        inner = tuple(_rules(_list(body, "rules", where, source), (*where, "rules"), source))
        body = {**body, "rules": []}
    made = _made(of, body, where, source)
    changes: dict[str, Any] = {"rules": inner} if inner else {}
    return dataclasses.replace(made, origin=f"{source.file}:{source.line(where)}", **changes)


def _declared(document: Mapping[str, Any], name: str, of: type[Made], source: Source) -> Iterator[Made]:
    if name in document:
        for index, entry in enumerate(_list(document, name, (), source)):
            yield _made(of, entry, (name, index), source)


def _made(of: type[Made], body: Any, where: Where, source: Source) -> Made:
    """A value of one of our dataclasses from a mapping."""
    known = members(of)
    missing = dataclasses.MISSING
    needed = [name for name, field in known.items() if field.default is missing and field.default_factory is missing]
    _check(body, known, needed, where, source)

    def hook(wanted: type, value: Any) -> Any:
        if collections.abc.Callable in (wanted, getattr(wanted, "__origin__", None)):
            return source.function(value)
        raise NotImplementedError(f"{wanted} is read by nothing here")

    try:
        return msgspec.convert({known[name].name: value for name, value in body.items()}, of, dec_hook=hook)
    except msgspec.ValidationError as error:
        place = _PLACE.search(str(error))
        steps = _steps(place[2]) if place else ()
        source.refuse((*where, *steps), f"{_said(where, steps)}: {_PLACE.sub('', str(error))}")
    except errors.UsageError as error:
        source.refuse(where, f"{_said(where, ())}: {error.message}")


def _steps(text: str) -> Where:
    """The members of msgspec's ``$.values[2].spoke``, by their names in the file."""
    names = (match.groups() for match in _STEP.finditer(text))
    return tuple(
        int(index) if index else _CAMEL.sub(lambda match: match[1].upper(), name)
        for name, index in names
        if name or index
    )


def _said(where: Where, steps: Where) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in (*where, *steps)).lstrip(".")


def _check(found: Any, known: Iterable[str], needed: Iterable[str], where: Where, source: Source) -> None:
    start = f"{_said(where, ())}: " if where else ""
    known = tuple(known)
    if not isinstance(found, dict):
        source.refuse(where, f"{start}must be a mapping of {', '.join(known)}, not {found!r:.80}")
    for name in found:
        if name not in known:
            hint = _hint(str(name), known)
            source.refuse((*where, name), f"{start}there is no member {name!r}{hint}; there are {', '.join(known)}")
    for name in needed:
        if name not in found:
            source.refuse(where, f"{start}{name} is missing")


def _hint(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _text(found: Mapping[str, Any], name: str, source: Source) -> str:
    if not isinstance(found[name], str):
        source.refuse((name,), f"{name} must be a text, not {found[name]!r:.80}")
    return str(found[name])


def _list(found: Mapping[str, Any], name: str, where: Where, source: Source) -> Sequence[Any]:
    value = found[name]
    if not isinstance(value, list):
        source.refuse((*where, name), f"{_said((*where, name), ())} must be a list, not {value!r:.80}")
    return value
