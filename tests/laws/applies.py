"""Random server-side apply sequences, in words that both an old and a new API can say, and the same words at v1 alone.

A step is what one manager wants now, at the version that it speaks. ``render`` says it to the CRD of two versions,
``translate`` to a reference CRD that has only v1 (with the fields that only v1alpha1 has added to it).

Where one old word stands for several new values (``small``: 0 to 4 replicas) the translation needs care, because a
manager that says ``small`` says nothing about which. An old word for what already reads so leaves the live value. A v1
manager that swaps one such value for another contradicts nobody who said the old word: see ``swaps``. Where the old
version reads no size at all, any size is a change, and means what the converter says.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import random
from collections.abc import Container, Mapping
from typing import Any

OLD, NEW = "v1alpha1", "v1"
MANAGERS = ("ann", "bob", "cid")
Fields = dict[str, Any]
Words = dict[str, Any]
Path = tuple[str, ...]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Step:
    """One apply: who, at which version, everything that this manager wants, and whether it insists."""

    manager: str
    version: str
    words: Words
    force: bool


QUOTAS = (("8", "32Gi"), ("500m", "1Gi"), ("2.5", "9Mi"))
"""No two share a part, so that who owns one part owns both, as the owner of the old string does."""
TENANT: Mapping[str, tuple[Any, ...]] = {
    "title": ("A", "B", ""),
    "tier": ("standard", "premium", "dedicated"),
    "quota": QUOTAS,
    "owners": ({"zoe": None}, {"zoe": "admin", "adam": None}, {"adam": "editor", "eve": None}, {"eve": "admin"}),
    "labels": ({"team": "a"}, {"team": "b", "a/b": "x"}, {"a/b": "y", "~": ""}),
    "cost": ("1", "2"),
    "suspended": (True, False),
    "storage": ("1Ti", "2Ti"),
    "gpus": (0, 2**53 + 1),
    "egress": (["10.0.0.0/8"], []),
    "isolated": (True, False),
    "label": ("red", "blue"),
}
WIDGET: Mapping[str, tuple[Any, ...]] = {
    "image": ("a:1", "a:2"),
    "replicas": (0, 1, 2, 3, 4, 5, 50),
    "tier": ("bronze", "gold"),
    "label": ("red", "blue"),
}
VOCABULARY = {"tenant": TENANT, "widget": WIDGET}
DEFAULTS: Mapping[str, Fields] = {
    "tenant": {"tier": "standard", "suspended": False},
    "widget": {"tier": "bronze", "resources": {"replicas": 3}},
}
"""What v1 makes of an empty spec."""
OLD_ONLY, NEW_ONLY = {"cost"}, {"suspended", "storage", "gpus", "egress", "isolated"}


def class_of(tier: str) -> str:
    return "premium" if tier == "dedicated" else tier


def size_of(replicas: int) -> str:
    return "large" if replicas >= 5 else "small"


def next_step(name: str, chance: random.Random, last: Mapping[str, Step]) -> Step:
    """A manager changes some of what it said last: more words, fewer, others; sometimes at the other version."""
    manager = chance.choice(MANAGERS)
    before = last.get(manager)
    words = dict(before.words) if before else {}
    for _ in range(chance.randint(1, 3)):
        word = chance.choice(list(VOCABULARY[name]))
        if word in words and chance.random() < 0.5:
            del words[word]
        else:
            words[word] = chance.choice(VOCABULARY[name][word])
    version = chance.choice((OLD, NEW)) if before is None or chance.random() < 0.3 else before.version
    return Step(manager=manager, version=version, words=words, force=chance.random() < 0.5)


def render(name: str, step: Step, live: Fields, seen: str | None) -> tuple[Fields, Fields]:
    """What the manager sends to the CRD of two versions, and the same for the reference: (spec, reference's spec).

    ``live`` is what the reference has; ``seen`` is the old word for what is only half said, None where there is none.
    """
    words = {word: value for word, value in step.words.items() if word not in _unsaid(name, step.version)}
    new = _NEW[name](words, live, seen, step.version == OLD)
    return (_OLD[name](words) if step.version == OLD else new), new


def _unsaid(name: str, version: str) -> set[str]:
    if name == "widget":
        return {"tier"} if version == OLD else set()
    return NEW_ONLY if version == OLD else OLD_ONLY


def _tenant_old(words: Words) -> Fields:
    spec: Fields = {}
    put(spec, "title", words.get("title"))
    put(spec, "class", class_of(words["tier"]) if "tier" in words else None)
    put(spec, "quota", "cpu={},mem={}".format(*words["quota"]) if "quota" in words else None)
    put(spec, "owners", list(words["owners"]) if "owners" in words else None)
    put(spec, "labels", words.get("labels"))
    put(spec, "costCentre", words.get("cost"))
    return spec


def _tenant_new(words: Words, live: Fields, seen: str | None, old: bool) -> Fields:
    spec: Fields = {}
    put(spec, "displayName", words.get("title"))
    put(spec, "tier", _meant("tenant", words.get("tier"), live, seen) if old else words.get("tier"))
    cpu, memory = words.get("quota", (None, None))
    quota = {"cpu": cpu, "memory": memory, "storage": words.get("storage"), "gpus": words.get("gpus")}
    put(spec, "quota", {field: value for field, value in quota.items() if value is not None} or None)
    if "owners" in words:
        spec["owners"] = [
            {"name": name} if old or role is None else {"name": name, "role": role}
            for name, role in words["owners"].items()
        ]
    put(spec, "labels", words.get("labels"))
    put(spec, "costCentre", words.get("cost"))
    put(spec, "suspended", words.get("suspended"))
    network = {"egress": words.get("egress"), "isolated": words.get("isolated")}
    put(spec, "network", {field: value for field, value in network.items() if value is not None} or None)
    return spec


def _widget_old(words: Words) -> Fields:
    spec: Fields = {}
    put(spec, "image", words.get("image"))
    put(spec, "size", size_of(words["replicas"]) if "replicas" in words else None)
    return spec


CANONICAL = {"small": 1, "large": 5, "standard": "standard", "premium": "premium"}


def _widget_new(words: Words, live: Fields, seen: str | None, old: bool) -> Fields:
    spec: Fields = {}
    put(spec, "image", words.get("image"))
    wanted = words.get("replicas")
    replicas = _meant("widget", wanted, live, seen) if old else wanted
    put(spec, "resources", {"replicas": replicas} if replicas is not None else None)
    put(spec, "tier", words.get("tier"))
    return spec


def _meant(name: str, wanted: Any, live: Fields, seen: str | None) -> Any:
    """What an old word means: the live value where the word is what is read there, else its one value."""
    if wanted is None:
        return None
    word = _READS_AS[name](wanted)
    return half_said(name, live)[1] if word == seen else CANONICAL[word]


def put(fields: Fields, name: str, value: Any) -> None:
    if value is not None:
        fields[name] = value


_OLD = {"tenant": _tenant_old, "widget": _widget_old}
_NEW = {"tenant": _tenant_new, "widget": _widget_new}
HALF_SAID: Mapping[str, tuple[str, Path]] = {
    "tenant": ("tier", ("f:spec", "f:tier")),
    "widget": ("replicas", ("f:spec", "f:resources", "f:replicas")),
}
"""The word that the old version can only half say, and where v1 has it."""


def swaps(name: str, step: Step, live: Fields) -> bool:
    """Whether a v1 manager wants another value than the live one that the old version reads as the same word.

    It contradicts nobody who said that word: no conflict with them, and they go on owning it. One version cannot say
    this, so for this step the reference has them say nothing about it: ``withdrawn``, and after it ``reclaimed``.
    """
    wanted, (word, value) = step.words.get(HALF_SAID[name][0]), half_said(name, live)
    return step.version == NEW and wanted not in (None, value) and word == _READS_AS[name](wanted)


ManagedFields = list[dict[str, Any]]


def withdrawn(name: str, managed: ManagedFields, managers: Container[str]) -> ManagedFields:
    """The managers' entries without the half said field; an entry of nothing else is left out."""
    *above, last = HALF_SAID[name][1]
    result = copy.deepcopy(managed)
    for entry in _applied(result, managers):
        holders = [entry["fieldsV1"]]
        for step in above:
            holders.append(holders[-1].get(step, {}))
        holders[-1].pop(last, None)
        for holder, step in zip(reversed(holders[:-1]), reversed(above), strict=True):
            if not holder.get(step, True):
                del holder[step]
    return [entry for entry in result if entry["fieldsV1"]]


def reclaimed(name: str, managed: ManagedFields, before: ManagedFields, managers: Container[str]) -> ManagedFields:
    """The managers' entries with the half said field again."""
    result = copy.deepcopy(managed)
    for manager in (entry["manager"] for entry in _applied(before, managers)):
        found = next(iter(_applied(result, {manager})), None)
        if found is None:
            entry = next(iter(_applied(before, {manager})))
            result.append(found := {**copy.deepcopy(entry), "fieldsV1": {}})
        fields = found["fieldsV1"]
        for step in HALF_SAID[name][1]:
            fields = fields.setdefault(step, {})
    return result


def _applied(managed: ManagedFields, managers: Container[str]) -> list[dict[str, Any]]:
    return [entry for entry in managed if entry["manager"] in managers and entry["operation"] == "Apply"]


def half_said(name: str, live: Fields) -> tuple[str, Any]:
    """The old word for the live value that the old version can only half say, and that value."""
    value = live.get("tier") if name == "tenant" else live.get("resources", {}).get("replicas")
    return ("" if value is None else _READS_AS[name](value)), value


def seen(name: str, old: Mapping[str, Any]) -> str | None:
    """The old word that a client of the old version reads, if any."""
    word: str | None = old.get("spec", {}).get({"tenant": "class", "widget": "size"}[name])
    return word


def readable(name: str, old: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether the old version reads the word for what the reference has.

    A widget that named no size goes on naming none while it would read small, as the 3 replicas of v1's default do.
    """
    word, meant = seen(name, old), half_said(name, wanted.get("spec", {}))[0]
    return word == (meant or None) or (name == "widget" and word is None and meant == "small")


def returns(name: str, step: Step, reads: str | None, remembered: set[str]) -> bool:
    """Whether an old manager goes back to an old word that once stood for a value it cannot say.

    While the old version is stored, such a value is restored: the edit away and back shows nowhere in what is stored.
    A CRD of one version cannot know that, so this is left out where the old version is stored.
    """
    word = HALF_SAID[name][0]
    if step.version != OLD or word not in step.words:
        return False
    wanted = _READS_AS[name](step.words[word])
    return wanted in remembered and wanted != reads


_READS_AS: Mapping[str, Any] = {"tenant": class_of, "widget": size_of}


def field_paths(fields: Mapping[str, Any], path: Path = ()) -> set[Path]:
    """The members of a ``fieldsV1`` set."""
    found: set[Path] = set()
    for step, below in fields.items():
        if step == ".":
            found.add(path)
        else:
            found |= field_paths(below, (*path, step)) if below else {(*path, step)}
    return found


def owned(document: Mapping[str, Any]) -> dict[str, set[Path]]:
    """Who owns what by apply, all said as v1 says it."""
    return {
        entry["manager"]: {
            path
            for found in field_paths(entry["fieldsV1"])
            for path in (_as_new(found) if entry["apiVersion"].endswith(OLD) else [found])
        }
        for entry in document["metadata"].get("managedFields", ())
        if entry["operation"] == "Apply" and not entry.get("subresource")
    }


RENAMED: Mapping[Path, tuple[Path, ...]] = {
    ("f:spec", "f:title"): (("f:spec", "f:displayName"),),
    ("f:spec", "f:class"): (("f:spec", "f:tier"),),
    ("f:spec", "f:quota"): (("f:spec", "f:quota", "f:cpu"), ("f:spec", "f:quota", "f:memory")),
    ("f:spec", "f:size"): (("f:spec", "f:resources", "f:replicas"),),
}


def _as_new(path: Path) -> tuple[Path, ...]:
    if path[:2] == ("f:spec", "f:owners") and len(path) == 3:
        item = ("f:spec", "f:owners", f'k:{{"name":{json.dumps(json.loads(path[2][2:]))}}}')
        return item, (*item, "f:name")
    return RENAMED.get(path, (path,))
