"""Clients that go on writing while the storage version moves under them, through the old version and the new one.

Each version has a few workers, and all of them write to the same objects. Which object and which verb comes next is
drawn from a seeded generator. A write that is refused (anything but "try again") is a failure: the demo is about
clients that notice nothing.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Mapping, Sequence

from instar import errors
from instar.demo import caller as caller_module
from instar.demo import ledger as ledger_module
from instar.demo import verbs as verbs_module
from instar.report import run

__all__ = ["Writers"]

VERBS = ("create", *verbs_module.EDITS, "delete")
WEIGHTS = (10, 25, 30, 25, 10)
WRITES_PER_SECOND = 5.0
"""Of all workers of one version together: enough to meet every phase, too few to be what the machine works at."""
LOOK_SECONDS = 0.1
PASSING_SHARE = 0.15
"""How often a write goes to an object that a client made, and may delete at any moment."""


class Writers:
    """The workers of every version, the objects that they share, and what they were answered.

    They write at a steady pace, and without a pause while ``behind`` says that a version is.
    """

    def __init__(
        self,
        callers: Sequence[caller_module.Caller],
        ledger: ledger_module.Ledger,
        shared: Sequence[verbs_module.Made],
        *,
        behind: Callable[[str], bool] = lambda version: False,
        workers: int = 20,
        seed: int = 1,
    ) -> None:
        self._verbs = {caller.resource.version: verbs_module.Verbs(caller, ledger) for caller in callers}
        self._failures: dict[str, list[str]] = {version: [] for version in self._verbs}
        self._tasks: dict[str, list[asyncio.Task[None]]] = {}
        self._stopping: set[str] = set()
        self._shared = list(shared)
        self.made: list[verbs_module.Made] = []
        self._behind, self._workers, self._seed, self._number = behind, workers, seed, 0

    def start(self) -> None:
        """Let every worker of every version begin."""
        for version in self._verbs:
            self._tasks[version] = [
                asyncio.create_task(self._work(version, random.Random(f"{self._seed} {version} {worker}")))
                for worker in range(self._workers)
            ]

    async def stop(self) -> None:
        """Let every worker finish the write that it is at, and end."""
        self._stopping.update(self._verbs)
        await asyncio.gather(*self._all())
        self._tasks.clear()

    async def close(self) -> None:
        """End them at once, whatever they are at."""
        tasks = self._all()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._tasks.clear()

    def acknowledged(self) -> dict[str, int]:
        """Acknowledged writes so far, by version."""
        return {version: verbs.acknowledged.total() for version, verbs in self._verbs.items()}

    def count(self, verb: str) -> int:
        """Acknowledged writes of one verb through all versions."""
        return sum(verbs.acknowledged[verb] for verbs in self._verbs.values())

    def writes(self, begin: Mapping[str, int], end: Mapping[str, int]) -> dict[str, run.Writes]:
        """What the report says of each version's clients; ``begin`` and ``end`` are counts around the rewrite."""
        return {
            version: run.Writes(
                acknowledged={verb: verbs.acknowledged[verb] for verb in VERBS},
                during_rewrite=end.get(version, 0) - begin.get(version, 0),
                retried={code: verbs.caller.retried[code] for code in ("409", "429", "503")},
                failures=tuple(self._failures[version]),
            )
            for version, verbs in self._verbs.items()
        }

    def _all(self) -> list[asyncio.Task[None]]:
        return [task for group in self._tasks.values() for task in group]

    async def _work(self, version: str, draw: random.Random) -> None:
        pause = self._workers / WRITES_PER_SECOND
        while version not in self._stopping:
            began = asyncio.get_running_loop().time()
            verb = draw.choices(VERBS, WEIGHTS)[0]
            try:
                await self._write(self._verbs[version], verb, draw)
            except errors.ClusterError as error:
                self._failures[version].append(f"{verb} through {version}: {error.message}")
            await self._rest(version, began + pause * draw.uniform(0.6, 1.4))

    async def _rest(self, version: str, until: float) -> None:
        """Until then, or until the version is behind, or the end."""
        left = until - asyncio.get_running_loop().time()
        for _ in range(math.ceil(left / LOOK_SECONDS)):
            if self._behind(version) or version in self._stopping:
                return
            await asyncio.sleep(LOOK_SECONDS)

    async def _write(self, verbs: verbs_module.Verbs, verb: str, draw: random.Random) -> None:
        self._number += 1
        number = self._number
        if verb == "create" or (verb == "delete" and not self.made):
            namespace = draw.choice(self._shared).key.namespace
            self.made.append(await verbs.create(namespace, number))
        elif verb == "delete":
            await verbs.delete(self.made.pop(draw.randrange(len(self.made))))
        else:
            passing = self.made and draw.random() < PASSING_SHARE
            await verbs.edit(verb, draw.choice(self.made if passing else self._shared), number)
