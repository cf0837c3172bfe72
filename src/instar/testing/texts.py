"""Texts that match a pattern, drawn from a given source of chance.

The pattern is walked as ``re`` parses it. What cannot be drawn (a look-ahead, a back reference, syntax that only Go's
RE2 knows) gives None, and the caller goes without.
"""

from __future__ import annotations

import functools
import importlib
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["matching"]

_parser: Any = importlib.import_module("re._parser")  # the one place that knows what a pattern means
_MOST = 4
"""Repetitions beyond the fewest that a pattern asks for."""
_LETTERS = "abcxyzABC0129-_. /é"
_CATEGORIES = {"CATEGORY_DIGIT": "0189", "CATEGORY_WORD": "aZ0_", "CATEGORY_SPACE": " \t"}
_OTHERS = {"CATEGORY_NOT_DIGIT": "a- ", "CATEGORY_NOT_WORD": "-. ", "CATEGORY_NOT_SPACE": "a0-"}
_IS: Mapping[str, Callable[[str], bool]] = {
    "DIGIT": str.isdigit,
    "SPACE": str.isspace,
    "WORD": lambda letter: letter.isalnum() or letter == "_",
}
Drawn = Callable[[Any, random.Random], str]


class _Undrawable(Exception):
    """The pattern holds something that is not drawn."""


def matching(pattern: str, chance: random.Random) -> str | None:
    """A text that the pattern finds; None where none was found."""
    parsed, compiled = _parsed(pattern)
    if compiled is None:
        return None
    for _ in range(8):
        try:
            text = _sequence(parsed, chance)
        except _Undrawable:
            return None
        if compiled.search(text):
            return text
    return None


@functools.lru_cache(maxsize=256)
def _parsed(pattern: str) -> tuple[Any, re.Pattern[str] | None]:
    try:
        return _parser.parse(pattern), re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return None, None


def _sequence(parts: Sequence[tuple[Any, Any]], chance: random.Random) -> str:
    return "".join(_part(str(code), argument, chance) for code, argument in parts)


def _part(code: str, argument: Any, chance: random.Random) -> str:
    draw = _DRAWN.get(code)
    if draw is None:
        raise _Undrawable
    return draw(argument, chance)


def _repeat(argument: Any, chance: random.Random) -> str:
    low, high, inner = argument
    times = chance.randint(low, min(int(high), low + _MOST))
    return "".join(_sequence(inner, chance) for _ in range(times))


def _one_of(argument: Sequence[tuple[Any, Any]], chance: random.Random) -> str:
    if str(argument[0][0]) == "NEGATE":
        return _unlike(argument[1:], chance)
    code, inner = chance.choice(argument)
    if str(code) == "RANGE":
        return chr(chance.choice((inner[0], inner[1], chance.randint(*inner))))
    return _part(str(code), inner, chance)


def _unlike(argument: Sequence[tuple[Any, Any]], chance: random.Random) -> str:
    fitting = [letter for letter in _LETTERS if not any(_holds(str(code), inner, letter) for code, inner in argument)]
    if not fitting:
        raise _Undrawable
    return chance.choice(fitting)


def _holds(code: str, argument: Any, letter: str) -> bool:
    if code == "LITERAL":
        return bool(ord(letter) == argument)
    if code == "RANGE":
        return bool(argument[0] <= ord(letter) <= argument[1])
    name = str(argument).removeprefix("CATEGORY_")
    return _IS[name.removeprefix("NOT_")](letter) != name.startswith("NOT_")


def _category(argument: Any, chance: random.Random) -> str:
    letters = {**_CATEGORIES, **_OTHERS}.get(str(argument))
    if letters is None:
        raise _Undrawable
    return chance.choice(letters)


_DRAWN: Mapping[str, Drawn] = {
    "LITERAL": lambda argument, chance: chr(argument),
    "NOT_LITERAL": lambda argument, chance: chance.choice([letter for letter in _LETTERS if ord(letter) != argument]),
    "ANY": lambda argument, chance: chance.choice(_LETTERS),
    "AT": lambda argument, chance: "",
    "IN": _one_of,
    "CATEGORY": _category,
    "BRANCH": lambda argument, chance: _sequence(chance.choice(argument[1]), chance),
    "SUBPATTERN": lambda argument, chance: _sequence(argument[-1], chance),
    "MAX_REPEAT": _repeat,
    "MIN_REPEAT": _repeat,
    "POSSESSIVE_REPEAT": _repeat,
    "ATOMIC_GROUP": _sequence,
}
