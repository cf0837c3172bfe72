"""L6: the way does not matter: neither a stop at a third version nor the version that is stored."""

from __future__ import annotations

from collections.abc import Iterator

from instar.testing import cases, twin
from instar.testing.lawbook import law

__all__ = ["COMMUTATION"]


def _commutation(of: twin.Twin, case: cases.Case) -> Iterator[cases.Finding]:
    if of.problem(case.object):
        return
    stored = {storage: of.store(case.object, storage) for storage in of.versions}
    for client in of.versions:
        wanted = of.read(stored[case.version], client)
        for storage in of.others(case.version):
            found = of.read(stored[storage], client)
            shown = (f"read at {client}, stored at {case.version}", f"read at {client}, stored at {storage}")
            yield from law.compare(of, wanted, found, shown=shown, law="L6", source=case.version, target=client)


COMMUTATION = law.Law(
    name="L6",
    title="commutation",
    holds="what is read does not depend on the version it is stored at, nor on a stop in between",
    kinds=("whole",),
    judge=_commutation,
)
