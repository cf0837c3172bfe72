"""The contract between the client and a real API server: every verb, watches, errors, bytes."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator

import orjson
import pytest
from tests.cluster import stage as stage_module

from instar import errors
from instar.kube import client as kube_client
from instar.kube import etcd as kube_etcd
from instar.kube import kubeconfig
from instar.model import crd as crd_model
from instar.model import resource

pytestmark = pytest.mark.cluster

CONFIGMAPS = resource.Resource(group="", version="v1", plural="configmaps", kind="ConfigMap", namespaced=True)

BINDINGS = resource.Resource(
    group="rbac.authorization.k8s.io",
    version="v1",
    plural="clusterrolebindings",
    kind="ClusterRoleBinding",
    namespaced=False,
)
CROWD_MAY_ALL = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "crowd"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "crowd"}],
}


@pytest.fixture
async def stage(cluster, etcd: kube_etcd.Etcd) -> AsyncIterator[stage_module.Stage]:
    here = stage_module.Stage(client=cluster.client, etcd=etcd, namespace=cluster.namespace)
    await here.install()
    yield here
    await here.remove()


def configmap(name: str, **data: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


async def test_one_object_through_every_verb(cluster) -> None:
    """Create, get, update, merge, JSON patch, apply and delete do to an object what their names say."""
    client, space = cluster.client, cluster.namespace
    made = await client.create(CONFIGMAPS, configmap("one", a="1"), space)
    assert made["metadata"]["uid"]
    read = await client.get(CONFIGMAPS, "one", space)
    read["data"]["b"] = "2"
    updated = await client.update(CONFIGMAPS, read, "one", space)
    assert updated["metadata"]["resourceVersion"] != read["metadata"]["resourceVersion"]
    merged = await client.patch(CONFIGMAPS, "one", {"data": {"a": None}}, space)
    assert merged["data"] == {"b": "2"}
    operations = [{"op": "test", "path": "/data/b", "value": "2"}, {"op": "add", "path": "/data/c", "value": "3"}]
    patched = await client.patch(CONFIGMAPS, "one", operations, space, patch_type="json")
    assert patched["data"] == {"b": "2", "c": "3"}
    applied = await client.patch(
        CONFIGMAPS, "one", configmap("one", c="4"), space, patch_type="apply", field_manager="me", force=True
    )
    assert applied["data"] == {"b": "2", "c": "4"}
    assert "me" in {entry["manager"] for entry in applied["metadata"]["managedFields"]}
    await client.delete(CONFIGMAPS, "one", space, body={"preconditions": {"uid": made["metadata"]["uid"]}})
    with pytest.raises(errors.ApiError) as caught:
        await client.get(CONFIGMAPS, "one", space)
    assert (caught.value.code, caught.value.reason) == (404, "NotFound")


async def test_dry_run_changes_nothing(cluster) -> None:
    """A dry run answers as the real thing and leaves no object."""
    made = await cluster.client.create(CONFIGMAPS, configmap("dry"), cluster.namespace, dry_run=True)
    assert made["metadata"]["name"] == "dry"
    with pytest.raises(errors.ApiError, match="404 NotFound"):
        await cluster.client.get(CONFIGMAPS, "dry", cluster.namespace)


async def test_metadata_only(cluster) -> None:
    """Metadata alone comes as PartialObjectMetadata, from reads and from writes."""
    await cluster.client.create(CONFIGMAPS, configmap("m", a="1"), cluster.namespace)
    read = await cluster.client.get(CONFIGMAPS, "m", cluster.namespace, metadata_only=True)
    written = await cluster.client.patch(CONFIGMAPS, "m", b"{}", cluster.namespace, metadata_only=True)
    page = await cluster.client.list_page(CONFIGMAPS, cluster.namespace, metadata_only=True)
    for found in (read, written, *(orjson.loads(bytes(raw)) for raw in page.items)):
        assert "data" not in found
        assert found["metadata"]["name"] == "m"


async def test_errors_carry_reason_and_causes(stage: stage_module.Stage) -> None:
    """Kubernetes' own words for each refusal, on one line that names the server and the context."""
    client = stage.client
    broken = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "x"}}
    with pytest.raises(errors.ApiError) as caught:
        await client.create(crd_model.RESOURCE, broken | {"spec": stage.spec("v1")})
    assert (caught.value.code, caught.value.reason, caught.value.exit_code) == (422, "Invalid", 3)
    assert "metadata.name" in {cause.field for cause in caught.value.causes}
    assert client.servers[0] in caught.value.message
    assert "\n" not in caught.value.message
    await stage.create(["a"])
    with pytest.raises(errors.ApiError) as caught:
        await client.create(stage.at("v1"), stage.body("a"), stage.namespace)
    assert (caught.value.code, caught.value.reason) == (409, "AlreadyExists")
    stale = {"metadata": {"resourceVersion": "1"}, "spec": {"size": "other"}}
    with pytest.raises(errors.ApiError) as caught:
        await client.patch(stage.at("v1"), "a", stale, stage.namespace)
    assert (caught.value.code, caught.value.reason) == (409, "Conflict")


