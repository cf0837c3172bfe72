"""What becomes of carried values on a real API server, case by case, stored at either version: values by hand.

The same rows without a server, and those that need none: tests/laws/test_table_of_cases.py. What a guard puts back:
tests/cluster/test_guard.py.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.cluster.conftest import EXAMPLES

from instar import errors
from instar.model import crd as crd_model
from instar.serving import local

pytestmark = pytest.mark.cluster

OLD, NEW = "v1alpha1", "v1"
BOTH = pytest.mark.parametrize("storage", [OLD, NEW])
PREFIX = "carried.platform.acme.io/"
REPLICAS = f"{PREFIX}v1.c7689d5969f27caa"
Document = dict[str, Any]


@dataclasses.dataclass(kw_only=True)
class Things:
    """Objects of one kind, and clients of both versions."""

    cluster: Any
    conversion: Any

    async def get(self, version: str, name: str = "one") -> Document:
        found: Document = await self.cluster.client.get(self.conversion.at(version), name, self.cluster.namespace)
        return found

    async def spec(self, version: str, name: str = "one") -> Any:
        return (await self.get(version, name)).get("spec")

    async def create(self, version: str, name: str = "one", annotations: Any = None, **spec: Any) -> None:
        kind = self.conversion.crd.kind
        document = {"apiVersion": f"platform.acme.io/{version}", "kind": kind, "metadata": {"name": name}, "spec": spec}
        document["metadata"] |= {"annotations": annotations} if annotations else {}
        await self.cluster.client.create(self.conversion.at(version), document, self.cluster.namespace)

    async def merge(self, version: str, patch: Document, name: str = "one") -> None:
        await self.cluster.client.patch(self.conversion.at(version), name, patch, self.cluster.namespace)

    async def edit(self, version: str, change: Callable[[Document], object], name: str = "one") -> None:
        document = await self.get(version, name)
        change(document)
        await self.cluster.client.update(self.conversion.at(version), document, name, self.cluster.namespace)

    async def apply(self, version: str, manager: str, spec: Document | None, **metadata: Any) -> None:
        document: Document = {
            "apiVersion": f"platform.acme.io/{version}",
            "kind": self.conversion.crd.kind,
            "metadata": {"name": "one", **metadata},
            **({"spec": spec} if spec is not None else {}),
        }
        await self.cluster.client.patch(
            self.conversion.at(version),
            "one",
            document,
            self.cluster.namespace,
            patch_type="apply",
            field_manager=manager,
            force=True,
        )

    async def patch_crd(self, patch: Any) -> None:
        await self.cluster.client.patch(crd_model.RESOURCE, self.conversion.crd.name, patch, patch_type="json")


@pytest.fixture
async def widgets(cluster, serve_conversion):
    """`await widgets(storage)`: with the widget `one` of 3 replicas, which read as small, and of gold."""

    async def widgets(storage: str) -> Things:
        things = Things(cluster=cluster, conversion=await serve_conversion("widget", storage=storage))
        await things.create(NEW, resources={"replicas": 3}, tier="gold")
        assert await things.spec(OLD) == {"size": "small"}
        return things

    return widgets


def size(value: str) -> Document:
    return {"spec": {"size": value}}


async def test_edited_away_and_back_while_the_old_version_is_stored(widgets) -> None:
    """Restored: no edit is visible in what is stored."""
    things = await widgets(OLD)
    await things.merge(OLD, size("large"))
    assert await things.spec(NEW) == {"resources": {"replicas": 5}, "tier": "gold"}
    await things.merge(OLD, size("small"))
    assert await things.spec(NEW) == {"resources": {"replicas": 3}, "tier": "gold"}


async def test_edited_away_and_back_while_the_new_version_is_stored(widgets) -> None:
    """Two edits: each wins in its turn."""
    things = await widgets(NEW)
    await things.merge(OLD, size("large"))
    assert await things.spec(NEW) == {"resources": {"replicas": 5}, "tier": "gold"}
    await things.merge(OLD, size("small"))
    assert await things.spec(NEW) == {"resources": {"replicas": 1}, "tier": "gold"}


@BOTH
async def test_replaced_without_our_annotations(widgets, storage: str) -> None:
    """A client that writes back nothing but what it knows loses what was carried."""
    things = await widgets(storage)

    def forget(document: Document) -> None:
        document["metadata"].pop("annotations", None)
        document["spec"] = {"size": "small"}

    await things.edit(OLD, forget)
    assert await things.spec(NEW) == {"resources": {"replicas": 1}, "tier": "bronze"}


@BOTH
async def test_a_client_deletes_an_entry(widgets, storage: str) -> None:
    """A deliberate drop of that one leaf."""
    things = await widgets(storage)
    await things.merge(OLD, {"metadata": {"annotations": {REPLICAS: None}}})
    assert await things.spec(NEW) == {"resources": {"replicas": 1}, "tier": "gold"}


@BOTH
async def test_an_old_manifest_with_entries_is_applied_from_git(widgets, storage: str) -> None:
    """What it says wins over what was changed since, carried values too, as any applied value does."""
    things = await widgets(storage)
    saved = await things.get(OLD)
    await things.merge(NEW, {"spec": {"resources": {"replicas": 4}, "tier": "silver"}})
    await things.apply(OLD, "git", saved["spec"], annotations=saved["metadata"]["annotations"])
    assert await things.spec(NEW) == {"resources": {"replicas": 3}, "tier": "gold"}


@BOTH
async def test_copied_as_a_template_of_the_same_kind(widgets, storage: str) -> None:
    """A copy of the carried values, apart from the original from then on."""
    things = await widgets(storage)
    saved = await things.get(OLD)
    await things.create(OLD, "two", saved["metadata"]["annotations"], size="small", image="b")
    assert await things.spec(NEW, "two") == {"resources": {"replicas": 3}, "tier": "gold", "image": "b"}
    await things.merge(OLD, size("large"), "two")
    assert await things.spec(NEW, "two") == {"resources": {"replicas": 5}, "tier": "gold", "image": "b"}
    assert await things.spec(NEW) == {"resources": {"replicas": 3}, "tier": "gold"}


@BOTH
async def test_copied_as_a_template_of_another_kind(cluster, widgets, serve_conversion, storage: str) -> None:
    """A widget's annotations are dropped from a tenant, which is created and read all the same."""
    saved = await (await widgets(storage)).get(OLD)
    tenants = Things(cluster=cluster, conversion=await serve_conversion("tenant", storage=storage))
    await tenants.create(OLD, annotations=saved["metadata"]["annotations"], title="Acme")
    assert await tenants.spec(NEW) == {"displayName": "Acme", "tier": "standard", "suspended": False}
    await tenants.merge(NEW, {"spec": {"suspended": True}})
    assert await tenants.spec(OLD) == {"title": "Acme", "class": "standard"}
    assert not [key for key in (await tenants.get(NEW))["metadata"].get("annotations", {}) if key.startswith(PREFIX)]


