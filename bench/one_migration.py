"""One migration by instar in a process of its own, so that its CPU time and memory are its own; prints numbers as JSON.

    python bench/one_migration.py KUBECONFIG CRD SETTLE_SECONDS

Imports what `instar migrate` imports and nothing else: the benchmark's tables would count as memory of the migration.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

import uvloop

from instar.controllers import migrate
from instar.kube import client as kube_client
from instar.kube import kubeconfig
from instar.migration import actions, evidence, settings

PHASES = {actions.Rewrite: "rewrite", actions.CatchUp: "rewrite", actions.Prove: "proof", actions.Recheck: "proof"}


class Phases:
    """Adds up wall and CPU time between the boundaries of a pass."""

    def __init__(self) -> None:
        self.spent = {f"{phase}_{what}": 0.0 for phase in ("rewrite", "proof") for what in ("seconds", "cpu_seconds")}
        self._began = (0.0, 0.0)

    async def before(self, action: actions.Action[Any]) -> None:
        self._began = (time.perf_counter(), time.process_time())

    async def after(self, action: actions.Action[Any], outcome: Any) -> None:
        phase = PHASES.get(type(action))
        if phase is not None:
            self.spent[f"{phase}_seconds"] += time.perf_counter() - self._began[0]
            self.spent[f"{phase}_cpu_seconds"] += time.process_time() - self._began[1]


async def main(kube_file: str, crd: str, settle_seconds: float) -> None:
    phases, began = Phases(), time.perf_counter()
    async with kube_client.Client(kubeconfig.load(kube_file), connections=48) as client:
        chosen = settings.Settings(settle_seconds=settle_seconds, servers=client.servers)
        found = await migrate.run(client, crd, chosen, observer=phases)
    if found.result is not evidence.Result.TRIMMED:
        raise SystemExit(f"instar: {found.summary}")
    numbers = {
        **phases.spent,
        "seconds": phases.spent["rewrite_seconds"],
        "cpu_seconds": phases.spent["rewrite_cpu_seconds"],
        "total_seconds": time.perf_counter() - began,
        "rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(numbers))


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))
