"""The objects that were there before: made through the old version alone, as two years of use would have."""

from __future__ import annotations

from collections.abc import Callable

from instar.controlplane import namespaces
from instar.demo import caller as caller_module
from instar.demo import crowd, edits, world
from instar.demo import verbs as verbs_module
from instar.model import resource as resource_model

__all__ = ["create"]

MANAGER = "team-pipeline"


async def create(here: world.World, objects: int, progress: Callable[[int], None]) -> list[verbs_module.Made]:
    """So many objects over a few namespaces, entered into the ledger."""
    for namespace in world.NAMESPACES:
        await namespaces.create(here.client, namespace)
    caller = here.caller(world.OLD, MANAGER)

    async def one(number: int) -> verbs_module.Made:
        return await _create(here, caller, number)

    return await crowd.each(range(objects), one, progress)


async def _create(here: world.World, caller: caller_module.Caller, number: int) -> verbs_module.Made:
    edit = edits.create(world.OLD, number)
    namespace, name = world.NAMESPACES[number % len(world.NAMESPACES)], f"tenant-{number:05}"
    body = {
        "apiVersion": caller.resource.api_version,
        "kind": caller.resource.kind,
        **verbs_module.merged({"metadata": {"name": name, "namespace": namespace}}, edit.body),
    }
    answer = await caller.create(namespace, body)
    key = resource_model.ObjectKey(namespace=namespace, name=name)
    metadata = answer["metadata"]
    here.book.wrote(key, metadata["uid"], int(metadata["resourceVersion"]), edit.effect)
    return verbs_module.Made(key=key, uid=metadata["uid"], passing=False)
