"""Rules of one level told apart: those of the object itself, and those for items of lists and values of maps.

Rules with wildcards at the same place become one ``each``, so that a list is walked once however many rules speak of
its items. Wildcards stand for the same item at both sides only where the paths before them are the same; where a list
has another name at the other side, an ``each`` says so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence

from instar.conversion import patterns
from instar.conversion.rules import each, model, only, places

__all__ = ["Part", "parts", "split"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A rule as it stands at one level: its paths from there, and the rules within it."""

    label: str
    rule: model.Rule
    spoke: tuple[tuple[str, tuple[str, ...]], ...]
    hub: tuple[tuple[str, tuple[str, ...]], ...]
    inner: tuple[Part, ...] = ()

    def paths(self, side: model.Side) -> tuple[tuple[str, ...], ...]:
        """Its paths at one side."""
        return tuple(steps for _, steps in (self.spoke if side == "spoke" else self.hub))


def parts(
    rules: Sequence[model.Rule], where: str, complain: Callable[[str], None], *, inside: bool = False
) -> Iterator[Part]:
    """The rules as their author wrote them; one with a path that is none is complained of and left out."""
    for index, rule in enumerate(rules):
        place = f"{where}rules[{index}]"
        if not isinstance(rule, model.Rule):
            complain(
                f"{place}: is a {type(rule).__name__}, not a rule; there are instar.conversion.rules.Move and others"
            )
            continue
        origin = f"{rule.origin}: " if rule.origin else ""
        label = f"{origin}{place} ({rule.kind})"
        wrong = list(_problems(rule, inside))
        for problem in wrong:
            complain(f"{label}: {problem}")
        if not wrong:
            inner = model.nested(rule)
            yield Part(
                label=label,
                rule=rule,
                spoke=_parsed(rule, "spoke"),
                hub=_parsed(rule, "hub"),
                inner=tuple(parts(inner, f"{place}.", complain, inside=True)) if inner else (),
            )


def _problems(rule: model.Rule, inside: bool) -> Iterator[str]:
    for side in model.SIDES:
        found = model.ends(rule, side)
        if not found and not isinstance(rule, only.Only):
            yield f"{side}: there is no path"
        if not rule.many and any(name for name, _ in found):
            yield f"{side}: a rule of this kind has one path"
        yield from (problem for _, text in found if (problem := places.problem(text, inside=inside)))


def _parsed(rule: model.Rule, side: model.Side) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((name, patterns.parse(text)) for name, text in model.ends(rule, side))


def split(found: Iterable[Part], complain: Callable[[str], None]) -> list[Part]:
    """The parts of one level, those for items gathered into the ``each`` they belong to."""
    plain: list[Part] = []
    gathered: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Part]] = {}
    deeper: list[Part] = []
    for part in found:
        if _wild(part):
            deeper.append(part)
        elif isinstance(part.rule, each.Each):
            gathered.setdefault((part.spoke[0][1], part.hub[0][1]), []).append(part)
        else:
            plain.append(part)
    for part in deeper:
        _gather(part, gathered, plain, complain)
    return plain + [_joined(*key, members) for key, members in gathered.items()]


def _wild(part: Part) -> bool:
    """Whether it speaks of an item, and not of the whole list."""
    return any(places.wildcard(_own(part, steps)) for side in model.SIDES for steps in part.paths(side))


def _own(part: Part, steps: tuple[str, ...]) -> tuple[str, ...]:
    return places.level(steps) if model.nested(part.rule) is not None else steps


def _gather(
    part: Part,
    gathered: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Part]],
    plain: list[Part],
    complain: Callable[[str], None],
) -> None:
    starts = {side: {_start(part, steps) for steps in part.paths(side)} for side in model.SIDES}
    if any(len(found) > 1 for found in starts.values()) or any(None in found for found in starts.values()):
        complain(f"{part.label}: all its paths must be in items of one list or map, or none; write an each around it")
        return
    spoke, hub = (next(iter(starts[side]), None) for side in model.SIDES)
    key = _key(spoke, hub, gathered, plain)
    if key is None:
        text = f"{''.join(spoke or ())} and {''.join(hub or ())} are two lists or maps; write an each around it"
        complain(f"{part.label}: {text}")
    else:
        gathered.setdefault(key, []).append(_within(part, len(key[0]), len(key[1])))


def _start(part: Part, steps: tuple[str, ...]) -> tuple[str, ...] | None:
    count = places.wildcard(_own(part, steps))
    return steps[:count] if count else None


def _key(
    spoke: tuple[str, ...] | None,
    hub: tuple[str, ...] | None,
    gathered: Iterable[tuple[tuple[str, ...], tuple[str, ...]]],
    plain: Iterable[Part],
) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The pair of lists that a rule belongs to; a rule of one side belongs where its list goes."""
    if spoke is not None and hub is not None:
        return (spoke, hub) if spoke == hub or (spoke, hub) in set(gathered) else None
    for pair in gathered:
        if spoke == pair[0] or hub == pair[1]:
            return pair
    start = spoke or hub or ()
    return (start, start)


def _within(part: Part, spoke: int, hub: int) -> Part:
    return dataclasses.replace(
        part,
        spoke=tuple((name, steps[spoke:]) for name, steps in part.spoke),
        hub=tuple((name, steps[hub:]) for name, steps in part.hub),
    )


def _joined(spoke: tuple[str, ...], hub: tuple[str, ...], members: list[Part]) -> Part:
    """One ``each`` of all that is said of one pair of lists."""
    inner: list[Part] = []
    for part in members:
        is_it = isinstance(part.rule, each.Each) and part.paths("spoke") == (spoke,)
        inner += part.inner if is_it else [part]
    return Part(
        label=members[0].label,
        rule=each.Each(spoke="".join(spoke), hub="".join(hub), rules=()),
        spoke=(("", spoke),),
        hub=(("", hub),),
        inner=tuple(inner),
    )