@pytest.mark.parametrize("flips", [(OLD, NEW, OLD), (NEW, OLD, NEW)], ids=lambda flips: "-".join(flips))
async def test_storage_flipped_back(widgets, flips: tuple[str, ...]) -> None:
    """Written at each storage version in turn: what is carried stays, edits win."""
    things = await widgets(flips[0])
    names = [version.name for version in things.conversion.crd.versions]
    for number, storage in enumerate(flips):
        tests = [
            {"op": "replace", "path": f"/spec/versions/{i}/storage", "value": n == storage} for i, n in enumerate(names)
        ]
        await things.patch_crd(tests)
        await asyncio.sleep(1)
        await things.merge(OLD, {"spec": {"image": f"i{number}"}})
        assert await things.spec(NEW) == {"resources": {"replicas": 3}, "tier": "gold", "image": f"i{number}"}
        assert await things.spec(OLD) == {"size": "small", "image": f"i{number}"}
    await things.merge(OLD, size("large"))
    assert await things.spec(NEW) == {"resources": {"replicas": 5}, "tier": "gold", "image": "i2"}


async def test_a_new_release_of_the_converter(widgets, tmp_path) -> None:
    """Small means 2 from now on. Not written since: 3 stay 3. Written since: that entry's base of 1 is gone."""
    things = await widgets(OLD)
    released = tmp_path / "conversion.py"
    source = (EXAMPLES / "widget" / "conversion.py").read_text()
    assert '"small": 1' in source
    released.write_text(source.replace('"small": 1', '"small": 2'))
    async with local.start(released, EXAMPLES / "widget" / "crd.yaml") as webhook:
        await things.patch_crd([{"op": "replace", "path": "/spec/conversion", "value": webhook.conversion}])
        try:
            await things.create(OLD, "fresh", size="small")
            while (await things.spec(NEW, "fresh"))["resources"] != {"replicas": 2}:
                await asyncio.sleep(0.1)
            assert await things.spec(NEW) == {"resources": {"replicas": 3}, "tier": "gold"}
            await things.merge(OLD, {"spec": {"image": "b"}})
            assert await things.spec(NEW) == {"resources": {"replicas": 2}, "tier": "gold", "image": "b"}
        finally:
            conversion = things.conversion.webhook.conversion
            await things.patch_crd([{"op": "replace", "path": "/spec/conversion", "value": conversion}])
            await asyncio.sleep(1)


@BOTH
async def test_an_older_release_passes_entries_of_versions_that_it_does_not_know(widgets, storage: str) -> None:
    """What a newer release carried for its v2 survives reads and writes at both versions."""
    things = await widgets(storage)
    newer = {f"{PREFIX}v2.0123456789abcdef": '["Widget","/spec/x",[1]]', f"{PREFIX}v2.view": "0" * 32}
    await things.merge(storage, {"metadata": {"annotations": newer}})
    await things.merge(OLD, {"spec": {"image": "b"}})
    await things.merge(NEW, {"spec": {"image": "c"}})
    for version in (OLD, NEW):
        assert newer.items() <= (await things.get(version))["metadata"]["annotations"].items()
    assert await things.spec(NEW) == {"resources": {"replicas": 3}, "tier": "gold", "image": "c"}


