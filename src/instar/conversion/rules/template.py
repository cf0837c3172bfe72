"""``template``: one text at one version, its parts as fields at the other: ``cpu={cpu},mem={mem}``.

Without a separator the text is all of the template, in its order. With one, the template's pieces may be missing, stand
in any order and have spaces around their words and signs: ``mem = 1Gi`` is ``mem=1Gi``, and that spelling is carried.
Values that would be read back as others are an error: a comma in a value would begin another piece.
"""

from __future__ import annotations

import dataclasses
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from instar import errors
from instar.conversion.rules import model, shapes, typed

__all__ = ["Template"]

LONGEST = 4096  # of a text: what a pattern of several parts may take on a longer one is not bounded well
_SIGN = re.compile(r"(\W)")
Piece = tuple[str, str, str]
"""What stands before a placeholder, its name, and what stands behind it."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Template(model.Rule):
    """One side is the path of the text, the other a path for each ``{placeholder}``."""

    kind: ClassVar[str] = "template"
    many: ClassVar[bool] = True
    spoke: str | Mapping[str, str]
    hub: str | Mapping[str, str]
    text: str
    separator: str = ""

    def pair(self, ground: model.Ground) -> model.Functions | None:
        """Split, and join."""
        side = self._text_side()
        pieces = self._pieces(ground)
        if side is None:
            ground.complain("one side is the path of the text, the other a path for each placeholder")
        if side is None or not pieces:
            return None
        (text,), parts = getattr(ground, side), getattr(ground, model.other(side))
        if not self._fits(ground, text, parts, [name for _, name, _ in pieces]):
            return None
        split, join = _functions(pieces, self.separator, text, parts)
        return model.Functions(split, join) if side == "spoke" else model.Functions(join, split)

    def _text_side(self) -> model.Side | None:
        if isinstance(self.spoke, str) == isinstance(self.hub, str):
            return None
        return "spoke" if isinstance(self.spoke, str) else "hub"

    def _pieces(self, ground: model.Ground) -> list[Piece]:
        """The placeholders in their order, each with what stands around it."""
        texts = self.text.split(self.separator) if self.separator else [self.text]
        found: list[Piece] = []
        for text in texts:
            try:
                literals, names = _parsed(text)
            except ValueError as error:
                ground.complain(f"text: {self.text!r}: {error}")
                return []
            if self.separator and len(names) != 1:
                ground.complain(f"text: {text!r} must have one placeholder, for it stands between separators")
                return []
            ends = ["" for _ in names[:-1]] + literals[-1:]
            found += zip(literals, names, ends, strict=False)
        if not found:
            ground.complain(f"text: {self.text!r} has no placeholder; one looks like {{cpu}}")
        return found

    def _fits(self, ground: model.Ground, text: model.End, parts: Sequence[model.End], names: Sequence[str]) -> bool:
        fine = not shapes.wrong(ground, text, ("string",))
        paths = [part.name for part in parts]
        for name in names:
            if names.count(name) > 1 or name not in paths:
                ground.complain(
                    f"text: the placeholder {{{name}}} {'is there twice' if name in paths else 'has no path'}"
                )
                fine = False
        for part in parts:
            if part.name not in names:
                ground.complain(f"{part.path}: the text has no placeholder {{{part.name}}}")
                fine = False
            fine = not shapes.wrong(ground, part, shapes.SCALARS) and fine
        return fine


def _parsed(text: str) -> tuple[list[str], list[str]]:
    """The literals around the placeholders, one more than these, and their names."""
    literals, names = [""], []
    for literal, name, spec, conversion in string.Formatter().parse(text):
        literals[-1] += literal
        if name is not None:
            if not name.isidentifier() or spec or conversion:
                raise ValueError(f"{name!r} is no name of a placeholder")
            names.append(name)
            literals.append("")
    return literals, names


def _functions(
    pieces: Sequence[Piece], separator: str, text: model.End, parts: Sequence[model.End]
) -> tuple[model.Function, model.Function]:
    """From the text to the parts (in the order of their paths), and back."""
    shape = {part.name: shapes.of(part.node) for part in parts}
    into = [typed.to(shape[part.name], text.path) for part in parts]
    as_text = [typed.to("string", part.path) for part in parts]
    order = [next(i for i, part in enumerate(parts) if part.name == name) for _, name, _ in pieces]
    read = _Pieces(pieces, separator, text.path, shape) if separator else _Whole(pieces, text.path, shape)

    def split(value: Any) -> list[Any]:
        if type(value) is not str or len(value) > LONGEST:
            raise errors.Unconvertible(text.path, value, f"is no text of at most {LONGEST} characters")
        found = read.read(value)
        return [None if part.name not in found else to(found[part.name]) for part, to in zip(parts, into, strict=True)]

    def join(values: Sequence[Any]) -> str | None:
        said = [None if value is None else to(value) for value, to in zip(values, as_text, strict=True)]
        if not separator and None in said:
            return None
        there = [(piece, said[at]) for piece, at in zip(pieces, order, strict=True) if said[at] is not None]
        joined = separator.join(f"{before}{value}{behind}" for (before, _, behind), value in there)
        for (_, name, _), value in there:
            if read.quiet(joined).get(name) != value:
                at = next(part.path for part in parts if part.name == name)
                raise errors.Unconvertible(at, value, f"cannot stand in {joined!r}: it would be read as another value")
        return joined

    return split, join


def _value(shape: str) -> str:
    return r"-?[0-9]+" if shape == "integer" else ".+?"


class _Whole:
    """A text that is all of the template."""

    def __init__(self, pieces: Sequence[Piece], where: str, shape: Mapping[str, str]) -> None:
        body = "".join(f"{re.escape(b)}(?P<{n}>{_value(shape[n])}){re.escape(a)}" for b, n, a in pieces)
        self._pattern = re.compile(body, re.DOTALL)
        self._where = where
        self._shown = "".join(f"{before}{{{name}}}{behind}" for before, name, behind in pieces)

    def read(self, text: str) -> Mapping[str, str]:
        """The value of each placeholder. Raises Unconvertible."""
        found = self.quiet(text)
        if not found:
            raise errors.Unconvertible(self._where, text, f"is not of the form {self._shown}")
        return found

    def quiet(self, text: str) -> Mapping[str, str]:
        """The same, empty where the text does not fit."""
        match = self._pattern.fullmatch(text)
        return match.groupdict() if match else {}


class _Pieces:
    """A text of pieces between separators."""

    def __init__(self, pieces: Sequence[Piece], separator: str, where: str, shape: Mapping[str, str]) -> None:
        self._patterns = [
            (name, re.compile(rf"{_spaced(before)}(.*?){_spaced(behind)}", re.DOTALL))
            for before, name, behind in pieces
        ]
        self._separator = separator
        self._where = where
        self._shown = ", ".join(f"{before}...{behind}" for before, _, behind in pieces)

    def read(self, text: str) -> Mapping[str, str]:
        """The value of each placeholder that is there. Raises Unconvertible."""
        found: dict[str, str] = {}
        for name, value, piece in self._found(text):
            if name is None:
                raise errors.Unconvertible(self._where, text, f"{piece!r} is none of {self._shown}")
            if name in found:
                raise errors.Unconvertible(self._where, text, f"{name} is there twice")
            if not value:
                raise errors.Unconvertible(self._where, text, f"{name} is empty")
            found[name] = value
        return found

    def quiet(self, text: str) -> Mapping[str, str]:
        """The same of a text that may be wrong: empty then."""
        found = list(self._found(text))
        names = {name: value for name, value, _ in found if name and value}
        return names if len(names) == len(found) else {}

    def _found(self, text: str) -> Iterator[tuple[str | None, str, str]]:
        if not text.strip():
            return
        for piece in (part.strip() for part in text.split(self._separator)):
            for name, pattern in self._patterns:
                match = pattern.fullmatch(piece)
                if match:
                    yield name, match[1], piece
                    break
            else:
                yield None, "", piece


def _spaced(literal: str) -> str:
    """A pattern for the literal with spaces around its signs."""
    parts = (part.strip() for part in _SIGN.split(literal))
    return r"\s*".join(["", *(re.escape(part) for part in parts if part), ""]) if literal.strip() else r"\s*"
