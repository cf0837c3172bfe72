"""A migration that ends by SIGKILL at a chosen place: run as a program by the kill tests.

    killed.py KUBECONFIG CRD boundary N          after the Nth action (0: before the first)
    killed.py KUBECONFIG CRD ACTION SECONDS      so long after an action of that name began

Prints the names of the actions as they begin; exits 0 only if the migration reached its end before the kill.
"""

import asyncio
import os
import signal
import sys
import threading
from typing import Any

from instar import migration
from instar.controllers import migrate
from instar.kube import client, kubeconfig

SETTINGS = migration.Settings(settle_seconds=2, lease_seconds=1, concurrency=16)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Killer:
    def __init__(self, place: str, number: float) -> None:
        self.place, self.number, self.taken = place, number, 0

    async def before(self, action: Any) -> None:
        sys.stdout.write(type(action).__name__ + "\n")
        sys.stdout.flush()
        if self.place == "boundary" and self.taken >= self.number:
            die()
        if self.place == type(action).__name__:
            threading.Timer(self.number, die).start()

    async def after(self, action: Any, outcome: Any) -> None:
        self.taken += 1


async def main(path: str, crd: str, place: str, number: str) -> None:
    async with client.Client(kubeconfig.load(path)) as connection:
        await migrate.run(connection, crd, SETTINGS, observer=Killer(place, float(number)))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
    os._exit(0)
