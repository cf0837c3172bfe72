"""What clients of the two examples must see, by hand: field by field, from what the two APIs mean.

``read``: what a new object reads as at the other version. ``after``: what an object is at its first version once
somebody has read it at the other (``seen``) and written it back changed (``changed``). Not a line is shared with the
examples' converters or the framework; schemas are used only for what the API server does with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.laws import model

Document = dict[str, Any]
Fields = dict[str, Any]


def _at(document: Document, version: str, parts: Mapping[str, Fields | None]) -> Document:
    """The same object at another version, with these top-level fields."""
    group = document["apiVersion"].partition("/")[0]
    kept = {"apiVersion": f"{group}/{version}", "kind": document["kind"], "metadata": document["metadata"]}
    return {**kept, **{name: value for name, value in parts.items() if value is not None}}


def _have(fields: Mapping[str, Any]) -> Fields:
    """The fields that have a value; None stands for a field that is not there."""
    return {name: value for name, value in fields.items() if value is not None}


def tenant_read(document: Document) -> Document:
    if document["apiVersion"].endswith("v1alpha1"):
        parts = {name: _TENANT_UP[name](document.get(name)) for name in ("spec", "status")}
        return _at(document, "v1", parts)
    return _at(document, "v1alpha1", {name: _TENANT_DOWN[name](document.get(name)) for name in ("spec", "status")})


def _spec_up(old: Fields | None) -> Fields | None:
    if old is None:
        return None
    owners = [{"name": name, "role": "viewer"} for name in old["owners"]] if "owners" in old else None
    fields = {"displayName": old.get("title"), "tier": old.get("class", "standard"), "suspended": False}
    return _have({**fields, "quota": quota(old.get("quota")), "owners": owners, "labels": old.get("labels")})


def _spec_down(new: Fields | None) -> Fields | None:
    if new is None:
        return None
    tier = new.get("tier", "standard")
    owners = [owner["name"] for owner in new["owners"]] if "owners" in new else None
    fields = {"title": new.get("displayName"), "class": "premium" if tier == "dedicated" else tier}
    return _have({**fields, "quota": spelled(new.get("quota")), "owners": owners, "labels": new.get("labels")})


def _status_up(old: Fields | None) -> Fields | None:
    return None if old is None else _have({"phase": old.get("phase"), "used": quota(old.get("used"))})


def _status_down(new: Fields | None) -> Fields | None:
    return None if new is None else _have({"phase": new.get("phase"), "used": spelled(new.get("used"))})


_TENANT_UP: Mapping[str, Callable[[Fields | None], Fields | None]] = {"spec": _spec_up, "status": _status_up}
_TENANT_DOWN: Mapping[str, Callable[[Fields | None], Fields | None]] = {"spec": _spec_down, "status": _status_down}


def quota(text: str | None) -> Fields | None:
    """What a v1alpha1 quota string says: each amount stands after its name and an equals sign."""
    if text is None:
        return None
    found = {field: re.search(rf"{name} *= *([0-9.A-Za-z]+)", text) for name, field in _AMOUNTS.items()}
    return {field: match[1] for field, match in found.items() if match}


def spelled(amounts: Fields | None) -> str | None:
    """The plain spelling of what v1alpha1 can say; None if that is nothing."""
    said = [f"{name}={amounts[field]}" for name, field in _AMOUNTS.items() if field in (amounts or {})]
    return ",".join(said) if said else None


_AMOUNTS = {"cpu": "cpu", "mem": "memory"}


def tenant_after(before: Document, seen: Document, changed: Document) -> Document:
    version = before["apiVersion"].rpartition("/")[2]
    judge = _tenant_old if version == "v1alpha1" else _tenant_new
    parts = {name: judge(name, before.get(name), seen.get(name), changed.get(name)) for name in ("spec", "status")}
    return _at(changed, version, parts)


def _tenant_old(part: str, before: Fields | None, seen: Fields | None, changed: Fields | None) -> Fields | None:
    """v1alpha1 after an edit at v1: its spelling of an amount stands while v1's amounts stand."""
    if changed is None:
        return None
    was, now = seen or {}, changed
    after = _TENANT_DOWN[part](now) or {}
    text = "quota" if part == "spec" else "used"
    if before and spelled(was.get(text)) == spelled(now.get(text)):
        after = _have({**after, text: before.get(text)})
    return _have({**after, "costCentre": (before or {}).get("costCentre")})


