"""Entries: one carried leaf in one annotation. This format is stored data.

==========  ==========================================================  ==============================================
annotation  ``carried.<domain>/<version>.<16 hex of sha256(path)>``     a compact JSON list
view        ``carried.<domain>/<version>.view``                         32 hex: ``view(object, entries)``
==========  ==========================================================  ==============================================

``version`` is the one that the leaf belongs to, and that cannot lose it: not the version of the object it is put on.

=====  =========  ====================================================================================================
place  name       what stands there
=====  =========  ====================================================================================================
0      kind       the kind of the object, as text: a copy of annotations to another kind carries nothing
1      path       the leaf's path (model/path.py); a path that does not hash to its key is malformed
2      value      ``[value]``, or ``[]``: the leaf is absent in that version
3      base       what is seen there when coming back without the entry: ``[value]``; or text: 32 hex of sha256 of
                  its canonical JSON, where that is longer than 64 bytes; or a number: nothing is seen there, and of
                  the list items and map keys on the path so many are. Left out: the number 0
4      group      32 hex over what is seen at the members of its declared groups; left out without a group
=====  =========  ====================================================================================================

A list without identity may be edited in one item, and what the others carried stays theirs. So where value and base are
such lists of one length and the base is too long to be written out, the entry has format 2: ``[2, kind, path, value,
base, group]``, and its base is text: 16 hex of sha256 of each item's canonical JSON, joined by ``,``.

The order of a keyed list is an entry too: its path is the list's and ``[]``, its value the steps of the items in order
(``["[name=b]","[name=a]"]``), its base the indexes of those that are seen, as they are seen (never a digest).

A later format begins with its number: ``[3, kind, path, ...]``, with a kind and a path as above. It is a
ConversionError, for an older release must not drop what it cannot read. Anything else that is not exactly this is
malformed, and dropped.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any

from instar import errors
from instar.conversion.leaves import ABSENT
from instar.model import carried, gojson, path

__all__ = [
    "Digest",
    "Entry",
    "Items",
    "Malformed",
    "digest",
    "itemised",
    "items",
    "key",
    "prefix",
    "read",
    "shortened",
    "split",
    "view",
    "write",
]

FORMAT = 2
"""The latest; entries of format 1 bear no number."""
LONGEST_BASE = 64
VIEW, VIEW_LENGTH = "view", 32
_DIGEST = re.compile(r"[0-9a-f]{32}")
_ITEMS = re.compile(r"[0-9a-f]{16}(,[0-9a-f]{16})*")


@dataclasses.dataclass(frozen=True, slots=True)
class Digest:
    """A base too long to be written out."""

    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class Items:
    """A base too long to be written out, of a list whose items have no identity: a digest of each."""

    digests: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """One carried leaf; ``base`` is a value, a Digest, Items or ABSENT, ``anchors`` counts only where it is ABSENT."""

    path: str
    value: Any
    base: Any = ABSENT
    anchors: int = 0
    group: str = ""


class Malformed(Exception):
    """Why a text is no entry."""


def prefix(domain: str) -> str:
    """What every annotation key of ours begins with."""
    return carried.prefix(domain)


def split(name: str) -> tuple[str, str]:
    """Version and tail of a key without its prefix."""
    version, _, tail = name.partition(".")
    return version, tail


def key(version: str, where: str) -> str:
    """The key of the entry for a path, without the prefix."""
    return f"{version}.{hashlib.sha256(where.encode()).hexdigest()[:16]}"


def view(
    obj: Mapping[str, Any],
    carried: Mapping[str, Any],
    *,
    named: Mapping[str, Any] | None = None,
    printed: bool = False,
) -> str:
    """The digest of an object as a client sees it (apiVersion, kind and body) and of the entries put on it, by tail.

    ``named`` are the labels and annotations that rules name; ``printed`` says that there is no float in it.

    The entries too: an apply of a saved manifest lays its view and its entries over newer ones, which it does not know.
    """
    seen = {name: value for name, value in obj.items() if name != "metadata"}
    if named is not None:
        seen["metadata"] = named
    return digest([seen, dict(carried)], printed=printed)


def digest(value: Any, *, printed: bool = False) -> str:
    """32 hex digits of sha256 over the canonical JSON."""
    text = gojson.encode_printed(value) if printed else gojson.encode_normal(value)
    return hashlib.sha256(text).hexdigest()[:32]


def shortened(base: Any) -> Any:
    """The base as it is written: itself, or a Digest."""
    if base is ABSENT or type(base) in (bool, int, float) or base is None:
        return base
    text = gojson.encode_normal(base)
    return Digest(hashlib.sha256(text).hexdigest()[:32]) if len(text) > LONGEST_BASE else base


def items(base: list[Any]) -> Items:
    """The base of a list whose items have no identity, however long it is."""
    return Items(tuple(hashlib.sha256(gojson.encode_normal(item)).hexdigest()[:16] for item in base))


def itemised(value: Any, base: Any) -> Any:
    """The base of a list without identity as it is written: by its items where it is as long as the value."""
    short = shortened(base)
    if isinstance(short, Digest) and type(value) is list and type(base) is list and len(value) == len(base):
        return items(base)
    return short


def write(entry: Entry, kind: str) -> str:
    """The annotation's value."""
    fields: list[Any] = [kind, entry.path, [] if entry.value is ABSENT else [entry.value]]
    if isinstance(entry.base, Items):
        fields = [FORMAT, *fields, ",".join(entry.base.digests)]
    elif isinstance(entry.base, Digest):
        fields.append(entry.base.text)
    elif entry.base is not ABSENT:
        fields.append([entry.base])
    elif entry.anchors or entry.group:
        fields.append(entry.anchors)
    if entry.group:
        fields.append(entry.group)
    return gojson.encode(fields).decode()


