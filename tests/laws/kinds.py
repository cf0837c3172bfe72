"""More ways in which real converters lose, each as one piece."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from tests.laws.piece import Convert, Fields, Piece, is_text, is_whole

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
TEXTS = {"type": "array", "items": TEXT}


def among(*words: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(words)}


def struct(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def keyed(key: str, **properties: Any) -> dict[str, Any]:
    item = {**struct(**{key: TEXT}, **properties), "required": [key]}
    return {"type": "array", "items": item, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": [key]}


def same_name(kind: str, n: str, one: Any, two: Any, there: Any, back: Any) -> Piece:
    """A field of one name at both versions; its functions give None for what is let go."""

    def lifted(function: Any) -> Convert:
        def converted(fields: Fields) -> Fields:
            value = function(fields[n]) if n in fields else None
            return {} if value is None else {n: value}

        return converted

    return Piece(kind=kind, one={n: one}, two={n: two}, to_two=lifted(there), to_one=lifted(back))


def many_to_one(n: str) -> Piece:
    """Three words, two words."""
    down = {"basic": "basic", "pro": "paid", "enterprise": "paid"}
    up = {"basic": "basic", "paid": "pro"}
    return same_name("many to one", n, among(*down), among(*up), lambda v: down.get(str(v)), lambda v: up.get(str(v)))


def joined(n: str) -> Piece:
    """Two fields against one text; a separator in a value, or one field without the other, is lost."""

    def there(fields: Fields) -> Fields:
        one, other = fields.get(n), fields.get(f"{n}Tag")
        return {n: f"{one}:{other}"} if is_text(one) and is_text(other) else {}

    def back(fields: Fields) -> Fields:
        found = fields[n].partition(":") if is_text(fields.get(n)) else None
        return {n: found[0], f"{n}Tag": found[2]} if found else {}

    return Piece(kind="joined", one={n: TEXT, f"{n}Tag": TEXT}, two={n: TEXT}, to_two=there, to_one=back)


def wrapped(n: str) -> Piece:
    """A scalar against an object that says more."""
    two = struct(value=TEXT, note=TEXT, weight={"type": "integer", "default": 1})

    def back(value: Any) -> Any:
        return value["value"] if isinstance(value, dict) and is_text(value.get("value")) else None

    return same_name("wrapped", n, TEXT, two, lambda v: {"value": v} if is_text(v) else None, back)


def one_item(n: str) -> Piece:
    """A scalar against a list of objects of which the first counts."""
    two = {"type": "array", "items": struct(value=WHOLE, unit=TEXT)}

    def back(value: Any) -> Any:
        first = value[0] if isinstance(value, list) and value else None
        return first["value"] if isinstance(first, dict) and is_whole(first.get("value")) else None

    return same_name("one item", n, WHOLE, two, lambda v: [{"value": v}] if is_whole(v) else None, back)


def counted(n: str) -> Piece:
    """A list against its length."""
    return same_name(
        "counted",
        n,
        TEXTS,
        {"type": "integer", "minimum": 0, "maximum": 9},
        lambda v: min(len(v), 9) if isinstance(v, list) else None,
        lambda v: ["?"] * min(max(v, 0), 9) if is_whole(v) else None,
    )


def cut(n: str) -> Piece:
    """Text that one version cuts off."""
    return same_name(
        "cut", n, TEXT, {"type": "string", "maxLength": 3}, lambda v: v[:3] if is_text(v) else None, lambda v: v
    )


def union(n: str) -> Piece:
    """A discriminator with its members against an object with one key."""
    members = {"A": f"{n}A", "B": f"{n}B"}

    def there(fields: Fields) -> Fields:
        chosen = fields.get(n)
        member = members.get(chosen) if is_text(chosen) else None
        return {n: {chosen: fields[member]}} if member in fields and is_whole(fields[member]) else {}

    def back(fields: Fields) -> Fields:
        inner = fields.get(n)
        for name, member in members.items() if isinstance(inner, dict) else ():
            if is_whole(inner.get(name)):
                return {n: name, member: inner[name]}
        return {}

    one = {n: among("A", "B"), f"{n}A": WHOLE, f"{n}B": WHOLE}
    return Piece(kind="union", one=one, two={n: struct(A=WHOLE, B=WHOLE)}, to_two=there, to_one=back)


def nested(n: str) -> Piece:
    """A list of lists against one list: where each began is lost."""
    return same_name(
        "nested lists",
        n,
        {"type": "array", "items": {"type": "array", "items": WHOLE}},
        {"type": "array", "items": WHOLE},
        lambda v: [i for inner in v if isinstance(inner, list) for i in inner] if isinstance(v, list) else None,
        lambda v: [[i] for i in v] if isinstance(v, list) else None,
    )


def sorted_by_key(n: str) -> Piece:
    """A keyed list that one version keeps in the order of its keys."""

    def order(value: Any) -> Any:
        return sorted(value, key=lambda item: str(item.get("name"))) if _objects(value) else None

    return same_name("reordered", n, keyed("name", size=WHOLE), keyed("name", size=WHOLE), order, lambda v: v)


def _objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def two_defaults(n: str) -> Piece:
    """Both versions have a default, and not the same one."""
    one, two = {"type": "integer", "default": 3}, {"type": "integer", "default": 5}
    return same_name("two defaults", n, one, two, lambda v: v, lambda v: v)


def pairs(n: str) -> Piece:
    """A map against a set of ``key=value``."""

    def there(value: Any) -> Any:
        if not isinstance(value, dict):
            return None
        return sorted({f"{key}={text}" for key, text in value.items() if is_text(text)})

    def back(value: Any) -> Any:
        texts = [text for text in value if is_text(text)] if isinstance(value, list) else []
        return dict(text.split("=", 1) for text in texts if "=" in text)

    one = {"type": "object", "additionalProperties": TEXT}
    return same_name("map to set", n, one, {**TEXTS, "x-kubernetes-list-type": "set"}, there, back)


def duration(n: str) -> Piece:
    """Seconds against ``1h30m5s``; spellings, and texts that are no duration, are lost."""

    def there(value: Any) -> Any:
        return f"{value // 3600}h{value % 3600 // 60}m{value % 60}s" if is_whole(value) and value >= 0 else None

    def back(value: Any) -> Any:
        pattern = r"(?:([0-9]{1,9})h)?(?:([0-9]{1,9})m)?(?:([0-9]{1,9})s)?"
        found = re.fullmatch(pattern, value, re.ASCII) if is_text(value) else None
        if not found or not value:
            return None
        return sum(int(part or 0) * unit for part, unit in zip(found.groups(), (3600, 60, 1), strict=True))

    one = {"type": "integer", "minimum": 0, "maximum": 10**6}
    two = among("1h30m0s", "90m", "5400s", "1h", "", "soon", "0h0m5s")
    return same_name("duration", n, one, {"type": "string"} if n.endswith("0") else two, there, back)


def quantity(n: str) -> Piece:
    """A quantity as it was spelled against thousandths."""

    def there(value: Any) -> Any:
        found = re.fullmatch(r"([0-9]{1,9})(m|k)?", value, re.ASCII) if is_text(value) else None
        return int(found[1]) * {"m": 1, "k": 10**6, None: 1000}[found[2]] if found else None

    def back(value: Any) -> Any:
        if not is_whole(value) or value < 0:
            return None
        return str(value // 1000) if value % 1000 == 0 else f"{value}m"

    spelled = among("1", "1000m", "1500m", "2k", "2000", "", "many", "0", "0m")
    return same_name("quantity", n, spelled, {"type": "integer", "minimum": 0}, there, back)


def flag(n: str) -> Piece:
    """Yes or no against three words."""
    words = {True: "Enabled", False: "Disabled"}
    return same_name(
        "flag",
        n,
        {"type": "boolean"},
        among("Enabled", "Disabled", "Unknown"),
        lambda v: words.get(v) if isinstance(v, bool) else None,
        lambda v: {"Enabled": True, "Disabled": False}.get(v) if is_text(v) else None,
    )


def inverted(n: str) -> Piece:
    """``enabled`` against ``disabled``, which has a default."""

    def turned(here: str, there: str) -> Convert:
        return lambda f: {there: not f[here]} if isinstance(f.get(here), bool) else {}

    one, two = {f"{n}On": {"type": "boolean"}}, {f"{n}Off": {"type": "boolean", "default": False}}
    return Piece(
        kind="inverted", one=one, two=two, to_two=turned(f"{n}On", f"{n}Off"), to_one=turned(f"{n}Off", f"{n}On")
    )


def hoisted(n: str) -> Piece:
    """Two fields that stand in an object at the other version; an object without them is lost."""
    names = {f"{n}Low": "low", f"{n}High": "high"}

    def there(fields: Fields) -> Fields:
        inner = {below: fields[name] for name, below in names.items() if name in fields}
        return {n: inner} if inner else {}

    def back(fields: Fields) -> Fields:
        inner = fields.get(n) if isinstance(fields.get(n), dict) else {}
        return {name: inner[below] for name, below in names.items() if below in inner}

    two = {n: struct(low=WHOLE, high=TEXT, step=WHOLE)}
    return Piece(kind="hoisted", one={f"{n}Low": WHOLE, f"{n}High": TEXT}, two=two, to_two=there, to_one=back)


def rekeyed(n: str) -> Piece:
    """Two keyed lists whose keys have other names; each says of an item what the other cannot."""

    def renamed(here: str, there: str) -> Any:
        def converted(value: Any) -> Any:
            if not _objects(value):
                return None
            return [{there: i[here], **({"size": i["size"]} if "size" in i else {})} for i in value if here in i]

        return converted

    def by(key: str) -> Any:
        return lambda f: {str(i[key]): i for i in f.get(n, ()) if isinstance(i, dict) and key in i}

    one, two = keyed("name", size=WHOLE, old=TEXT), keyed("id", size=WHOLE, new={"type": "boolean", "default": True})
    made = same_name("rekeyed", n, one, two, renamed("name", "id"), renamed("id", "name"))
    return dataclasses.replace(made, items=(by("name"), by("id")))


def percent(n: str) -> Piece:
    """A number or a percentage against a number: which it was is lost."""

    def there(value: Any) -> Any:
        if is_text(value):
            return int(value[:-1]) if re.fullmatch(r"[0-9]{1,3}%", value, re.ASCII) else None
        return value if is_whole(value) else None

    return same_name("percent", n, {"x-kubernetes-int-or-string": True}, WHOLE, there, lambda v: v)


def unique(n: str) -> Piece:
    """A list against the set of its items."""
    two = {**TEXTS, "x-kubernetes-list-type": "set"}
    return same_name(
        "unique",
        n,
        TEXTS,
        two,
        lambda v: list(dict.fromkeys(i for i in v if is_text(i))) if isinstance(v, list) else None,
        lambda v: v,
    )


def endpoint(n: str) -> Piece:
    """``host:port`` against an object; a port that is no number is lost, and so is a host alone."""

    def there(value: Any) -> Any:
        found = re.fullmatch(r"([^:]*):([0-9]{1,5})", value, re.ASCII) if is_text(value) else None
        return {"host": found[1], "port": int(found[2])} if found else None

    def back(value: Any) -> Any:
        good = isinstance(value, dict) and is_text(value.get("host")) and is_whole(value.get("port"))
        return f"{value['host']}:{value['port']}" if good else None

    spelled = among("a:80", "a:080", ":1", "a", "a:b", "")
    return same_name("endpoint", n, spelled, struct(host=TEXT, port=WHOLE, tls={"type": "boolean"}), there, back)


def rounded(n: str) -> Piece:
    """Bytes against kilobytes, rounded down."""
    return same_name(
        "rounded",
        n,
        {"type": "integer", "minimum": 0},
        {"type": "integer", "minimum": 0},
        lambda v: v // 1024 if is_whole(v) else None,
        lambda v: v * 1024 if is_whole(v) and abs(v) < 2**50 else None,
    )


ALL = (
    *(many_to_one, joined, wrapped, one_item, counted, cut, union, nested, sorted_by_key, two_defaults, pairs),
    *(duration, quantity, flag, inverted, hoisted, rekeyed, percent, unique, endpoint, rounded),
)
