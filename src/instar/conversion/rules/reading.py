"""The parts of a text by a template: read out of it, and whether what was joined would be read back the same.

A template is pieces: what stands before a placeholder, its name, and what stands behind. ``Whole`` is a text that is
all of them in order, ``Pieces`` one of those that are there, between separators.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from instar import errors

__all__ = ["Piece", "Pieces", "Whole"]

Piece = tuple[str, str, str]
"""What stands before a placeholder, its name, and what stands behind it."""
_SIGN = re.compile(r"(\W)")
_SIMPLE = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-"


def _simple(literals: Sequence[str]) -> Callable[[str], Any]:
    """Whether a value has no sign that stands between the parts of a text."""
    allowed = "".join(sign for sign in _SIMPLE if sign.isalnum() or sign not in "".join(literals))
    return re.compile(f"[{re.escape(allowed)}]+").fullmatch


def _value(shape: str) -> str:
    return r"-?[0-9]+" if shape == "integer" else ".+?"


class Whole:
    """A text that is all of the template."""

    def __init__(self, pieces: Sequence[Piece], where: str, shape: Mapping[str, str]) -> None:
        body = "".join(f"{re.escape(b)}(?P<{n}>{_value(shape[n])}){re.escape(a)}" for b, n, a in pieces)
        self._pattern = re.compile(body, re.DOTALL)
        self._where = where
        behind = [
            behind + after for (_, _, behind), (after, _, _) in zip(pieces, [*pieces[1:], ("", "", "")], strict=True)
        ]
        self._signed = all(_SIGN.match(text) for text in behind[:-1]) and (
            not behind[-1] or bool(_SIGN.match(behind[-1]))
        )
        self._simple = _simple([before + behind for before, _, behind in pieces])
        self._shown = "".join(f"{before}{{{name}}}{behind}" for before, name, behind in pieces)

    def read(self, text: str) -> Mapping[str, str]:
        """The value of each placeholder. Raises Unconvertible."""
        found = self.quiet(text)
        if not found:
            raise errors.Unconvertible(self._where, text, f"is not of the form {self._shown}")
        return found

    def plain(self, there: Sequence[tuple[Piece, str]]) -> bool:
        """Whether each value ends where what stands behind it begins, so that the text surely reads back."""
        return self._signed and all(self._simple(value) for _, value in there)

    def quiet(self, text: str) -> Mapping[str, str]:
        """The same, empty where the text does not fit."""
        match = self._pattern.fullmatch(text)
        return match.groupdict() if match else {}


class Pieces:
    """A text of pieces between separators."""

    def __init__(self, pieces: Sequence[Piece], separator: str, where: str) -> None:
        self._patterns = [
            (name, re.compile(rf"{_spaced(before)}(.*?){_spaced(behind)}", re.DOTALL))
            for before, name, behind in pieces
        ]
        starts = [before.strip() for before, _, _ in pieces]
        apart = not any(a.startswith(b) for i, a in enumerate(starts) for j, b in enumerate(starts) if i != j)
        self._apart = apart and all(map(_SIGN.match, separator))
        self._simple = _simple([separator, *(before + behind for before, _, behind in pieces)])
        self._sign, self._by_word = _words(pieces) if self._apart else ("", {})
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

    def plain(self, there: Sequence[tuple[Piece, str]]) -> bool:
        """Whether surely no value is taken for a separator or for another piece."""
        return self._apart and all(self._simple(value) for _, value in there)

    def quiet(self, text: str) -> Mapping[str, str]:
        """The same of a text that may be wrong: empty then."""
        found = self._found(text)
        names = {name: value for name, value, _ in found if name and value}
        return names if len(names) == len(found) else {}

    def _found(self, text: str) -> list[tuple[str | None, str, str]]:
        """Each piece: its placeholder, its value, and itself."""
        if not text.strip():
            return []
        found: list[tuple[str | None, str, str]] = []
        for piece in text.split(self._separator):
            word, sign, value = piece.partition(self._sign) if self._sign else ("", "", "")
            name = self._by_word.get(word.strip()) if sign else None
            found.append((name, value.strip(), piece) if name else self._slowly(piece.strip()))
        return found

    def _slowly(self, piece: str) -> tuple[str | None, str, str]:
        for name, pattern in self._patterns:
            match = pattern.fullmatch(piece)
            if match:
                return name, match[1], piece
        return None, "", piece


def _words(pieces: Sequence[Piece]) -> tuple[str, dict[str, str]]:
    """The sign behind the word of every piece, as in ``cpu={cpu}``, and the placeholders by word; else nothing."""
    signs = {before[-1:] for before, _, _ in pieces}
    (sign,) = signs if len(signs) == 1 else ("",)
    words = {before[:-1].strip(): name for before, name, behind in pieces if not behind}
    regular = sign and _SIGN.match(sign) and len(words) == len(pieces)
    return (sign, words) if regular and all(word.isalnum() for word in words) else ("", {})


def _spaced(literal: str) -> str:
    """A pattern for the literal with spaces around its signs."""
    parts = (part.strip() for part in _SIGN.split(literal))
    return r"\s*".join(["", *(re.escape(part) for part in parts if part), ""]) if literal.strip() else r"\s*"