def read(text: Any, tail: str, kind: str) -> Entry:
    """The entry that an annotation holds; ``tail`` is the hash in its key.

    Raises Malformed; ConversionError where the format is a later one.
    """
    if type(text) is not str:
        raise Malformed("not text")
    try:
        fields = gojson.decode(text)
    except errors.JsonError:
        raise Malformed("not JSON") from None
    if type(fields) is not list or not fields:
        raise Malformed("not a list")
    if type(fields[0]) is not int:
        return _read(fields, tail, kind, _base)
    if fields[0] < FORMAT or fields[1:2] != [kind]:
        raise Malformed("not an entry")
    if fields[0] == FORMAT:
        return _read(fields[1:], tail, kind, _items)
    where = _path(fields[2:], tail)
    raise errors.ConversionError(
        f"what is carried at {where} has format {fields[0]}, and this release reads {FORMAT}: "
        "run the release that wrote it, or a later one",
        path=where,
    )


def _read(fields: list[Any], tail: str, kind: str, base_of: Callable[[Any, Any], tuple[Any, int]]) -> Entry:
    if not 3 <= len(fields) <= 5:
        raise Malformed("not an entry")
    if fields[0] != kind:
        raise Malformed("of another kind")
    where = _path(fields[1:], tail)
    value = _slot(fields[2])
    base, anchors = base_of(fields[3] if len(fields) > 3 else 0, value)
    if value is ABSENT and base is ABSENT:
        raise Malformed("neither value nor base")
    return Entry(where, value, base, anchors, _group(fields))


def _path(fields: list[Any], tail: str) -> str:
    where = fields[0] if fields else None
    if type(where) is not str or hashlib.sha256(where.encode("utf-8", "replace")).hexdigest()[:16] != tail:
        raise Malformed("its path does not hash to its key")
    of = path.of_order(where)
    try:
        path.parse(where if of is None else of)
    except errors.UsageError:
        raise Malformed("not a path") from None
    return where


def _slot(field: Any) -> Any:
    if type(field) is not list or len(field) > 1:
        raise Malformed("not a value")
    return field[0] if field else ABSENT


def _items(field: Any, value: Any) -> tuple[Any, int]:
    if type(field) is not str or not _ITEMS.fullmatch(field):
        raise Malformed("not a base")
    digests = tuple(field.split(","))
    if type(value) is not list or len(value) != len(digests):
        raise Malformed("its base is no list as long as its value")
    return Items(digests), 0


def _base(field: Any, _: Any) -> tuple[Any, int]:
    if type(field) is int and field >= 0:
        return ABSENT, field
    if type(field) is str and _DIGEST.fullmatch(field):
        return Digest(field), 0
    if type(field) is list and len(field) == 1:
        return field[0], 0
    raise Malformed("not a base")


def _group(fields: list[Any]) -> str:
    if len(fields) < 5:
        return ""
    if type(fields[4]) is not str or not _DIGEST.fullmatch(fields[4]):
        raise Malformed("not a group")
    return fields[4]
