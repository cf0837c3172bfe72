"""One pass over one CRD on a real control plane: what etcd holds after it, and what it says."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.cluster import stage as stage_module

from instar import errors, migration
from instar.controllers import migrate
from instar.kube import etcd as kube_etcd
from instar.model import crd as crd_model

pytestmark = pytest.mark.cluster

QUICK = migration.Settings(settle_seconds=1, lease_seconds=1)


@pytest.fixture
async def stage(cluster, etcd: kube_etcd.Etcd) -> AsyncIterator[stage_module.Stage]:
    here = stage_module.Stage(client=cluster.client, etcd=etcd, namespace=cluster.namespace)
    await here.install()
    yield here
    await here.remove()


async def test_every_object_is_rewritten_and_the_old_version_trimmed(stage: stage_module.Stage) -> None:
    """After a pass etcd holds every object at the storage version, otherwise byte for byte as it was."""
    await stage.create(f"t{i}" for i in range(700))
    before = await stage.values()
    await stage.change("v2")
    found = await migrate.run(stage.client, stage.name, QUICK)
    assert found.result is migration.Result.TRIMMED, found.summary
    assert await stage.versions() == {"v2": 700}
    assert (await stage.crd()).stored_versions == ("v2",)
    old, new = f'"{stage.group}/v1","kind"'.encode(), f'"{stage.group}/v2","kind"'.encode()
    assert await stage.values() == {name: value.replace(old, new) for name, value in before.items()}
    counts = found.rewrite.counts
    assert (counts.listed, counts.moved, counts.unchanged) == (700, 700, 0)
    assert found.proof.counts.unchanged == 700
    assert found.canaries == frozenset(stage.client.servers) or len(stage.client.servers) == 1


async def test_the_proof_by_bytes_reads_etcd(stage: stage_module.Stage, etcd: kube_etcd.Etcd) -> None:
    """With --etcd the record holds what etcd was seen to hold."""
    await stage.create(["a", "b"])
    await stage.change("v2")
    found = await migrate.run(stage.client, stage.name, migration.Settings(settle_seconds=0, etcd=etcd.url))
    assert found.result is migration.Result.TRIMMED
    assert found.stored.by_version == {f"{stage.group}/v2": 2}


async def test_a_value_in_etcd_that_cannot_be_read_is_unknown(stage: stage_module.Stage, etcd: kube_etcd.Etcd) -> None:
    """Bytes that are no JSON (encrypted, CBOR) hold the gate: they are never taken for clean."""
    await stage.create(["a"])
    await stage.change("v2")

    class Plant:
        async def before(self, action) -> None:
            if isinstance(action, migrate.actions.ReadBytes):
                await etcd.put(f"/registry/{stage.group}/things/elsewhere/x", b"k8s:enc:aescbc:v1:key:\x00\x01")

        async def after(self, action, outcome) -> None: ...

    chosen = migration.Settings(settle_seconds=0, etcd=etcd.url, proof_rounds=1)
    found = await migrate.run(stage.client, stage.name, chosen, observer=Plant())
    assert found.result is migration.Result.HELD
    assert "cannot be read" in found.summary
    assert (await stage.crd()).stored_versions == ("v1", "v2")
    await etcd._post("/v3/kv/deleterange", {"key": _key(f"/registry/{stage.group}/things/elsewhere/x")})


def _key(text: str) -> str:
    import base64

    return base64.b64encode(text.encode()).decode()


async def test_no_objects(stage: stage_module.Stage) -> None:
    """Without objects there is nothing to rewrite, and still the gate and the settle time before the trim."""
    await stage.change("v2")
    found = await migrate.run(stage.client, stage.name, QUICK)
    assert found.result is migration.Result.TRIMMED
    assert "no objects" in found.summary
    assert (await stage.crd()).stored_versions == ("v2",)


async def test_nothing_to_do_changes_nothing(stage: stage_module.Stage) -> None:
    """storedVersions is right already: said in one line, and no object is touched."""
    await stage.create(["a"])
    before = await stage.values()
    found = await migrate.run(stage.client, stage.name, QUICK)
    assert found.result is migration.Result.NOTHING_TO_DO
    assert await stage.values() == before
    assert migration.exit_code(found) == 0


async def test_dry_run_changes_nothing(cluster, stage: stage_module.Stage) -> None:
    """--dry-run says how many objects would be written, and writes none."""
    await stage.create(f"t{i}" for i in range(7))
    await stage.change("v2")
    etcd = cluster.control_plane.etcd
    found = await migrate.run(stage.client, stage.name, migration.Settings(dry_run=True, etcd=etcd))
    assert "7 objects would be rewritten" in found.summary
    assert "storedVersions [v1, v2] would become [v2]; etcd holds 7 at v1" in found.summary
    assert await stage.versions() == {"v1": 7}
    assert (await stage.crd()).stored_versions == ("v1", "v2")


async def test_dry_run_finds_what_cannot_be_reached(stage: stage_module.Stage) -> None:
    """An API server that does not answer would hold the pass: exit code 1; an etcd that does not is an error."""
    await stage.create(["one"])
    await stage.change("v2")
    nowhere = "https://127.0.0.1:1"
    found = await migrate.run(stage.client, stage.name, migration.Settings(dry_run=True, servers=(nowhere,)))
    assert "1 object would be rewritten" in found.summary
    assert f"it would wait now: {nowhere} does not answer" in found.summary
    assert migration.exit_code(found) == 1
    with pytest.raises(errors.UnreachableError, match=r"127\.0\.0\.1:1"):
        await migrate.run(stage.client, stage.name, migration.Settings(dry_run=True, etcd="http://127.0.0.1:1"))


async def test_unknown_crd_is_wrong_use(cluster) -> None:
    """A CRD that does not exist is named, with what its name should look like."""
    with pytest.raises(errors.UsageError, match=r"no CustomResourceDefinition 'nothing.example.com'"):
        await migrate.run(cluster.client, "nothing.example.com", QUICK)


async def test_terminating_crd_is_left_alone(stage: stage_module.Stage) -> None:
    """A CRD that is being deleted takes its objects with it: nothing is written."""
    await stage.create(["a"])
    await stage.change("v2")
    key = kube_etcd.key(stage.at("v1"), stage.namespace, "a")
    await stage.client.patch(stage.at("v1"), "a", {"metadata": {"finalizers": ["example.com/wait"]}}, stage.namespace)
    revision = (await stage.etcd.get(key)).mod_revision
    await stage.client.delete(crd_model.RESOURCE, stage.name)
    while not (await stage.crd()).terminating:
        await asyncio.sleep(0.1)
    found = await migrate.run(stage.client, stage.name, QUICK)
    assert found.result is migration.Result.HELD
    assert "is being deleted" in found.summary
    await stage.client.patch(stage.at("v1"), "a", {"metadata": {"finalizers": None}}, stage.namespace)
    assert revision
    for _ in range(100):
        try:
            await stage.crd()
        except errors.ApiError:
            break
        await asyncio.sleep(0.1)
    await stage.install()


async def test_a_second_run_of_the_same_crd_is_refused(stage: stage_module.Stage) -> None:
    """While one run works, another is refused by name, and the first ends well."""
    await stage.create(f"t{i}" for i in range(50))
    await stage.change("v2")
    chosen = migration.Settings(settle_seconds=4, lease_seconds=1)
    first = asyncio.create_task(migrate.run(stage.client, stage.name, chosen))
    await asyncio.sleep(1)
    second = await migrate.run(stage.client, stage.name, chosen)
    assert second.result is migration.Result.HELD
    assert "another `instar migrate`" in second.summary
    assert (await first).result is migration.Result.TRIMMED


async def test_in_tree_migration_is_refused(stage: stage_module.Stage) -> None:
    """Condition StorageMigrating=True: the in-tree controller works on it, so this does not."""
    await stage.create(["a"])
    await stage.change("v2")
    condition = {"type": "StorageMigrating", "status": "True", "reason": "MigrationRunning", "message": "m"}
    condition["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    patch = [{"op": "add", "path": "/status/conditions/-", "value": condition}]
    await stage.client.patch(crd_model.RESOURCE, stage.name, patch, patch_type="json", subresource="status")
    found = await migrate.run(stage.client, stage.name, QUICK)
    assert found.result is migration.Result.HELD
    assert "StorageMigrating" in found.summary
    assert await stage.versions() == {"v1": 1}


async def test_unserved_storage_version_holds_with_its_reason(stage: stage_module.Stage) -> None:
    """served: false on the storage version hides the hash that the gate needs: held, and said what to change."""
    await stage.create(["a"])
    await stage.change("v2", unserved=["v2"])
    found = await migrate.run(stage.client, stage.name, QUICK)
    assert found.result is migration.Result.HELD
    assert "set served: true on v2" in found.summary


async def test_a_flip_back_during_the_pass_starts_it_again(stage: stage_module.Stage) -> None:
    """A rollback after the proof: the trim is about the new state of the CRD, with a whole new pass."""
    await stage.create(f"t{i}" for i in range(20))
    await stage.change("v2")

    class Rollback:
        done = False

        async def before(self, action) -> None:
            if isinstance(action, migrate.actions.Trim) and not self.done:
                self.done = True
                await stage.change("v1")

        async def after(self, action, outcome) -> None: ...

    found = await migrate.run(stage.client, stage.name, QUICK, observer=Rollback())
    assert found.result is migration.Result.TRIMMED
    assert found.restarts == 1
    assert found.storage_version == "v1"
    assert await stage.versions() == {"v1": 20}
    assert (await stage.crd()).stored_versions == ("v1",)


async def test_a_crd_created_again_during_the_pass_starts_it_again(stage: stage_module.Stage) -> None:
    """Evidence about a CRD that was deleted says nothing about its successor of the same name."""
    await stage.create(f"t{i}" for i in range(5))
    await stage.change("v2")

    class Recreate:
        done = False

        async def before(self, action) -> None:
            if isinstance(action, migrate.actions.Trim) and not self.done:
                self.done = True
                await stage.remove()
                while True:
                    try:
                        await stage.crd()
                    except errors.ApiError:
                        break
                    await asyncio.sleep(0.1)
                await stage.install()
                await stage.create(["late"])
                await stage.change("v2")

        async def after(self, action, outcome) -> None: ...

    uid = (await stage.crd()).uid
    found = await migrate.run(stage.client, stage.name, QUICK, observer=Recreate())
    assert found.restarts == 1
    assert found.uid != uid
    assert await stage.versions() == {"v2": 1}
    assert (await stage.crd()).stored_versions == ("v2",)


async def test_interrupted_and_run_again(stage: stage_module.Stage) -> None:
    """Cancelled during the rewrite (Ctrl-C): nothing is trimmed, the lease is free, and a second run ends it."""
    await stage.create(f"t{i}" for i in range(600))
    await stage.change("v2")
    run = asyncio.create_task(migrate.run(stage.client, stage.name, QUICK))
    while (await stage.versions()).get("v2", 0) < 50:
        await asyncio.sleep(0.02)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert (await stage.versions()).get("v1", 0) > 0
    assert (await stage.crd()).stored_versions == ("v1", "v2")
    found = await migrate.run(stage.client, stage.name, QUICK)
    assert found.result is migration.Result.TRIMMED
    assert found.rewrite.counts.unchanged > 0
    assert await stage.versions() == {"v2": 600}


async def test_a_default_of_the_new_version_is_said_to_be_a_real_change(stage: stage_module.Stage) -> None:
    """The rewrite adds a default that the new version brings (a read of an old object does not): counted apart."""
    await stage.create(["a", "b"])
    spec = stage.spec("v2")
    mode = {"type": "string", "default": "safe"}
    spec["versions"][1]["schema"] = {
        "openAPIV3Schema": {
            "type": "object",
            "properties": {
                "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"mode": mode}}
            },
        }
    }
    await stage.client.patch(crd_model.RESOURCE, stage.name, {"spec": spec})
    before = (await stage.client.get(stage.at("v2"), "a", stage.namespace))["spec"]
    found = await migrate.run(stage.client, stage.name, QUICK)
    assert found.result is migration.Result.TRIMMED, found.summary
    assert found.rewrite.counts.changed == 2
    assert "2 of them a real change" in found.summary
    after = (await stage.client.get(stage.at("v2"), "a", stage.namespace))["spec"]
    assert after == {**before, "mode": "safe"}