async def test_status_subresource(stage: stage_module.Stage) -> None:
    """A CRD's status is written through its subresource, and through that alone."""
    before = (await stage.crd()).stored_versions
    await stage.client.patch(crd_model.RESOURCE, stage.name, {"status": {"storedVersions": ["v2"]}})
    assert (await stage.crd()).stored_versions == before == ("v1",)
    patch = {"status": {"storedVersions": ["v2", "v1"]}}
    await stage.client.patch(crd_model.RESOURCE, stage.name, patch, subresource="status")
    assert (await stage.crd()).stored_versions == ("v2", "v1")


async def test_pages_give_the_stored_bytes(stage: stage_module.Stage) -> None:
    """Every object comes exactly once over small pages; raw items put back unchanged leave etcd's bytes alone."""
    names = [f"n{index:02}" for index in range(25)]
    await stage.create(names)
    before = await stage.values()
    found = []
    async for page in stage.client.pages(stage.at("v1"), limit=4):
        assert len(page.items) <= 4
        for raw in page.items:
            name = orjson.loads(bytes(raw))["metadata"]["name"]
            found.append(name)
            await stage.client.update(stage.at("v1"), bytes(raw), name, stage.namespace, metadata_only=True)
    assert found == names
    assert await stage.values() == before
    first = await stage.client.list_page(stage.at("v1"), limit=4)
    assert (len(first.items), first.remaining) == (4, 21)


async def test_discovery_and_version(stage: stage_module.Stage) -> None:
    """Discovery shows the resource at both versions, with the hash of the storage version that we compute too."""
    expected = crd_model.storage_version_hash(await stage.crd())
    for version in ("v1", "v2"):
        (entry,) = await stage.client.discover(stage.group, version)
        assert (entry["name"], entry["storageVersionHash"]) == ("things", expected)
    assert (await stage.client.server_version()).startswith("v1.")
    assert any(entry["name"] == "configmaps" for entry in await stage.client.discover("", "v1"))


# --- watches ----------------------------------------------------------------------------------------------------------


async def test_watch_sees_every_change(stage: stage_module.Stage) -> None:
    """From a list's resource version on, each change is one event in order, however many versions it goes through."""
    page = await stage.client.list_page(stage.at("v2"))
    await stage.create(["a"])
    await stage.client.patch(stage.at("v1"), "a", {"spec": {"size": "b"}}, stage.namespace)
    await stage.client.delete(stage.at("v1"), "a", stage.namespace)
    events = stage.client.watch(stage.at("v2"), resource_version=page.resource_version, timeout_seconds=20)
    seen = []
    async with contextlib.aclosing(events):
        async for event in events:
            seen.append((event.type, event.object["apiVersion"], event.object.get("spec", {}).get("size")))
            if event.type == "DELETED":
                break
    api_version = stage.at("v2").api_version
    assert [entry for entry in seen if entry[0] != "BOOKMARK"] == [
        ("ADDED", api_version, "a"),
        ("MODIFIED", api_version, "b"),
        ("DELETED", api_version, "b"),
    ]


async def test_watch_gives_bookmarks_and_ends(stage: stage_module.Stage) -> None:
    """A bookmark is an event like others and says how far the watch is; one that times out ends without an error."""
    await stage.create(["elsewhere"])
    initial = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
    events = stage.client.watch(stage.at("v1"), resource_version="", timeout_seconds=2, params=initial)
    added, mark = [event async for event in events]
    assert (added.type, mark.type) == ("ADDED", "BOOKMARK")
    assert int(mark.object["metadata"]["resourceVersion"]) >= int(added.object["metadata"]["resourceVersion"])


async def test_watch_ends_at_a_crd_change(stage: stage_module.Stage) -> None:
    """A change of the CRD's spec closes its watches: a clean end, after which a list and a watch work again."""
    page = await stage.client.list_page(stage.at("v1"))

    async def follow() -> None:
        async for _ in stage.client.watch(stage.at("v1"), resource_version=page.resource_version):
            pass

    following = asyncio.create_task(follow())
    await asyncio.sleep(1)
    assert not following.done()
    await stage.change("v2")
    await asyncio.wait_for(following, 20)
    assert (await stage.client.list_page(stage.at("v1"))).items == ()


async def test_watch_from_too_long_ago(stage: stage_module.Stage) -> None:
    """A resource version from before the server's cache began is ApiError 410 Expired, not a silent gap."""
    page = await stage.client.list_page(stage.at("v1"))
    await stage.create(["a", "b"])
    await stage.change("v2")

    async def follow() -> None:
        while True:  # until the caches that a CRD change closes are new ones
            async for _ in stage.client.watch(stage.at("v1"), resource_version=page.resource_version):
                pass

    with pytest.raises(errors.ApiError) as caught:
        await asyncio.wait_for(follow(), 60)
    assert (caught.value.code, caught.value.reason) == (410, "Expired")


