"""The guard with three versions, and with as many annotations as an object may have."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

import pytest
from tests.cluster.conftest import Conversion, install, remove
from tests.cluster.guarded import (
    KUBERNETES,
    MODES,
    Document,
    Guarded,
    apply_guard,
    code,
    remove_guard,
    without,
)
from tests.cluster.test_serve_kubectl import NEW, OLD

from instar import conversion as conversion_module
from instar import errors, loading
from instar.serving import local

pytestmark = pytest.mark.cluster


WIDE = "guard.acme.io"
WIDE_CONVERSION = """
from instar.conversion import Conversion, Spoke


def same(thing):
    return thing


spokes = tuple(Spoke(version=name, to_hub=same, from_hub=same) for name in ("v1alpha1", "v1beta1"))
conversion = Conversion(group="guard.acme.io", kind="Wide", hub="v1", spokes=spokes)
"""
TEXT = {"type": "string"}
FIELDS: dict[str, Document] = {
    OLD: {"size": TEXT, "old": TEXT},
    "v1beta1": {"size": TEXT, "beta": TEXT},
    NEW: {"size": TEXT, "extra": {"type": "object", "additionalProperties": TEXT}},
}
"""Each version has a field of its own; a schema that lacks a field drops it, so the functions may do nothing."""


def wide_crd(storage: str) -> Document:
    versions = [
        {
            "name": name,
            "served": True,
            "storage": name == storage,
            "schema": {
                "openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}}
            },
        }
        for name, fields in FIELDS.items()
    ]
    names = {"kind": "Wide", "listKind": "WideList", "plural": "wides", "singular": "wide"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"wides.{WIDE}"},
        "spec": {"group": WIDE, "scope": "Namespaced", "names": names, "versions": versions},
    }


@pytest.fixture
async def wide(cluster, kubectl, tmp_path):
    """`await wide(storage, mode)`: three versions, each with a field that the others lack, under that guard."""
    async with contextlib.AsyncExitStack() as stack:

        async def wide(storage: str, mode: str) -> Guarded:
            manifest, code = tmp_path / "crd.yaml", tmp_path / "conversion.py"
            manifest.write_text(json.dumps(wide_crd(storage)))
            code.write_text(WIDE_CONVERSION)
            webhook = await stack.enter_async_context(local.start(code, manifest))
            body = wide_crd(storage)
            body["spec"]["conversion"] = webhook.conversion
            crd = await install(cluster.client, body)
            stack.push_async_callback(remove, cluster.client, crd.name)
            served = Conversion(client=cluster.client, crd=crd, webhook=webhook)
            bound = conversion_module.bind(loading.conversion(str(code)), crd)
            stack.push_async_callback(remove_guard, cluster, await apply_guard(cluster, bound, KUBERNETES[mode]))
            await asyncio.sleep(8)  # mutation takes over the schema of a new CRD every 5 s, and answers 503 until then
            return Guarded(cluster=cluster, kubectl=kubectl, conversion=served)

        yield wide


def a_wide(version: str, **spec: Any) -> Document:
    return {"apiVersion": f"{WIDE}/{version}", "kind": "Wide", "metadata": {"name": "acme"}, "spec": spec}


@pytest.mark.parametrize("storage", list(FIELDS))
async def test_three_versions(wide, storage):
    """A replace at any of three versions keeps what the other two alone can say, wherever it is stored."""
    guarded = await wide(storage, "puts back")
    await guarded.create(OLD, a_wide(OLD, size="1", old="o"))
    await guarded.patch("v1beta1", {"spec": {"beta": "b"}})
    await guarded.patch(NEW, {"spec": {"extra": {"e": "f"}}})
    said = {OLD: {"old": "o"}, "v1beta1": {"beta": "b"}, NEW: {"extra": {"e": "f"}}}
    for number, (version, own) in enumerate(said.items()):
        document = without(await guarded.get(version))
        await guarded.put(version, {**document, "spec": {"size": str(number), **own}})
        assert {name: await guarded.spec(name) for name in said} == {
            name: {"size": str(number), **fields} for name, fields in said.items()
        }, version


BIG = 255_000
LONG, MANY = {"number": 950, "length": 200}, {"number": 3450, "length": 1}


@pytest.mark.parametrize("size", [pytest.param(LONG, marks=pytest.mark.soak, id="long"), pytest.param(MANY, id="many")])
@MODES
async def test_annotations_as_many_as_an_object_may_have(wide, mode, size):
    """256 KiB of them cost less than the API server allows an expression, and no write fails for that."""
    guarded = await wide(OLD, mode)
    extra = {f"k{number}": "x" * size["length"] for number in range(size["number"])}
    await guarded.create(NEW, a_wide(NEW, size="1", extra=extra))
    read = await guarded.get(OLD)
    annotations = read["metadata"]["annotations"]
    assert sum(len(name) + len(text) for name, text in annotations.items()) > BIG
    assert len(annotations) == size["number"] + 1
    if mode == "puts back":
        await guarded.put(OLD, without(read))
    else:
        with pytest.raises(errors.ApiError, match="is missing"):
            await guarded.put(OLD, without(read))
    assert await guarded.spec(NEW) == {"size": "1", "extra": extra}
    altered = {name: text.replace("x", "y") for name, text in annotations.items()}
    with pytest.raises(errors.ApiError, match="is not what it was"):
        await guarded.patch(OLD, {"metadata": {"annotations": altered}})
    garbage = {name: text.replace("[", "{") for name, text in annotations.items()}
    assert await code(guarded.patch(OLD, {"metadata": {"annotations": garbage}})) == (
        200 if mode == "puts back" else 403
    )
    assert await guarded.spec(NEW) == {"size": "1", "extra": extra}
    copy_ = {**read, "metadata": {"name": "copy", "annotations": annotations}}
    await guarded.create(OLD, copy_)
    assert await guarded.spec(NEW, "copy") == {"size": "1", "extra": extra}
