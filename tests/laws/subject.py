"""A conversion under judgement: its schemas, its author's functions, and the framework's answer as the server takes it.

``move`` is what a client sees on a read at another version, ``write`` what a write leaves: the pipeline of the model,
with the framework in the one place where the API server calls it.
"""

from __future__ import annotations

import copy
import dataclasses
import importlib.util
import json
import os
import pathlib
from collections.abc import Callable, Mapping
from typing import Any

import yaml
from hypothesis import HealthCheck, assume, settings
from hypothesis import strategies as st
from tests.laws import lossy, model

import instar.conversion as conversion
from instar.model import crd as crd_model
from instar.model import path
from instar.testing import objects

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
Document = dict[str, Any]


def many(examples: int) -> settings:
    """So many examples, however long each takes; the judge is slow and its objects are large.

    The same ones each time, unless INSTAR_RANDOM is set: a run that lands a change must say something about the change.
    INSTAR_RANDOM=20 draws twenty times as many.
    """
    times = os.environ.get("INSTAR_RANDOM", "")
    return settings(
        max_examples=examples * int(times or "1"),
        deadline=None,
        derandomize=not times,
        suppress_health_check=list(HealthCheck),
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Subject:
    crd: crd_model.Crd
    bound: Any
    domain: str
    functions: Mapping[tuple[str, str], Callable[[Document], Document]]

    @property
    def versions(self) -> tuple[str, ...]:
        return tuple(version.name for version in self.crd.versions)

    def schema(self, version: str) -> Mapping[str, Any]:
        return crd_model.version(self.crd, version).schema

    def write(self, document: Document) -> Document:
        """What the API server makes of a body before it converts it; it also notes who wrote it."""
        settled = model.settle(self.schema(version_of(document)), document)
        writer = {"manager": "judge", "operation": "Update", "apiVersion": document["apiVersion"], "fieldsV1": {}}
        return {**settled, "metadata": {"uid": "1", "managedFields": [writer], **settled["metadata"]}}

    def settled(self, document: Document) -> Document:
        """The object after its version's defaults: what a part of an object is compared by."""
        return model.settle(self.schema(version_of(document)), document)

    def move(self, document: Document, to: str) -> Document:
        """What a read at ``to`` answers: converted, metadata framed as the API server frames it, pruned."""
        answer = model.wire(self.bound.convert(copy.deepcopy(document), to))
        assert answer["apiVersion"] == f"{self.crd.group}/{to}"
        assert answer["kind"] == document["kind"]
        return model.pruned(self.schema(to), _framed(document, answer))

    def bare(self, document: Document, to: str) -> Document:
        """The author's function alone, settled: what would be seen if nothing were carried."""
        converted = self.functions[version_of(document), to](copy.deepcopy(document))
        return model.settle(self.schema(to), {**converted, "apiVersion": f"{self.crd.group}/{to}"})

    def drawn(self, data: st.DataObject, version: str, *, nulls: bool = True) -> Document:
        """An object as it lies in etcd after a client's write at ``version``; with ``nulls`` some send null members."""
        nulls = nulls and data.draw(st.booleans())
        stored = self.write(data.draw(objects.custom_resources(self.crd, version, nulls=nulls)))
        assume(not nulls or list(model.problems(self.schema(version), stored)) == [])  # a null list item is refused
        return stored

    def assert_same(self, one: Document, other: Document) -> None:
        """One object, type-strictly, up to what is carried."""
        left, right = self.stripped(one), self.stripped(other)
        assert model.same(left, right), "\n".join(model.differences(left, right))

    def stripped(self, document: Document) -> Document:
        return model.stripped(document, self.domain)

    def entries(self, document: Document) -> dict[str, str]:
        return model.entries(document, self.domain)

    def carried(self, document: Document) -> dict[str, str]:
        return model.carried(document, self.domain)

    def brought_by_default(self, document: Document, entry: str) -> bool:
        """Whether the schema's defaults put the leaf of an entry back into the object that had it.

        It is carried all the same: another release may have another default.
        """
        fields = json.loads(entry)
        where = fields[2] if isinstance(fields[0], int) else fields[1]
        without = copy.deepcopy(document)
        return _removed(without, where) and model.same(self.settled(without), document)


def _removed(document: Document, where: str) -> bool:
    """Takes out a field by its path; False where there is none."""
    if path.of_order(where) is not None:
        return False
    *above, last = path.parse(where)
    holder: Any = document
    for step in above:
        if isinstance(step, path.Field):
            holder = holder.get(step.name)
        else:
            holder = next(
                (item for item in holder if path.item({key: item[key] for key, _ in step.keys}) == step.text), None
            )  # type: ignore[union-attr]
        if holder is None:
            return False
    return isinstance(last, path.Field) and holder.pop(last.name, None) is not None


def version_of(document: Document) -> str:
    return str(document["apiVersion"]).rpartition("/")[2]


def other(subject: Subject, version: str) -> str:
    return next(name for name in subject.versions if name != version)


def _framed(document: Document, answer: Document) -> Document:
    """Labels and annotations come from the answer, all other metadata from the object that was sent."""
    if "metadata" not in document:
        return answer
    words = {name: value for name, value in answer["metadata"].items() if name in ("labels", "annotations")}
    kept = {name: value for name, value in document["metadata"].items() if name not in ("labels", "annotations")}
    return {**answer, "metadata": {**kept, **words}}


def of_node(node: lossy.Node, storage: str = "two", kind: str = lossy.KIND) -> Subject:
    """The random conversion of a node; version ``two`` is the hub."""
    crd = crd_model.parse(lossy.crd(node, storage, kind))
    there, back = lossy.function(node, "one"), lossy.function(node, "two")
    spoke = conversion.Spoke(version="one", to_hub=there, from_hub=back)
    whole = conversion.Conversion(kind=kind, group=lossy.GROUP, hub="two", spokes=(spoke,), domain=lossy.DOMAIN)
    return Subject(
        crd=crd,
        bound=conversion.bind(whole, crd),
        domain=lossy.DOMAIN,
        functions={("one", "two"): there, ("two", "one"): back},
    )


def with_third(node: lossy.Node, poor: bool) -> Subject:
    """The same with a second spoke ``zero``: as lossy as ``one``, or ``poor`` and with a field of its own only."""
    document = lossy.crd(node)
    document["spec"]["versions"].append({**document["spec"]["versions"][0], "name": "zero"})
    there, back = lossy.function(node, "one"), lossy.function(node, "two", "zero")
    if poor:
        spec = {"type": "object", "properties": {"only": {"type": "string"}}}
        root = {"type": "object", "properties": {"spec": spec}}
        document["spec"]["versions"][-1]["schema"] = {"openAPIV3Schema": root}
        there = back = _emptied
    crd = crd_model.parse(document)
    spokes = (
        conversion.Spoke(version="one", to_hub=lossy.function(node, "one"), from_hub=lossy.function(node, "two")),
        conversion.Spoke(version="zero", to_hub=there, from_hub=back),
    )
    whole = conversion.Conversion(kind=lossy.KIND, group=lossy.GROUP, hub="two", spokes=spokes, domain=lossy.DOMAIN)
    return Subject(crd=crd, bound=conversion.bind(whole, crd), domain=lossy.DOMAIN, functions={})


def _emptied(document: Document) -> Document:
    to = "two" if document["apiVersion"].endswith("zero") else "zero"
    kept = {"spec": {}} if "spec" in document else {}
    return {**document, "apiVersion": f"{lossy.GROUP}/{to}", **kept}


def of_example(name: str) -> Subject:
    """An example of the repository: its CRD and its conversion file."""
    return of_folder(EXAMPLES / name)


def of_folder(folder: pathlib.Path) -> Subject:
    """The CRD and the conversion file in a folder."""
    crd = crd_model.parse(yaml.safe_load((folder / "crd.yaml").read_text()))
    spec = importlib.util.spec_from_file_location(f"example_{folder.name}", folder / "conversion.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    whole = module.conversion
    functions: dict[tuple[str, str], Callable[[Document], Document]] = {}
    for spoke in whole.spokes:
        functions[spoke.version, whole.hub] = spoke.to_hub
        functions[whole.hub, spoke.version] = spoke.from_hub
    return Subject(crd=crd, bound=conversion.bind(whole, crd), domain=whole.domain or whole.group, functions=functions)
