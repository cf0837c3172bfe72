"""The edge of a migration: does what the dialogue about a CRD asks for, and tells it what came of it and when.

No decision is taken here. A pass may be killed before or after any action; ``observer`` is told of both, so that a test
can stand at each boundary.
"""

from __future__ import annotations

import asyncio
import datetime
import time
from collections.abc import Sequence
from typing import Any, Protocol

from instar import errors
from instar.controllers import course, lease, listing, servers, sweep, writer
from instar.kube import client as kube_client
from instar.kube import etcd as kube_etcd
from instar.migration import actions, evidence, gate, one_pass, settings, traces
from instar.migration import object as object_dialogue
from instar.model import crd as crd_model
from instar.model import resource as resource_model

__all__ = ["Observer", "run"]


class Observer(Protocol):
    """Stands at the boundaries of a pass."""

    async def before(self, action: actions.Action[Any]) -> None:
        """An action is about to be taken."""

    async def after(self, action: actions.Action[Any], outcome: Any) -> None:
        """It was taken."""


async def run(
    client: kube_client.Client,
    crd: str,
    chosen: settings.Settings | None = None,
    *,
    progress: sweep.Progress | None = None,
    gates: Sequence[gate.Gate] = gate.GATES,
    observer: Observer | None = None,
    follow: bool = True,
) -> evidence.Evidence:
    """Migrate one CRD and return the Evidence, however it ended.

    ``gates`` and ``follow`` are for tests that show what a gate, or following changes, keeps from happening. Raises
    UsageError (no such CRD), ApiError (no permission, named) and UnreachableError. Cancelling leaves every object whole
    and nothing trimmed: run again.
    """
    chosen = chosen or settings.Settings()
    edge = _Edge(client, crd, chosen, progress or sweep.Silent(), follow=follow)
    dialogue = one_pass.over(crd, chosen, gates)
    try:
        action = next(dialogue)
        while True:
            if observer is not None:
                await observer.before(action)
            outcome = await edge.act(action)
            if observer is not None:
                await observer.after(action, outcome)
            at = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
            action = dialogue.send(actions.Told(value=outcome, now=time.monotonic(), at=at))
    except StopIteration as end:
        result: evidence.Evidence = end.value
        return result
    finally:
        await asyncio.shield(edge.close())


