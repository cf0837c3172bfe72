"""The five ways to write, through one version, each entered into the ledger when it was acknowledged and not before.

An update is read, change, put back, guarded by the resource version: exactly what a controller does. A server-side
apply names the uid, because without one it would make an object anew that somebody has just deleted.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import Any

from instar import errors
from instar.demo import caller as caller_module
from instar.demo import edits
from instar.demo import ledger as ledger_module
from instar.model import resource as resource_model

__all__ = ["EDITS", "Made", "Verbs", "merged"]

EDITS = ("update", "patch", "apply")
ATTEMPTS = 20


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """An object that a client can write to; ``passing`` ones may be deleted by any client at any time."""

    key: resource_model.ObjectKey
    uid: str
    passing: bool


class Verbs:
    """One version's writes; ``acknowledged`` counts them by verb."""

    def __init__(self, caller: caller_module.Caller, ledger: ledger_module.Ledger) -> None:
        self.caller = caller
        self.version = caller.resource.version
        self.acknowledged: Counter[str] = Counter()
        self._ledger = ledger

    async def create(self, namespace: str, number: int) -> Made:
        """A new object with every field that the version knows."""
        edit = edits.create(self.version, number)
        name = f"client-{self.version}-{number}"
        body = self._object(edit.body, {"name": name, "namespace": namespace})
        answer = await self.caller.create(namespace, body)
        made = Made(
            key=resource_model.ObjectKey(namespace=namespace, name=name), uid=answer["metadata"]["uid"], passing=True
        )
        self._note("create", made, answer, edit)
        return made

    async def edit(self, verb: str, made: Made, number: int) -> None:
        """An update, patch or apply, again after each conflict; nothing if another client has deleted the object."""
        edit = edits.change(self.version, verb, number)
        for attempt in range(ATTEMPTS):
            try:
                answer = await self._once(verb, made, edit)
            except errors.ApiError as error:
                if error.code == 404 and made.passing:
                    return
                if error.code != 409 or attempt == ATTEMPTS - 1:
                    raise
                if made.passing and await self._gone(made):
                    return
            else:
                self._note(verb, made, answer, edit)
                return

    async def delete(self, made: Made) -> None:
        """A delete of an object that nobody else deletes."""
        await self.caller.delete(made.key)
        self._ledger.deleted(made.uid)
        self.acknowledged["delete"] += 1

    async def _once(self, verb: str, made: Made, edit: edits.Edit) -> dict[str, Any]:
        if verb == "update":
            seen = await self.caller.get(made.key)
            return await self.caller.update(made.key, merged(seen, edit.body))
        if verb == "patch":
            return await self.caller.patch(made.key, edit.body)
        body = self._object(edit.body, {"name": made.key.name, "namespace": made.key.namespace, "uid": made.uid})
        return await self.caller.apply(made.key, body)

    async def _gone(self, made: Made) -> bool:
        try:
            await self.caller.get(made.key)
        except errors.ApiError as error:
            if error.code == 404:
                return True
            raise
        return False

    def _object(self, body: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
        resource = self.caller.resource
        head = {"apiVersion": resource.api_version, "kind": resource.kind}
        return merged({**head, "metadata": dict(metadata)}, body)

    def _note(self, verb: str, made: Made, answer: Mapping[str, Any], edit: edits.Edit) -> None:
        revision = int(answer["metadata"]["resourceVersion"])
        self._ledger.wrote(made.key, answer["metadata"]["uid"], revision, edit.effect)
        self.acknowledged[verb] += 1


def merged(target: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of ``target`` with ``patch`` merged in as a merge patch is: maps deeply, None takes away."""
    result = dict(target)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping):
            inner = result.get(key)
            result[key] = merged(inner if isinstance(inner, Mapping) else {}, value)
        else:
            result[key] = value
    return result
