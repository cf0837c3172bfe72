"""Mutants of rules: a rule left out, a constant changed, an entry of a table left out, two paths swapped.

Rules are plain data, so a mutant is the same conversion with other data. Most are refused when they are bound, for a
path that no schema has, or a leaf that nobody writes any more.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from instar.conversion import definition
from instar.conversion.rules import model, touching

__all__ = ["Change", "changes"]

Change = tuple[str, str, tuple[model.Rule, ...]]
"""What is changed in words, where the rule was written, and the changed rules."""
_SIDES = ("spoke", "hub")


def changes(spoke: definition.Spoke) -> Iterator[Change]:
    """Every mutant of the rules of one spoke."""
    rules = spoke.rules or ()
    for index in range(len(rules)):
        where = f"{spoke.version}: rules[{index}]"
        yield from _of_rule(rules, index, where)
    yield from _swaps(rules, f"{spoke.version}: ")


def _of_rule(rules: tuple[model.Rule, ...], index: int, where: str) -> Iterator[Change]:
    rule = rules[index]
    named = f"{where} ({rule.kind})"
    yield f"{named}: left out", rule.origin, (*rules[:index], *rules[index + 1 :])
    for text, changed in _changed(rule, named):
        yield text, rule.origin, (*rules[:index], changed, *rules[index + 1 :])


def _changed(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """A value with one thing in it changed."""
    if isinstance(value, model.Rule) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        for field in dataclasses.fields(value):
            if field.name != "origin":
                for text, changed in _changed(getattr(value, field.name), f"{where}.{field.name}"):
                    yield text, dataclasses.replace(value, **{field.name: changed})
    elif isinstance(value, Mapping):
        yield from _of_mapping(value, where)
    elif isinstance(value, (tuple, list)):
        yield from _of_items(tuple(value), where)
    elif (new := _constant(value)) is not None:
        yield f"{where}: {value!r} -> {new!r}", new


def _of_mapping(value: Mapping[Any, Any], where: str) -> Iterator[tuple[str, Any]]:
    for name, inner in value.items():
        rest = {key: item for key, item in value.items() if key != name}
        if rest:
            yield f"{where}[{name!r}]: left out", rest
        for text, changed in _changed(inner, f"{where}[{name!r}]"):
            yield text, {**value, name: changed}
        key = _constant(name)
        if key is not None and key not in value:
            yield f"{where}: {name!r} -> {key!r}", {(key if old == name else old): item for old, item in value.items()}


def _of_items(value: tuple[Any, ...], where: str) -> Iterator[tuple[str, Any]]:
    for index, inner in enumerate(value):
        place = f"{where}[{index}]"
        if len(value) > 1 or isinstance(inner, model.Rule):
            yield f"{place}: left out", (*value[:index], *value[index + 1 :])
        for text, changed in _changed(inner, place):
            yield text, (*value[:index], changed, *value[index + 1 :])
    yield from _swapped_pairs(value, where)


def _swapped_pairs(value: tuple[Any, ...], where: str) -> Iterator[tuple[str, Any]]:
    """Two entries of a table, each with what stands for the other."""
    pairs = [(index, pair) for index, pair in enumerate(value) if isinstance(pair, model.Pair)]
    for (at, one), (there, other) in itertools.combinations(pairs, 2):
        if one.hub != other.hub:
            items = list(value)
            items[at] = dataclasses.replace(one, hub=other.hub)
            items[there] = dataclasses.replace(other, hub=one.hub)
            yield f"{where}[{at}].hub <-> [{there}].hub", tuple(items)


def _constant(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return value + "x" if isinstance(value, str) and value else None


def _swaps(rules: tuple[model.Rule, ...], where: str) -> Iterator[Change]:
    """Two paths of one side, each in the place of the other: of two rules, or of one."""
    for side in _SIDES:
        ends = [
            (placed, name)
            for placed in touching.every(rules)
            for name, _ in model.ends(placed.rule, side)  # type: ignore[arg-type]  # of two texts
        ]
        for (one, first), (other, second) in itertools.combinations(ends, 2):
            here, there = _path(one.rule, side, first), _path(other.rule, side, second)
            if here != there and _holder(one.where) == _holder(other.where):
                moved = {(one.where, side, first): there, (other.where, side, second): here}
                changed = _moved(rules, "", moved)
                if _unordered(changed) != _unordered(rules):
                    text = f"{where}{one.where}.{side} {here!r} <-> {other.where}.{side} {there!r}"
                    yield text, one.rule.origin, changed


def _unordered(rules: tuple[model.Rule, ...]) -> list[tuple[str, Any]]:
    """The rules without their order, which means nothing: two of a kind that trade all they say are what they were."""
    alone = ((rule, model.nested(rule)) for rule in rules)
    return sorted(
        (repr(dataclasses.replace(rule, rules=()) if inner else rule), _unordered(inner or ()))  # type: ignore[call-arg]
        for rule, inner in alone
    )


def _holder(where: str) -> str:
    return where.rpartition(".")[0]


def _path(rule: model.Rule, side: str, name: str) -> str:
    found: Any = getattr(rule, side)
    return found[name] if name else found  # type: ignore[no-any-return]


def _moved(
    rules: tuple[model.Rule, ...], where: str, moved: Mapping[tuple[str, str, str], str]
) -> tuple[model.Rule, ...]:
    return tuple(_with(rule, f"{where}rules[{index}]", moved) for index, rule in enumerate(rules))


def _with(rule: model.Rule, place: str, moved: Mapping[tuple[str, str, str], str]) -> model.Rule:
    new: dict[str, Any] = {}
    for side in _SIDES:
        found: Any = getattr(rule, side, None)
        if isinstance(found, str):
            new[side] = moved.get((place, side, ""), found)
        elif isinstance(found, Mapping):
            new[side] = {name: moved.get((place, side, name), path) for name, path in found.items()}
    inner = model.nested(rule)
    if inner is not None:
        new["rules"] = _moved(inner, f"{place}.", moved)
    return dataclasses.replace(rule, **new)
