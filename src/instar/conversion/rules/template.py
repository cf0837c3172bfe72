"""``template``: one text at one version, its parts as fields at the other: ``cpu={cpu},mem={mem}``.

Without a separator the text is all of the template, in its order. With one, the template's pieces may be missing, stand
in any order and have spaces around their words and signs: ``mem = 1Gi`` is ``mem=1Gi``, and that spelling is carried.
Values that would be read back as others are an error: a comma in a value would begin another piece.
"""

from __future__ import annotations

import dataclasses
import string
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from instar import errors
from instar.conversion.rules import model, reading, shapes, typed

__all__ = ["Template"]

LONGEST = 4096  # of a text: what a pattern of several parts may take on a longer one is not bounded well


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

    def _pieces(self, ground: model.Ground) -> list[reading.Piece]:
        """The placeholders in their order, each with what stands around it."""
        texts = self.text.split(self.separator) if self.separator else [self.text]
        found: list[reading.Piece] = []
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
    pieces: Sequence[reading.Piece], separator: str, text: model.End, parts: Sequence[model.End]
) -> tuple[model.Function, model.Function]:
    """From the text to the parts (in the order of their paths), and back."""
    shape = {part.name: shapes.of(part.node) for part in parts}
    into = [(part.name, shape[part.name] == "string", typed.to(shape[part.name], text.path)) for part in parts]
    as_text = [typed.to("string", part.path) for part in parts]
    order = [next(i for i, part in enumerate(parts) if part.name == name) for _, name, _ in pieces]
    read = reading.Pieces(pieces, separator, text.path) if separator else reading.Whole(pieces, text.path, shape)

    def split(value: Any) -> list[Any]:
        if type(value) is not str or len(value) > LONGEST:
            raise errors.Unconvertible(text.path, value, f"is no text of at most {LONGEST} characters")
        found = read.read(value).get
        return [said if (said := found(name)) is None or is_text else to(said) for name, is_text, to in into]

    def join(values: Sequence[Any]) -> str | None:
        said = [
            value if value is None or type(value) is str else to(value)
            for value, to in zip(values, as_text, strict=True)
        ]
        if not separator and None in said:
            return None
        there = [(piece, value) for piece, at in zip(pieces, order, strict=True) if (value := said[at]) is not None]
        joined = separator.join([before + value + behind for (before, _, behind), value in there])
        if not read.plain(there):
            _refuse_other(there, read.quiet(joined), joined)
        return joined

    def _refuse_other(there: Sequence[tuple[reading.Piece, str]], again: Mapping[str, str], joined: str) -> None:
        for (_, name, _), value in there:
            if again.get(name) != value:
                at = next(part.path for part in parts if part.name == name)
                raise errors.Unconvertible(at, value, f"cannot stand in {joined!r}: it would be read as another value")

    return split, join
