"""What a user sees of a conversion that fails: our one line, whatever they do, and everybody else goes on."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.cluster

BROKEN = '''
    """Takes every tenant but three."""
    import sys

    from instar.conversion import Conversion, Spoke, Unconvertible


    def to_v1(tenant):
        title = tenant.get("spec", {}).pop("title", "")
        if title == "refuse":
            raise Unconvertible("spec.title", title, "cannot be said at v1; rename it")
        if title == "raise":
            return tenant["spec"]["no such field"]
        if title == "leave":
            sys.exit("not today")
        if title == "rename":
            tenant["metadata"]["name"] = "renamed"
        if title == "nothing":
            return None
        tenant["spec"]["displayName"] = title
        return tenant


    def from_v1(tenant):
        tenant["spec"]["title"] = tenant["spec"].pop("displayName", "")
        return tenant


    conversion = Conversion(
        group="platform.acme.io",
        kind="Tenant",
        hub="v1",
        spokes=(Spoke(version="v1alpha1", to_hub=to_v1, from_hub=from_v1),),
    )
'''
LINES = {
    "refuse": '"refuse": cannot be said at v1; rename it (to_v1, broken.py:',
    "raise": "KeyError: 'no such field' (to_v1, broken.py:",
    "leave": "SystemExit: not today",
    "rename": "returned metadata.name 'renamed', not 'rename'",
    "nothing": "returned a NoneType, not an object",
}


@pytest.fixture
async def tenants(serve_conversion, tmp_path: Path):
    """Stored at v1alpha1, and a converter that does not take all of them to v1."""
    file = tmp_path / "broken.py"
    file.write_text(textwrap.dedent(BROKEN))
    return await serve_conversion("tenant", conversion=file)


def manifest(name: str, version: str = "v1alpha1") -> dict:
    field = "title" if version == "v1alpha1" else "displayName"
    metadata = {"name": name}
    return {"apiVersion": f"platform.acme.io/{version}", "kind": "Tenant", "metadata": metadata, "spec": {field: name}}


async def test_one_line_reaches_the_user_and_the_others_go_on(kubectl, tenants, cluster):
    """For a converter that refuses, raises, leaves the process, renames or returns nothing."""
    await kubectl("create", "-f", "-", stdin=manifest("fine"))
    for name, words in LINES.items():
        await kubectl("create", "-f", "-", stdin=manifest(name))
        code, _, err = await kubectl.try_("get", tenants.named("v1"), name)
        assert code == 1
        assert f"Tenant {cluster.namespace}/{name} v1alpha1 -> v1: " in err
        assert words in err
        assert "Traceback" not in err
        code, _, err = await kubectl.try_(
            "patch", tenants.named("v1"), name, "--type=merge", "-p", '{"spec": {"tier": "premium"}}'
        )
        assert code == 1
        assert words in err
        assert (await kubectl.spec(tenants.named("v1alpha1"), name))["title"] == name
    assert (await kubectl.spec(tenants.named("v1"), "fine"))["displayName"] == "fine"
    metrics = await tenants.webhook.metrics()
    assert 'result="ConversionFailed"' in metrics
    assert all(name not in line for line in tenants.webhook.log for name in ("cannot be said", "Traceback"))


async def test_a_refused_write_leaves_nothing_behind(kubectl, serve_conversion, tmp_path: Path, etcd):
    """Stored at v1: what cannot be converted is refused before it is stored, in the same words."""
    file = tmp_path / "broken.py"
    file.write_text(textwrap.dedent(BROKEN))
    tenants = await serve_conversion("tenant", conversion=file, storage="v1")
    code, _, err = await kubectl.try_("create", "-f", "-", stdin=manifest("refuse"))
    assert code == 1
    assert '"refuse": cannot be said at v1; rename it' in err
    await kubectl("create", "-f", "-", stdin=manifest("fine"))
    assert await etcd.versions("platform.acme.io", "tenants") == {"v1": 1}
    assert (await kubectl("get", tenants.named("v1"), "-o", "name")).split() == ["tenant.platform.acme.io/fine"]


async def test_an_old_object_that_no_schema_ever_checked_is_named(kubectl, serve_conversion, cluster, etcd):
    """Object, versions, field, value, function, file, line: found in etcd since before there was a pattern."""
    tenants = await serve_conversion("tenant")
    body = manifest("old")
    body["spec"] = {"quota": "cpu=1,mem=1Gi"}
    await kubectl("create", "-f", "-", stdin=body)
    (stored,) = [found async for found in etcd.stored(tenants.at("v1alpha1"))]
    await etcd.put(stored.key, stored.value.replace(b"cpu=1,", b"cpu=,"))
    code, _, err = await kubectl.try_("get", tenants.named("v1"), "old")
    assert code == 1
    assert f'Tenant {cluster.namespace}/old v1alpha1 -> v1: spec.quota: "cpu=,mem=1Gi": cpu is empty (to_v1' in err
