"""L1 and L2: what was written is read, and writing what was read moves nothing."""

from __future__ import annotations

from collections.abc import Iterator

from instar.model import gojson
from instar.testing import cases, twin
from instar.testing.lawbook import law

__all__ = ["NO_OP", "READ_YOUR_WRITE"]


def _read_your_write(of: twin.Twin, case: cases.Case) -> Iterator[cases.Finding]:
    if of.problem(case.object):
        return
    written = of.written(case.object)
    for storage in of.others(case.version):
        back = of.read(of.store(written, storage), case.version)
        shown = (f"written at {case.version}", f"read at {case.version}, stored at {storage}")
        yield from law.compare(of, written, back, shown=shown, law="L1", source=case.version, target=storage)


def _no_op(of: twin.Twin, case: cases.Case) -> Iterator[cases.Finding]:
    if of.problem(case.object):
        return
    for other in of.others(case.version):
        for stored, client in ((of.written(case.object), other), (of.store(case.object, other), case.version)):
            yield from _settles(of, stored, client)


def _settles(of: twin.Twin, stored: cases.Document, client: str) -> Iterator[cases.Finding]:
    """The first no-op write may renew our own keys, and nothing else; the second moves no byte."""
    storage = cases.version_of(stored)
    first = of.store(of.read(stored, client), storage)
    shown = (f"stored at {storage}", f"stored after a client at {client} wrote what it read")
    found = list(law.compare(of, stored, first, shown=shown, law="L2", source=storage, target=client))
    yield from found
    if found:
        return
    second = of.store(of.read(first, client), storage)
    if gojson.encode_normal(first) != gojson.encode_normal(second):
        yield cases.Finding(
            law="L2",
            path="/metadata/annotations",
            place="/metadata/annotations",
            problem="a second no-op write still changes the stored bytes",
            source=storage,
            target=client,
            shown=((shown[1], first), ("and after the second time", second)),
        )


READ_YOUR_WRITE = law.Law(
    name="L1",
    title="read your write",
    holds="what is written at a version is read at that version, whatever version it is stored at",
    kinds=("whole",),
    judge=_read_your_write,
)
NO_OP = law.Law(
    name="L2",
    title="no-op writes",
    holds="writing back what was read, through any version, leaves the stored object as it was",
    kinds=("whole",),
    judge=_no_op,
)
