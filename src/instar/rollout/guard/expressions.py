"""What the guard says to the API server in CEL: which carried annotations a write may change, and which it may not.

An admission policy sees the object and the one it replaces at the version of the request, so what is carried on both is
for the other versions. Conversion changes it too: within a server-side apply, and around a mutating webhook of another
version. So what a client *sent* is taken from where the API server writes that down: an entry of ``managedFields``
that is new in this request and owns the annotation. Conversion owns nothing (measured on 1.37.2).

A client can tamper with ``managedFields``. So what concerns the status, to which a writer of the main resource has no
right, does not rest on it: unless the write is refused, that is the old object's again, as the status itself is.

===========  ==========================================================================================================
changed      its text is not that of the old object, or the old object lacks it
lost         the old object has it, this one not
replaced     nothing carried is left as it was: whoever wrote this sent annotations of their own. One that deletes
             entries on purpose leaves the view
altered      entries that a client sent: refused
back         what was lost and is put back
undone       what was changed and becomes the old object's again, or goes: views, garbage, another kind's entries
restored     what is taken from the old object, lost or undone
removed      what was undone and was not there
===========  ==========================================================================================================

Source: https://kubernetes.io/docs/reference/using-api/cel/
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from instar.rollout.guard.plan import Guard

__all__ = ["changes_ours", "is_not_exempt", "nothing_altered", "nothing_lost", "operations", "variables"]

HELD = "(oldObject == null ? {} : oldObject.metadata.?annotations.orValue({}))"
SHOWN = "object.metadata.?annotations.orValue({})"
RECORDED = "(oldObject == null ? [] : oldObject.metadata.?managedFields.orValue([]))"
OWNS = "('f:' + k) in m.?fieldsV1[?'f:metadata'][?'f:annotations'].orValue({})"
MANAGER = "request.options.?fieldManager.orValue('')"
SENT = f"variables.writers.exists(m, {OWNS})"
APPLIED = f"{RECORDED}.exists(m, m.operation == 'Apply' && m.manager == {MANAGER} && {OWNS})"
LATEST = (
    "!variables.writers.exists(n, n.operation == 'Update' && n.manager == m.manager "
    "&& n.?time.orValue('') > m.?time.orValue(''))"
)
"""A patch shows its options as those of an update, so an apply is known by what it left in managedFields (measured)."""
ENTRY = r"^\[([0-9]+,)?"
VIEW = "k.endsWith('.view')"
DIGEST = "variables.shown[k].matches('^[0-9a-f]{32}$')"


def is_not_exempt(guard: Guard) -> str:
    """True for every user but those that are exempt."""
    return f"!(request.userInfo.username in [{', '.join(map(_quoted, guard.exempt))}])"


def changes_ours(guard: Guard) -> str:
    """True for a write that changes a carried annotation: every other one costs no more than this."""
    ours = f"k.startsWith({_quoted(guard.prefix)})"
    lost = f"{HELD}.exists(k, {ours} && !(k in {SHOWN}))"
    changed = f"{SHOWN}.exists(k, {ours} && (!(k in {HELD}) || {HELD}[k] != {SHOWN}[k]))"
    return f"{lost} || {changed}"


def variables(guard: Guard, *names: str) -> Mapping[str, str]:
    """The expressions that those of these names are made of, and they themselves, in the order of their use."""
    found = _variables(guard)
    wanted = set(names)
    for name in reversed(found):
        if name in wanted:
            wanted.update(other for other in found if f"variables.{other}" in found[name])
    return {name: expression for name, expression in found.items() if name in wanted}


def _variables(guard: Guard) -> dict[str, str]:
    ours = f"k.startsWith({_quoted(guard.prefix)})"
    return {
        "held": HELD,
        "shown": SHOWN,
        "writers": f"object.metadata.?managedFields.orValue([]).filter(m, !(m in {RECORDED}))",
        "applies": f"variables.writers.exists(m, m.operation == 'Apply' && m.manager == {MANAGER} && {LATEST})",
        "changed": f"variables.shown.filter(k, {ours} && "
        "(!(k in variables.held) || variables.held[k] != variables.shown[k]))",
        "lost": f"variables.held.filter(k, {_known(guard)} && !(k in variables.shown))",
        "replaced": f"!variables.held.exists(k, {ours} && k in variables.shown && "
        "variables.held[k] == variables.shown[k])",
        "altered": _altered(guard) if guard.mutating else _altered_for_good(guard),
        "back": f"variables.lost.filter(k, {_status(guard, 'held')} || "
        f"variables.replaced && (!variables.applies || {APPLIED}))",
        "undone": f"variables.changed.filter(k, {_undone(guard)})",
        "restored": "variables.back + variables.undone.filter(k, k in variables.held)",
        "removed": "variables.undone.filter(k, !(k in variables.held))",
    }


def _altered(guard: Guard) -> str:
    return f"oldObject == null ? [] : variables.changed.filter(k, !{VIEW} && {_entry(guard)} && {SENT})"


def _altered_for_good(guard: Guard) -> str:
    """Where nothing can be undone, what concerns the status and what conversion cannot have written is refused too."""
    status = _status(guard, "shown")
    updated = f"{SENT} || !variables.applies && {status}"
    entry = f"{_entry(guard)} && (oldObject == null ? {status} : ({updated}))"
    return f"variables.changed.filter(k, !{VIEW} && ({entry} || !{_entry(guard)} && !{_of_another_kind(guard)}))"


def _undone(guard: Guard) -> str:
    entry, status = _entry(guard), _status(guard, "shown")
    kept = f"{status} ? oldObject != null && {SENT} : {entry}"
    return f"{VIEW} ? !{DIGEST} || oldObject != null && {SENT} : !({kept})"


def operations() -> str:
    """The JSON patch that puts back what was lost and undoes what may not stay; no empty map is left behind."""
    whole = "path: '/metadata/annotations'"
    each = "path: '/metadata/annotations/' + jsonpatch.escapeKey(k)"
    nothing_left = "size(variables.restored) == 0 && size(variables.removed) == size(variables.shown)"
    emptied = f"(size(variables.shown) == 0 ? [] : [JSONPatch{{op: 'remove', {whole}}}])"
    first = f"(has(object.metadata.annotations) ? [] : [JSONPatch{{op: 'add', {whole}, value: {{}}}}])"
    added = f"variables.restored.map(k, JSONPatch{{op: 'add', {each}, value: variables.held[k]}})"
    removed = f"variables.removed.map(k, JSONPatch{{op: 'remove', {each}}})"
    return f"{nothing_left} ? {emptied} : {first} + {added} + {removed}"


def nothing_altered(guard: Guard) -> tuple[str, str]:
    """A validation and its message: no client sent an entry that differs."""
    what = "(k in variables.held ? ' is not what it was' : ' was not there')"
    remedy = (
        "only conversion writes it. Read the object again and leave this annotation as it is, or send none that "
        f"begins with {guard.prefix}: instar convert --strip-carried cleans a manifest"
    )
    message = (
        f"{_named(guard)} + [variables.altered[0]].map(k, ': annotation ' + k + {what})[0] + {_quoted(': ' + remedy)}"
    )
    return "size(variables.altered) == 0", message


def nothing_lost(guard: Guard) -> tuple[str, str]:
    """A validation and its message where nothing can be put back: nothing carried is lost."""
    remedy = (
        " is missing: it carries what this version cannot say. Read the object, and write it back with its annotations "
        f"(those that begin with {guard.prefix}); or use a patch or an apply, which leaves them alone"
    )
    message = f"{_named(guard)} + ': annotation ' + variables.back[0] + {_quoted(remedy)}"
    return "size(variables.back) == 0", message


def _named(guard: Guard) -> str:
    """``Tenant default/acme``; an object that is created may have no name yet."""
    name = "request.?name.orValue(object.metadata.?generateName.orValue('') + '*')"
    return f"'{guard.kind} ' + " + (f"request.namespace + '/' + {name}" if guard.namespaced else name)


def _known(guard: Guard) -> str:
    """A key that this conversion writes; what is carried for a version that is gone may go."""
    starts = (f"k.startsWith({_quoted(f'{guard.prefix}{version}.')})" for version in guard.versions)
    return f"({' || '.join(starts)})"


def _entry(guard: Guard) -> str:
    """A text that conversion writes for this kind, in this format or a later one."""
    return _matches("shown", _kind(guard) + r'"/[^/"\[\\]+[/"\[]')


def _status(guard: Guard, which: str) -> str:
    """Such a text that carries something of the status."""
    return _matches(which, _kind(guard) + r'"/status[/"\[]') if guard.status else "false"


def _of_another_kind(guard: Guard) -> str:
    """A text that is surely no entry of this kind: conversion drops it. Controllers copy annotations to other kinds."""
    anyone = _matches("shown", ENTRY + r'"[^"\\]+",')
    return f"({anyone} && !{_matches('shown', _kind(guard))})"


def _kind(guard: Guard) -> str:
    return f'{ENTRY}"{re.escape(guard.kind)}",'


def _matches(which: str, pattern: str) -> str:
    return f"variables.{which}[k].matches(r'{pattern}')"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