async def test_an_older_release_says_that_it_cannot_read_a_newer_format(widgets) -> None:
    """The user reads which leaf of which object it is, and what to run."""
    things = await widgets(OLD)
    entry = json.dumps([999, "Widget", "/spec/resources/replicas", 3])
    await things.merge(OLD, {"metadata": {"annotations": {REPLICAS: entry}}})
    with pytest.raises(errors.ApiError, match=r"one v1alpha1 -> v1: .*/spec/resources/replicas has format 999"):
        await things.get(NEW)
    await things.merge(OLD, {"metadata": {"annotations": {REPLICAS: None}}})
    assert (await things.spec(NEW))["tier"] == "gold"


@BOTH
async def test_three_managers(cluster, serve_conversion, storage: str) -> None:
    """A gives up one carried leaf while another stays carried, and B's and C's do: each leaf goes by itself."""
    tenants = Things(cluster=cluster, conversion=await serve_conversion("tenant", storage=storage))
    await tenants.apply(NEW, "a", {"suspended": True, "quota": {"gpus": 4}, "network": {"isolated": True}})
    await tenants.apply(OLD, "b", {"title": "Acme", "costCentre": "0047"})
    await tenants.apply(NEW, "c", {"quota": {"storage": "1Ti"}, "tier": "dedicated"})
    everything = {
        "displayName": "Acme",
        "tier": "dedicated",
        "suspended": True,
        "quota": {"gpus": 4, "storage": "1Ti"},
        "network": {"isolated": True},
    }
    assert await tenants.spec(NEW) == everything
    await tenants.apply(NEW, "a", {"suspended": True, "network": {"isolated": True}})
    assert await tenants.spec(NEW) == {**everything, "quota": {"storage": "1Ti"}}
    await tenants.apply(OLD, "b", {"costCentre": "0047"})
    await tenants.apply(NEW, "a", {"network": {"isolated": True}})
    assert await tenants.spec(NEW) == {
        "tier": "dedicated",
        "suspended": False,
        "quota": {"storage": "1Ti"},
        "network": {"isolated": True},
    }
    assert await tenants.spec(OLD) == {"class": "premium", "costCentre": "0047"}
    await tenants.apply(OLD, "b", {})
    await tenants.apply(NEW, "c", {"tier": "dedicated"})
    assert await tenants.spec(NEW) == {"tier": "dedicated", "suspended": False, "network": {"isolated": True}}
    assert await tenants.spec(OLD) == {"class": "premium"}


@BOTH
async def test_a_manager_gives_up_the_last_that_its_version_says(cluster, serve_conversion, storage: str) -> None:
    """What v1 says stays, though v1alpha1 has nothing to say of the spec any more."""
    things = Things(cluster=cluster, conversion=await serve_conversion("widget", storage=storage))
    await things.apply(OLD, "old", {"image": "a"}, labels={"colour": "red"})
    await things.apply(NEW, "new", {"tier": "gold"})
    await things.apply(OLD, "old", None, labels={"colour": "red"})
    assert await things.spec(NEW) == {"tier": "gold", "resources": {"replicas": 3}}


@BOTH
async def test_a_spec_of_nothing_but_defaults_goes_with_the_last_field(cluster, serve_conversion, storage: str) -> None:
    """A limit: bronze is v1's default, so nothing is carried of it, and nothing at v1alpha1 keeps the spec.

    On a CRD of one version the spec stays, for ``new`` owns the tier in it.
    """
    things = Things(cluster=cluster, conversion=await serve_conversion("widget", storage=storage))
    await things.apply(OLD, "old", {"image": "a"})
    await things.apply(NEW, "new", {"tier": "bronze"})
    await things.apply(OLD, "old", None)
    assert await things.spec(NEW) is None


async def test_a_value_that_reads_the_same_contradicts_no_old_manager(cluster, serve_conversion) -> None:
    """Who said small owns small: 3 becomes 2 without a conflict with it, and against it 5 is one."""
    things = Things(cluster=cluster, conversion=await serve_conversion("widget", storage=NEW))
    await things.apply(NEW, "new", {"resources": {"replicas": 3}})
    await things.apply(OLD, "old", {"size": "small"})
    resource, namespace = things.conversion.at(NEW), things.cluster.namespace

    async def unforced(replicas: int) -> None:
        document = {**(head := await things.get(NEW)), "spec": {"resources": {"replicas": replicas}}}
        document["metadata"] = {"name": head["metadata"]["name"]}
        await cluster.client.patch(resource, "one", document, namespace, patch_type="apply", field_manager="new")

    await unforced(2)
    assert await things.spec(OLD) == {"size": "small"}
    assert (await things.spec(NEW))["resources"] == {"replicas": 2}
    with pytest.raises(errors.ApiError, match=r"conflict.*old.*\.spec\.size"):
        await unforced(5)
