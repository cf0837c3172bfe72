"""After the old version is gone: get, patch and server-side apply, on every single object.

Apply is the one that breaks: once a version is removed, it fails for ever on each object whose managedFields still
name it, and nobody notices before the first apply (kubernetes/kubernetes#111937).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from instar import errors
from instar.demo import crowd
from instar.demo import verbs as verbs_module

__all__ = ["Outcome", "check"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How many objects answered all three, and what the others said."""

    passed: int
    failures: tuple[str, ...]


async def check(
    verbs: verbs_module.Verbs, objects: Sequence[verbs_module.Made], progress: Callable[[int], None]
) -> Outcome:
    """Get, patch and apply each object through one version; patches and applies enter the ledger like all writes."""

    async def one(numbered: tuple[int, verbs_module.Made]) -> str:
        number, made = numbered
        verb = "get"
        try:
            await verbs.caller.get(made.key)
            for verb in ("patch", "apply"):
                await verbs.edit(verb, made, number)
        except errors.ClusterError as error:
            return f"{verb} {made.key}: {error.message}"
        return ""

    said = await crowd.each(list(enumerate(objects)), one, progress)
    failures = tuple(text for text in said if text)
    return Outcome(passed=len(said) - len(failures), failures=failures)
