"""The acts of the demo, one method for each: what is done, and what is measured to show that it is done.

One object that is changed by its acts, because each builds on what those before it left in the cluster.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import datetime
import json
import pathlib
from collections.abc import AsyncIterator, Mapping, Sequence

from instar import errors
from instar.demo import (
    checking,
    judging,
    migrating,
    outcome,
    recorder,
    sampling,
    seeding,
    stages,
    tenant,
    wording,
    world,
    writers,
)
from instar.demo import verbs as verbs_module
from instar.migration import evidence
from instar.model import crd as crd_model
from instar.report import numbers, run
from instar.serving import local

__all__ = ["Options", "Story"]

LEAD_SECONDS = 2.0
"""How long clients have been writing when the storage version flips."""
SPARE = 0.11
"""How many writes of each version clients aim at for each object that is rewritten: some more than is wanted."""
SHARED_SHARE, SHARED_LEAST = 20, 40
"""One in so many objects gets all the clients' edits, few enough that both versions meet on each; but so many at least,
or no read of one would ever be followed by a write before the next edit."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """What a person may choose."""

    objects: int = 6000
    settle_seconds: float = 60.0
    report: pathlib.Path = pathlib.Path("build/demo")


class Story:
    """One run of the demo on a control plane; ``scenario`` calls the acts in their order."""

    def __init__(self, here: world.World, options: Options) -> None:
        self._here, self._options = here, options
        self._began = datetime.datetime.now(datetime.UTC)
        self._seeded: list[verbs_module.Made] = []
        self._writers = writers.Writers((), here.book, ())
        self._rewriting = migrating.Rewriting(acknowledged=self._acknowledged)
        self._before: Mapping[str, int] = {}
        self._evidence: evidence.Evidence | None = None
        self._verdicts: list[judging.Verdict] = []
        self._checked = checking.Outcome(passed=0, failures=())
        self.sampler = sampling.Sampler(
            client=here.client,
            etcd=here.etcd,
            resource=here.resource(world.NEW),
            crd=here.api.name,
            elapsed=here.recorder.elapsed,
            acknowledged=self._acknowledged,
        )

    # --- the old world ------------------------------------------------------------------------------------------------

    async def ship(self) -> None:
        """The API as it was first released."""
        with self._step("ship", f"Ship {self._here.api.name} with {world.OLD} alone") as step:
            crd = await stages.create(self._here.client, stages.shipped(self._here.document, world.OLD))
            step.proof(
                f"served and stored: {wording.words(crd_model.served_versions(crd))}; {wording.stored_versions(crd)}"
            )

    async def create(self) -> None:
        """The objects that two years of use left behind."""
        total = self._options.objects
        with self._step("create", f"Create {numbers.count(total)} objects through {world.OLD}") as step:
            began = self._here.recorder.elapsed()
            self._seeded = await seeding.create(self._here, total, lambda done: step.progress("created", done, total))
            took = self._here.recorder.elapsed() - began
            self._before = await self.sampler.count()
            step.proof(f"{numbers.rate(total / took)}; etcd holds {wording.counts(self._before)}")

    # --- the new version beside it ------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[local.Webhook]:
        """``instar serve`` with the example's converter, for the length of an ``async with``."""
        folder = self._here.folder
        async with contextlib.AsyncExitStack() as stack:
            with self._step("serve", "Start the converter: instar serve") as step:
                webhook = local.start(folder / "conversion.py", folder / "crd.yaml")
                running = await stack.enter_async_context(webhook)
                step.proof(f"{running.url}, TLS by an authority of its own, process {running.pid}")
            yield running

    async def expand(self, webhook: local.Webhook) -> None:
        """The new version is served; the old one is still where objects are stored."""
        with self._step("expand", f"Serve {world.NEW} beside {world.OLD}") as step:
            await self._change({"spec": {"conversion": webhook.conversion}})
            crd = await self._change(self._versions(served=(world.OLD, world.NEW), storage=world.OLD))
            step.proof(
                f"served: {wording.words(crd_model.served_versions(crd))}; stored: {crd_model.storage_version(crd)}"
            )
            step.proof(await self._both_ways(self._seeded[0]))

    async def _both_ways(self, made: verbs_module.Made) -> str:
        texts = []
        for version in (world.OLD, world.NEW):
            seen = await self._here.caller(version, "").get(made.key)
            texts.append(f"{version} {json.dumps(seen['spec'][tenant.SHOWN], ensure_ascii=False)}")
        return f"{made.key} spec.{tenant.SHOWN}: {' = '.join(texts)}"

    @contextlib.asynccontextmanager
    async def writing(self) -> AsyncIterator[None]:
        """Clients write through both versions for the length of an ``async with``."""
        callers = [self._here.caller(version, f"client-{version}") for version in (world.OLD, world.NEW)]
        stride = min(SHARED_SHARE, len(self._seeded) // SHARED_LEAST) or 1
        self._writers = writers.Writers(callers, self._here.book, self._seeded[::stride], behind=self._behind)
        with self._step("clients", "Let clients write through both versions") as step:
            self._writers.start()
            await asyncio.sleep(LEAD_SECONDS)
            step.proof(f"acknowledged so far: {wording.counts(self._writers.acknowledged(), 'through')}; they go on")
        try:
            yield
            await self._writers.stop()
        finally:
            await self._writers.close()

    # --- the change ---------------------------------------------------------------------------------------------------

    async def flip(self) -> None:
        """New writes are stored at the new version."""
        with self._step("flip", f"Make {world.NEW} the storage version") as step:
            crd = await self._change(self._versions(served=(world.OLD, world.NEW), storage=world.NEW))
            step.proof(f"{wording.stored_versions(crd)}; etcd holds {wording.counts(await self.sampler.count())}")

    async def migrate(self) -> None:
        """``instar migrate``, while clients go on."""
        title = f"Migrate: rewrite at {world.NEW}, settle, prove, trim"
        with self._step("migrate", title) as step:
            found = await migrating.run(
                self._here, step, settle_seconds=self._options.settle_seconds, rewriting=self._rewriting
            )
            self._evidence = found
            for line in outcome.migration_lines(found):
                step.proof(line)
            during = self._writers.writes(self._rewriting.begin, self._rewriting.end)
            meanwhile = {version: writes.during_rewrite for version, writes in during.items()}
            step.proof(f"acknowledged during the rewrite: {wording.counts(meanwhile, 'through')}")
            step.proof(f"etcd holds {wording.counts(await self.sampler.count())}")

    async def compare(self) -> None:
        """Every value against what was written, at both versions."""
        both = (world.OLD, world.NEW)
        with self._step("compare", "Compare every value with what clients were told was written") as step:
            step.proof(await self._judge(both))

    # --- the old version goes -----------------------------------------------------------------------------------------

    async def unserve(self) -> None:
        """Nobody can use the old version any more; then nothing that is stored names it."""
        with self._step("unserve", f"Stop serving {world.OLD}, and take its name out of managedFields") as step:
            await self._change(self._versions(served=(world.NEW,), storage=world.NEW))
            step.proof(f"GET at {world.OLD} is answered with {await self._answer(world.OLD)}")
            found = await migrating.run(self._here, step, settle_seconds=self._options.settle_seconds)
            step.proof(found.summary)

    async def remove(self) -> None:
        """The old version leaves the CRD, and the converter is not needed any more."""
        with self._step("remove", f"Remove {world.OLD} and the conversion") as step:
            only = stages.versions(self._here.document, (world.NEW,), (world.NEW,), world.NEW)
            crd = await self._change({"spec": only["spec"] | stages.NO_CONVERSION["spec"]})
            names = wording.words(version.name for version in crd.versions)
            step.proof(f"versions: {names}; conversion: {crd.strategy}; {wording.stored_versions(crd)}")
            carrying = await judging.carrying(self._here.etcd, self._here.resource(world.NEW))
            step.proof(f"{numbers.count(carrying)} objects still carry what only {world.OLD} could say")

    async def check(self) -> None:
        """Everything that a client may do, on every object, with the converter stopped."""
        with self._step("check", f"Get, patch and apply every object at {world.NEW}; compare again") as step:
            objects = [*self._seeded, *self._writers.made]
            verbs = verbs_module.Verbs(self._here.caller(world.NEW, "afterwards"), self._here.book)
            total = len(objects)
            self._checked = await checking.check(verbs, objects, lambda done: step.progress("checked", done, total))
            step.proof(
                f"all three succeeded on {numbers.count(self._checked.passed)} of {numbers.count(total)} objects"
            )
            step.proof(await self._judge((world.NEW,)))

    async def end(self) -> run.Run:
        """What came of it."""
        crd = crd_model.parse(await self._here.client.get(crd_model.RESOURCE, self._here.api.name))
        assert self._evidence is not None
        return outcome.of(
            outcome.Measured(
                world=self._here,
                objects=self._options.objects,
                settle_seconds=self._options.settle_seconds,
                began=self._began,
                before=self._before,
                after=await self.sampler.count(),
                crd=crd,
                evidence=self._evidence,
                verdicts=tuple(self._verdicts),
                checked=self._checked,
                created=self._writers.count("create"),
                deleted=self._writers.count("delete"),
                writes=self._writers.writes(self._rewriting.begin, self._rewriting.end),
                sampler=self.sampler,
                software={
                    "kube-apiserver": await self._here.client.server_version(),
                    "etcd": await self._here.etcd.version(),
                },
            )
        )

    # --- pieces -------------------------------------------------------------------------------------------------------

    def _behind(self, version: str) -> bool:
        """Clients keep up with the rewrite however fast the machine is, with something to spare."""
        return self._rewriting.behind(version, round(SPARE * self._options.objects))

    def _acknowledged(self) -> dict[str, int]:
        return self._writers.acknowledged()

    def _step(self, name: str, title: str) -> contextlib.AbstractContextManager[recorder.Note]:
        return self._here.recorder.step(name, title)

    async def _change(self, patch: Mapping[str, object]) -> crd_model.Crd:
        return await stages.change(self._here.client, self._here.api.name, patch)

    def _versions(self, *, served: Sequence[str], storage: str) -> dict[str, object]:
        return stages.versions(self._here.document, (world.OLD, world.NEW), served, storage)

    async def _judge(self, versions: Sequence[str]) -> str:
        resources = {version: self._here.resource(version) for version in versions}
        verdict = await judging.judge(self._here.client, self._here.etcd, resources, self._here.book, stored=world.NEW)
        self._verdicts.append(verdict)
        edits = numbers.count(self._here.book.edits)
        places = wording.words(verdict.places)
        lost = len(verdict.losses)
        return f"{numbers.count(verdict.compared)} objects, {edits} acknowledged writes, compared {places}: {lost} lost"

    async def _answer(self, version: str) -> str:
        try:
            await self._here.caller(version, "").get(self._seeded[0].key)
        except errors.ApiError as error:
            return f"{error.code} {error.reason}"
        return "200"
