"""Unmodified kubectl works on both versions: what a user does at either is seen, exactly, at both.

Expected values are written by hand. The object that all stories change is one that each version can only say in part:
v1alpha1 has an odd spelling of the quota and a cost centre, v1 has storage, roles and a suspension.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.cluster

OLD, NEW = "v1alpha1", "v1"
SPEC = {
    OLD: {
        "title": "Acme",
        "class": "premium",
        "quota": "mem=32Gi,cpu=8",
        "owners": ["zoe", "adam"],
        "costCentre": "0047",
    },
    NEW: {
        "displayName": "Acme",
        "tier": "premium",
        "suspended": False,
        "quota": {"cpu": "8", "memory": "32Gi"},
        "owners": [{"name": "zoe", "role": "viewer"}, {"name": "adam", "role": "viewer"}],
    },
}
ADDED = {
    "suspended": True,
    "quota": {"cpu": "8", "memory": "32Gi", "storage": "2Ti", "gpus": 9007199254740993},
    "owners": [{"name": "zoe", "role": "admin", "email": "zoe@acme.io"}, {"name": "adam", "role": "viewer"}],
}
"""What a v1 client adds to it, and a v1alpha1 client cannot see."""
RICH = {**SPEC[NEW], **ADDED}


def manifest(version: str, name: str = "acme", **spec: Any) -> dict[str, Any]:
    found = {"apiVersion": f"platform.acme.io/{version}", "kind": "Tenant", "metadata": {"name": name}}
    return {**found, "spec": spec or SPEC[version]}


@pytest.fixture(params=[OLD, NEW], ids=lambda storage: f"stored-{storage}")
async def tenants(request, serve_conversion, kubectl):
    """Tenant `acme`, created at v1alpha1, filled at v1, stored at either: both versions have something to lose."""
    conversion = await serve_conversion("tenant", storage=request.param)
    await create_rich(kubectl, conversion, "acme")
    return conversion


async def create_rich(kubectl, conversion, name: str) -> None:
    await kubectl("create", "-f", "-", stdin=manifest(OLD, name))
    await kubectl("patch", conversion.named(NEW), name, "--type=merge", "-p", json.dumps({"spec": ADDED}))


async def assert_specs(kubectl, conversion, name: str = "acme", **expected: dict[str, Any]) -> None:
    """Read by kubectl at both versions, and equal to what was written by hand."""
    for version, spec in expected.items():
        assert await kubectl.spec(conversion.named(version), name) == spec, version


async def test_get(kubectl, tenants):
    """Both versions show all that they can say, and the printed columns are those of the version."""
    await assert_specs(kubectl, tenants, v1alpha1=SPEC[OLD], v1=RICH)
    assert "mem=32Gi,cpu=8" in await kubectl("get", tenants.named(OLD))
    assert "32Gi" in (await kubectl("get", tenants.named(NEW))).splitlines()[1]
    assert (await kubectl("get", "tenants", "-o", "name")).split() == ["tenant.platform.acme.io/acme"]


EDITS = (
    (OLD, ("cpu=8", "cpu=9"), {"quota": "mem=32Gi,cpu=9"}, {"quota": {**ADDED["quota"], "cpu": "9"}}),
    (NEW, ('cpu: "8"', 'cpu: "9"'), {"quota": "cpu=9,mem=32Gi"}, {"quota": {**ADDED["quota"], "cpu": "9"}}),
    (OLD, ("title: Acme", "title: Other"), {"title": "Other"}, {"displayName": "Other"}),
    (NEW, ("suspended: true", "suspended: false"), {}, {"suspended": False}),
)


async def test_edit(kubectl, tenants, tmp_path: Path):
    """An edit at either version wins at both; what it did not touch, and cannot say, stays."""
    for index, (version, (before, after), old, new) in enumerate(EDITS):
        name = f"edit-{index}"
        await create_rich(kubectl, tenants, name)
        editor = tmp_path / f"{name}.py"
        editor.write_text(
            "import pathlib, sys\n"
            "path = pathlib.Path(sys.argv[1])\n"
            f"text = path.read_text()\nassert {before!r} in text, text\n"
            f"path.write_text(text.replace({before!r}, {after!r}))\n"
        )
        env = {**os.environ, "KUBE_EDITOR": f"{sys.executable} {editor}"}
        assert "edited" in await kubectl("edit", tenants.named(version), name, env=env)
        await assert_specs(kubectl, tenants, name, v1alpha1={**SPEC[OLD], **old}, v1={**RICH, **new})


PATCHES = (
    (OLD, "merge", {"spec": {"class": "standard"}}, {"class": "standard"}, {"tier": "standard"}),
    (NEW, "merge", {"spec": {"tier": "dedicated"}}, {}, {"tier": "dedicated"}),
    (OLD, "merge", {"spec": {"costCentre": "0048"}}, {"costCentre": "0048"}, {}),
    (OLD, "json", [{"op": "replace", "path": "/spec/title", "value": "T"}], {"title": "T"}, {"displayName": "T"}),
    (
        NEW,
        "json",
        [{"op": "replace", "path": "/spec/quota/storage", "value": "3Ti"}],
        {},
        {"quota": {**ADDED["quota"], "storage": "3Ti"}},
    ),
)


async def test_patch(kubectl, tenants):
    """A patch changes what it names and nothing else, at both versions."""
    for index, (version, kind, patch, old, new) in enumerate(PATCHES):
        name = f"patch-{index}"
        await create_rich(kubectl, tenants, name)
        await kubectl("patch", tenants.named(version), name, f"--type={kind}", "-p", json.dumps(patch))
        await assert_specs(kubectl, tenants, name, v1alpha1={**SPEC[OLD], **old}, v1={**RICH, **new})


async def test_replace_of_what_was_read(kubectl, tenants):
    """Reading and writing back unchanged changes nothing, not even the generation."""
    before = await kubectl.get(tenants.named(NEW), "acme")
    for version in (OLD, NEW, OLD):
        await kubectl("replace", "-f", "-", stdin=await kubectl("get", tenants.named(version), "acme", "-o", "yaml"))
        after = await kubectl.get(tenants.named(NEW), "acme")
        assert after["metadata"]["generation"] == before["metadata"]["generation"]
        await assert_specs(kubectl, tenants, v1alpha1=SPEC[OLD], v1=RICH)


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_apply(kubectl, tenants, version):
    """Applied, applied again, and a field taken out of the manifest: client side."""
    await kubectl("apply", "-f", "-", stdin=manifest(version, "two"))
    assert "unchanged" in await kubectl("apply", "-f", "-", stdin=manifest(version, "two"))
    await assert_specs(kubectl, tenants, "two", **{version: SPEC[version]})
    less = {key: value for key, value in SPEC[version].items() if key != "owners"}
    await kubectl("apply", "-f", "-", stdin=manifest(version, "two", **less))
    await assert_specs(kubectl, tenants, "two", **{version: less})
    for other in (OLD, NEW):
        assert "owners" not in await kubectl.spec(tenants.named(other), "two")


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_server_side_apply(kubectl, tenants, version):
    """Applied by two managers at both versions; a repeated apply moves no resourceVersion; what is given up goes."""
    field = {OLD: "title", NEW: "displayName"}
    other = NEW if version == OLD else OLD
    flags = ("apply", "--server-side", "-f", "-")
    first, second = (
        manifest(version, "ssa", **{field[version]: "one"}),
        manifest(other, "ssa", quota=SPEC[other]["quota"]),
    )
    await kubectl(*flags, "--field-manager=first", stdin=first)
    await kubectl(*flags, "--field-manager=second", stdin=second)
    await assert_specs(
        kubectl,
        tenants,
        "ssa",
        v1={"displayName": "one", "tier": "standard", "suspended": False, "quota": SPEC[NEW]["quota"]},
        v1alpha1={
            "title": "one",
            "class": "standard",
            "quota": SPEC[OLD]["quota"] if other == OLD else "cpu=8,mem=32Gi",
        },
    )
    before = (await kubectl.get(tenants.named(version), "ssa"))["metadata"]["resourceVersion"]
    await kubectl(*flags, "--field-manager=first", stdin=first)
    await kubectl(*flags, "--field-manager=second", stdin=second)
    assert (await kubectl.get(tenants.named(version), "ssa"))["metadata"]["resourceVersion"] == before
    await kubectl(
        *flags,
        "--field-manager=first",
        stdin=manifest(version, "ssa", quota=SPEC[version]["quota"]),
    )
    assert "displayName" not in await kubectl.spec(tenants.named(NEW), "ssa")
    assert "title" not in await kubectl.spec(tenants.named(OLD), "ssa")


async def test_server_side_apply_conflicts_across_versions(kubectl, tenants):
    """A field that another manager owns at another version is a conflict, named, and --force-conflicts takes it."""
    flags = ("apply", "--server-side", "-f", "-")
    await kubectl(*flags, "--field-manager=first", stdin=manifest(OLD, "fight", title="one"))
    mine = manifest(NEW, "fight", displayName="two")
    code, _, err = await kubectl.try_(*flags, "--field-manager=second", stdin=mine)
    assert code != 0
    assert 'conflict with "first": .spec.title' in err, "named in the words of the version that owns it"
    await kubectl(*flags, "--field-manager=second", "--force-conflicts", stdin=mine)
    assert (await kubectl.spec(tenants.named(OLD), "fight"))["title"] == "two"


@pytest.mark.parametrize("version", [OLD, NEW])
async def test_watch(kubectl, tenants, version):
    """A watcher at either version sees each change, in the words of its own version."""
    path = {OLD: ".spec.title", NEW: ".spec.displayName"}[version]
    watcher = await asyncio.create_subprocess_exec(
        *kubectl.words,
        *("get", tenants.named(version), "--watch", "--output-watch-events"),
        *("-o", f"jsonpath={{.type}} {{.object{path}}} {{.object.apiVersion}}{{'\\n'}}"),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        lines = watcher.stdout
        async with asyncio.timeout(30):
            assert (await lines.readline()).decode() == f"ADDED Acme platform.acme.io/{version}\n"
            await kubectl("patch", tenants.named(OLD), "acme", "--type=merge", "-p", '{"spec": {"title": "A"}}')
            assert (await lines.readline()).decode() == f"MODIFIED A platform.acme.io/{version}\n"
            await kubectl("patch", tenants.named(NEW), "acme", "--type=merge", "-p", '{"spec": {"displayName": "B"}}')
            assert (await lines.readline()).decode() == f"MODIFIED B platform.acme.io/{version}\n"
            await kubectl("delete", tenants.named(OLD), "acme")
            assert (await lines.readline()).decode() == f"DELETED B platform.acme.io/{version}\n"
    finally:
        watcher.terminate()
        await watcher.wait()


async def test_delete(kubectl, tenants):
    """Deleted at one version, gone at both."""
    for version in (OLD, NEW):
        name = f"delete-{version}"
        await create_rich(kubectl, tenants, name)
        await kubectl("delete", tenants.named(version), name)
        for other in (OLD, NEW):
            code, _, err = await kubectl.try_("get", tenants.named(other), name)
            assert code == 1
            assert "NotFound" in err


async def test_status(kubectl, tenants):
    """The status subresource is converted with the rest and stays apart from it."""
    status = '{"status": {"used": {"cpu": "2500m", "memory": "7Gi"}, "observedGeneration": 4}}'
    await kubectl("patch", tenants.named(NEW), "acme", "--subresource=status", "--type=merge", "-p", status)
    assert (await kubectl.get(tenants.named(OLD), "acme"))["status"] == {"used": "cpu=2500m,mem=7Gi"}
    await kubectl("patch", tenants.named(OLD), "acme", "--type=merge", "-p", '{"spec": {"title": "T"}}')
    found = await kubectl.get(tenants.named(NEW), "acme")
    assert found["status"] == {"used": {"cpu": "2500m", "memory": "7Gi"}, "observedGeneration": 4}


@pytest.mark.parametrize("review", ["v1", "v1beta1"])
async def test_widgets_keep_three_replicas_until_the_size_is_edited(kubectl, serve_conversion, review):
    """The case that no function can invert, asked in both versions of the review."""
    widgets = await serve_conversion("widget", review_versions=(review,))
    body = {"apiVersion": "platform.acme.io/v1", "kind": "Widget", "metadata": {"name": "three"}}
    await kubectl("apply", "-f", "-", stdin={**body, "spec": {"tier": "gold", "resources": {"replicas": 3}}})
    assert await kubectl.spec(widgets.named(OLD), "three") == {"size": "small"}
    await kubectl("patch", widgets.named(OLD), "three", "--type=merge", "-p", '{"spec": {"image": "i:1"}}')
    seen = await kubectl.spec(widgets.named(NEW), "three")
    assert seen == {"tier": "gold", "image": "i:1", "resources": {"replicas": 3}}
    await kubectl("patch", widgets.named(OLD), "three", "--type=merge", "-p", '{"spec": {"size": "large"}}')
    assert (await kubectl.spec(widgets.named(NEW), "three"))["resources"] == {"replicas": 5}
    await kubectl("scale", widgets.named(NEW), "three", "--replicas=4")
    assert (await kubectl.spec(widgets.named(OLD), "three"))["size"] == "small"