async def test_compacted(make_control_plane) -> None:
    """What etcd has compacted away is 410 Expired, in a watch and in a list; the list's token goes on from now."""
    plane = make_control_plane(apiserver_flags=("--watch-cache=false",))
    async with (
        asyncio.timeout(60),
        kube_client.Client(kubeconfig.load(str(plane.kubeconfig))) as client,
        kube_etcd.Etcd(plane.etcd) as witness,
    ):
        for name in ("a", "b", "c"):
            await client.create(CONFIGMAPS, configmap(name), "default")
        first = await client.list_page(CONFIGMAPS, "default", limit=1)
        await client.delete(CONFIGMAPS, "c", "default")
        await client.delete(CONFIGMAPS, "a", "default")
        now = await client.list_page(CONFIGMAPS, "default", limit=1)
        await witness._post("/v3/kv/compaction", {"revision": now.resource_version, "physical": True})
        with pytest.raises(errors.ApiError) as caught:
            await client.list_page(CONFIGMAPS, "default", limit=1, continue_token=first.continue_token)
        assert (caught.value.code, caught.value.reason) == (410, "Expired")
        rest = await client.list_page(CONFIGMAPS, "default", continue_token=caught.value.continue_token)
        assert [orjson.loads(bytes(raw))["metadata"]["name"] for raw in rest.items] == ["b"]
        with pytest.raises(errors.ApiError) as caught:
            async for _ in client.watch(CONFIGMAPS, "default", resource_version=first.resource_version):
                pass
        assert (caught.value.code, caught.value.reason) == (410, "Expired"), caught.value.message


# --- more than one server, and patience -------------------------------------------------------------------------------


async def test_two_servers(make_control_plane) -> None:
    """What is written through one API server is read through the other, over TLS with the same authority."""
    plane = make_control_plane(apiservers=2)
    config = kubeconfig.load(str(plane.kubeconfig))
    async with kube_client.Client(config, servers=plane.apiservers) as client:
        one, two = client.servers
        assert one != two
        await client.create(CONFIGMAPS, configmap("x", via="one"), "default", server=one)
        assert (await client.get(CONFIGMAPS, "x", "default", server=two))["data"] == {"via": "one"}
        assert await client.server_version(server=one) == await client.server_version(server=two)


async def test_throttled_requests_wait_and_succeed(make_control_plane) -> None:
    """An overloaded API server's 429 with Retry-After is waited out: of many requests at once none fails."""
    flags = ("--enable-priority-and-fairness=false", "--max-requests-inflight=1", "--max-mutating-requests-inflight=1")
    plane = make_control_plane(apiserver_flags=flags)
    config = kubeconfig.load(str(plane.kubeconfig))
    async with kube_client.Client(config) as admin:
        await admin.create(BINDINGS, CROWD_MAY_ALL)
        for name in ("a", "b", "c", "d", "e"):
            await admin.create(CONFIGMAPS, configmap(name, data="x" * 500_000), "default")
    crowd = dataclasses.replace(config, impersonate=(("Impersonate-User", "crowd"),))  # admins are not throttled
    path = resource.path(CONFIGMAPS, "default")
    async with asyncio.timeout(100), kube_client.Client(crowd) as client:
        for _round in range(10):
            some = await asyncio.gather(
                *(client.request("GET", path, retry=False) for _ in range(20)), return_exceptions=True
            )
            if throttled := [error for error in some if isinstance(error, errors.ApiError)]:
                break
        assert {(error.code, error.retry_after_seconds) for error in throttled} == {(429, 1)}
        answers = await asyncio.gather(*(client.request("GET", path) for _ in range(20)))
        assert {answer.code for answer in answers} == {200}


async def test_token_user(cluster, tmp_path) -> None:
    """A bearer token from kubeconfig is who we are: its service account may not, and the answer says so."""
    accounts = resource.Resource(
        group="", version="v1", plural="serviceaccounts", kind="ServiceAccount", namespaced=True
    )
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "bot"}}
    await cluster.client.create(accounts, account, cluster.namespace)
    path = resource.path(accounts, cluster.namespace, "bot", "token")
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    answer = await cluster.client.request("POST", path, body=orjson.dumps(request))
    token_file = tmp_path / "token"
    token_file.write_text(orjson.loads(answer.body)["status"]["token"])
    known = cluster.client.config
    bot = kubeconfig.Config(
        server=known.server,
        certificate_authority=known.certificate_authority,
        token_file=str(token_file),
    )
    async with kube_client.Client(bot) as client:
        with pytest.raises(errors.ApiError) as caught:
            await client.list_page(CONFIGMAPS, cluster.namespace)
    assert (caught.value.code, caught.value.reason) == (403, "Forbidden")
    assert f"system:serviceaccount:{cluster.namespace}:bot" in caught.value.message
