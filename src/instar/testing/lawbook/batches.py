"""L10: objects in one call of the webhook do not know each other: order, number, mixed versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import instar.conversion as conversion_module
from instar import errors
from instar.model import gojson
from instar.testing import cases, twin
from instar.testing.lawbook import law

__all__ = ["BATCHES"]


def _batches(of: twin.Twin, case: cases.Case) -> Iterator[cases.Finding]:
    for target in of.versions:
        documents, wanted = [], []
        for document in map(of.written, (case.object, *case.others)):
            try:
                wanted.append(of.convert(document, target))
            except errors.ConversionError:
                continue
            documents.append(document)
        for size in {0, 1, len(documents)}:
            found = _asked(of, documents[:size], target)
            if gojson.encode(found) != gojson.encode(wanted[:size]):
                yield _finding(case, target, documents[:size], wanted[:size], found)


def _asked(of: twin.Twin, documents: list[cases.Document], target: str) -> Any:
    request = {"uid": "1", "desiredAPIVersion": of.sides[target].api_version, "objects": documents}
    body = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}
    conversion = of.bound.conversion
    answer = conversion_module.review({(conversion.group, conversion.kind): of.bound}, gojson.encode(body))
    response = gojson.decode(answer)["response"]
    return response.get("convertedObjects") or [] if response["result"]["status"] == "Success" else response["result"]


def _finding(case: cases.Case, target: str, documents: Any, wanted: Any, found: Any) -> cases.Finding:
    return cases.Finding(
        law="L10",
        path="/",
        place="/",
        problem=f"{len(documents)} objects in one call convert to something else than each alone",
        source=case.version,
        target=target,
        shown=(("objects", documents), ("each alone", wanted), ("in one call", found)),
    )


BATCHES = law.Law(
    name="L10",
    title="batches",
    holds="one call with many objects answers as many calls with one, in order, for mixed versions too",
    kinds=("batch",),
    judge=_batches,
)