class _Edge:
    def __init__(
        self,
        client: kube_client.Client,
        crd: str,
        chosen: settings.Settings,
        progress: sweep.Progress,
        *,
        follow: bool,
    ) -> None:
        self._client = client
        self._crd = crd
        self._chosen = chosen
        self._progress = progress
        self._follow = follow
        self._servers = servers.ApiServers(client, chosen.servers)
        self._urls: tuple[str, ...] = ()
        self._lease: lease.Lease | None = None
        self._said: tuple[str, ...] = ()
        self._settling = False

    async def close(self) -> None:
        await self._servers.close()
        if self._lease is not None:
            await self._lease.release()

    async def act(self, action: actions.Action[Any]) -> Any:
        match action:
            case actions.ReadCrd():
                return await self._read(action.name)
            case actions.Lock():
                return await self._lock(action.uid)
            case actions.LockCheck():
                return self._lease is not None and await self._lease.check()
            case actions.AskServers():
                return await self._ask(action)
            case actions.Wait():
                return await self._wait(action)
            case actions.Count():
                return await listing.count(self._client, action.resource)
            case actions.ReadCarried():
                return await self._read_carried(action.resource, action.versions)
            case actions.ReadBytes():
                return await self._read_bytes(action.resource)
            case actions.Trim():
                return await self._trim(action)
            case _:
                return await self._sweep(action)

    # --- the CRD ------------------------------------------------------------------------------------------------------

    async def _read(self, name: str) -> crd_model.Crd | None:
        try:
            return crd_model.parse(await self._client.get(crd_model.RESOURCE, name))
        except errors.ApiError as error:
            if error.code == 404:
                return None
            raise

    async def _trim(self, action: actions.Trim) -> actions.Trimmed:
        try:
            document = await self._client.patch(
                crd_model.RESOURCE, action.name, list(action.patch), patch_type="json", subresource="status"
            )
        except errors.ApiError as error:
            if error.code in (404, 409, 422):
                return actions.Trimmed(refused=error.message)
            raise
        return actions.Trimmed(stored_versions=crd_model.parse(document).stored_versions)

    async def _lock(self, uid: str) -> str:
        if self._lease is not None:
            await self._lease.release()
        self._lease = lease.Lease(self._client, self._chosen.lease_namespace, uid, self._chosen.lease_seconds)
        return await self._lease.take()

    # --- servers and waiting ------------------------------------------------------------------------------------------

    async def _ask(self, action: actions.AskServers) -> evidence.ServersSeen:
        seen = await self._servers.ask(action.crd, fresh=action.fresh)
        self._urls = tuple(server.url for server in seen.servers if server.steady_since is not None)
        return seen

    async def _wait(self, action: actions.Wait) -> None:
        if action.left_seconds:
            if not self._settling:
                self._progress.begin(self._crd, "settle", round(self._chosen.settle_seconds))
            self._settling = True
            done = self._chosen.settle_seconds - action.left_seconds
            self._progress.advance(self._crd, round(done), round(self._chosen.settle_seconds))
        elif action.reasons != self._said:
            self._progress.note(self._crd, "waiting: " + "; ".join(action.reasons))
            self._said = action.reasons
        await asyncio.sleep(action.seconds)

    # --- the objects --------------------------------------------------------------------------------------------------

    async def _sweep(self, action: actions.Action[Any]) -> evidence.Scan:
        canaries = writer.Canaries(self._urls if isinstance(action, actions.Rewrite) else ())
        phase, task, resource = self._task(action, canaries)
        writes = writer.Writer(self._client, resource, patience_seconds=self._chosen.timeout_seconds, canaries=canaries)
        self._progress.begin(self._crd, phase, None)
        sweeper = sweep.Sweep(
            self._client,
            resource,
            writes,
            concurrency=self._chosen.concurrency,
            on_progress=lambda done, total: self._progress.advance(self._crd, done, total),
        )
        scan = await sweeper.run(task)
        return evidence.with_canaries(scan, frozenset(canaries.confirmed))

    def _task(
        self, action: actions.Action[Any], canaries: writer.Canaries
    ) -> tuple[str, course.Task, resource_model.Resource]:
        match action:
            case actions.Rewrite(resource=resource, going=going) if going.named:
                body = traces.body_of_rewrite(resource.group, going, resource.api_version)
                task = course.Task(
                    talk=lambda item: self._rewriting_both(item, body, canaries), traces=True, name_moved=False
                )
                return "rewrite", task, resource
            case actions.Rewrite(resource=resource):
                return "rewrite", course.Task(talk=self._rewriting, name_moved=False), resource
            case actions.CatchUp(resource=resource, mark=mark, known=known):
                return "catch up", course.Task(talk=self._rewriting, mark=mark, known=known), resource
            case actions.Prove(resource=resource):
                task = course.Task(talk=self._proving, at_last=self._proving_at_last, follow=self._follow)
                return "proof", task, resource
            case actions.Recheck(resource=resource, mark=mark, known=known):
                task = course.Task(talk=self._proving, at_last=self._proving_at_last, mark=mark, known=known)
                return "re-check", task, resource
            case actions.Clean(resource=resource, going=going):
                body = traces.body(resource.group, going, resource.api_version)
                task = course.Task(talk=self._cleaning(body), at_last=self._cleaning(body), traces=True)
                return "managedFields", task, resource
        raise errors.InternalError(f"a pass asked for {action!r}, which nobody does")

    def _rewriting(self, item: object_dialogue.Item) -> object_dialogue.Dialogue:
        return object_dialogue.touch(item, attempts=self._chosen.attempts, insist=True)

    def _rewriting_both(
        self, item: object_dialogue.Item, body: object_dialogue.Body, canaries: writer.Canaries
    ) -> object_dialogue.Dialogue:
        """The object and its managedFields in one write; but a canary must move only if the object is old."""
        if canaries.pending:
            return self._rewriting(item)
        return object_dialogue.touch(item, attempts=self._chosen.attempts, body=body, kind="json", insist=True)

    def _proving(self, item: object_dialogue.Item) -> object_dialogue.Dialogue:
        return object_dialogue.touch(item, attempts=self._chosen.proof_attempts)

    def _proving_at_last(self, item: object_dialogue.Item) -> object_dialogue.Dialogue:
        return object_dialogue.touch(item, attempts=self._chosen.proof_attempts, insist=True)

    def _cleaning(self, body: object_dialogue.Body) -> course.Talk:
        """Its patch says which entries there were, so it can only land on the object as it was seen."""
        return lambda item: object_dialogue.touch(item, attempts=self._chosen.proof_attempts, body=body, kind="json")

    async def _read_carried(self, resource: resource_model.Resource, versions: frozenset[str]) -> evidence.Carried:
        source = listing.Listing(self._client, resource, traces=True)
        counting = evidence.CarriedCount(versions)
        async for batch in source.batches():
            for item in batch:
                if not item.resource_version:
                    source.error = source.error or f"{item.namespace}/{item.name} cannot be read"
                counting.add(f"{item.namespace}/{item.name}".lstrip("/"), item.carried)
        return counting.total(source.error)

    async def _read_bytes(self, resource: resource_model.Resource) -> evidence.StoredBytes:
        counted: dict[str, int] = {}
        others: list[evidence.Finding] = []
        async with kube_etcd.Etcd(self._chosen.etcd) as reader:
            async for stored in reader.stored(resource):
                counted[stored.api_version] = counted.get(stored.api_version, 0) + 1
                if stored.api_version not in ("", resource.api_version) and len(others) < evidence.FINDINGS_KEPT:
                    others.append(_old_bytes(stored))
        return evidence.StoredBytes(
            by_version={name: count for name, count in counted.items() if name},
            unreadable=counted.get("", 0),
            others=tuple(others),
        )


def _old_bytes(stored: kube_etcd.Stored) -> evidence.Finding:
    return evidence.Finding(
        namespace=stored.namespace,
        name=stored.name,
        reason="StoredAtOldVersion",
        message=f"etcd holds it at {stored.api_version} (revision {stored.mod_revision})",
    )