def _tenant_new(part: str, before: Fields | None, seen: Fields | None, changed: Fields | None) -> Fields | None:
    """v1 after an edit at v1alpha1: what v1alpha1 cannot say stands."""
    if changed is None:
        return None
    old, was = before or {}, seen or {}
    after = _TENANT_UP[part](changed) or {}
    amounts, text = ("quota", "quota") if part == "spec" else ("used", "used")
    if was.get(text) == changed.get(text):
        after.pop(amounts, None)
        after |= {amounts: old[amounts]} if amounts in old else {}
    else:
        unsaid = {name: value for name, value in old.get(amounts, {}).items() if name not in ("cpu", "memory")}
        merged = {**after.get(amounts, {}), **unsaid}
        after |= {amounts: merged} if merged else {}
    if part == "status":
        return after | {name: old[name] for name in ("observedGeneration", "conditions") if name in old}
    if before is not None and was.get("class") == changed.get("class"):
        after |= {"tier": old["tier"]}
    if "owners" in changed:
        known = {owner["name"]: owner for owner in old.get("owners", ())}
        after["owners"] = [known.get(owner["name"], owner) for owner in after["owners"]]
    return after | {name: old[name] for name in ("suspended", "network") if name in old}


def widget_read(document: Document) -> Document:
    spec = document.get("spec")
    if document["apiVersion"].endswith("v1alpha1"):
        return _at(document, "v1", {"spec": _widget_up(spec), "status": document.get("status")})
    return _at(document, "v1alpha1", {"spec": _widget_down(spec), "status": document.get("status")})


SIZES = {"small": 1, "large": 5, None: 3}
"""How many replicas a size means; no size is v1's default."""


def size(replicas: int) -> str:
    return "large" if replicas >= 5 else "small"


def _widget_up(old: Fields | None) -> Fields | None:
    if old is None:
        return None
    return _have({"image": old.get("image"), "tier": "bronze", "resources": {"replicas": SIZES[old.get("size")]}})


def _widget_down(new: Fields | None) -> Fields | None:
    return None if new is None else _have({"image": new.get("image"), "size": size(new["resources"]["replicas"])})


def widget_after(before: Document, seen: Document, changed: Document) -> Document:
    version = before["apiVersion"].rpartition("/")[2]
    judge = _widget_old if version == "v1alpha1" else _widget_new
    spec = judge(before.get("spec"), seen.get("spec"), changed.get("spec"))
    return _at(changed, version, {"spec": spec, "status": changed.get("status")})


def _widget_old(before: Fields | None, seen: Fields | None, changed: Fields | None) -> Fields | None:
    """v1alpha1 after an edit at v1. An object that named no size goes on naming none while it would still be small;

    but 1 replica is what small means, and no size does not.
    """
    if changed is None:
        return None
    replicas = changed["resources"]["replicas"]
    said = _widget_down(changed) or {}
    nameless = before is not None and "size" not in before
    if nameless and (replicas == 3 or (size(replicas) == "small" and replicas != 1)):
        said.pop("size")
    return said


def _widget_new(before: Fields | None, seen: Fields | None, changed: Fields | None) -> Fields | None:
    """v1 after an edit at v1alpha1: the number of replicas stands while the size stands."""
    if changed is None:
        return None
    after = _widget_up(changed) or {}
    if before is None or seen is None:
        return after
    kept = {"tier": before["tier"]}
    if seen.get("size") == changed.get("size"):
        kept["resources"] = before["resources"]
    return after | kept


READ: Mapping[str, Callable[[Document], Document]] = {"tenant": tenant_read, "widget": widget_read}
AFTER: Mapping[str, Callable[[Document, Document, Document], Document]] = {
    "tenant": tenant_after,
    "widget": widget_after,
}


def settled(schema: Mapping[str, Any], document: Document) -> Document:
    """An object as a client sees it: sorted, pruned, nulls dropped."""
    return model.pruned(schema, document)
