"""What changes carried annotations besides clients: webhooks, policies, applies, a migration, a release."""

from __future__ import annotations

import asyncio
import base64
import json
import random
import time

import pytest
from tests.cluster import command, https
from tests.cluster import guarded as guarded_module
from tests.cluster import test_laws_apply as laws_apply
from tests.cluster.conftest import EXAMPLES
from tests.cluster.guarded import (
    BOTH,
    EVERYWHERE,
    MODES,
    Document,
    assert_specs,
    carried,
    code,
    forged,
    policy_resource,
    put_without,
    remove_guard,
)
from tests.cluster.test_serve_kubectl import NEW, OLD, RICH, SPEC, manifest

from instar import errors
from instar.model import crd as crd_model
from instar.model import resource as resource_model
from instar.serving import local

pytestmark = pytest.mark.cluster

guarding = guarded_module.guarding


@pytest.fixture
async def isolating(cluster):
    """A mutating webhook that speaks v1 and isolates each tenant: writes at v1alpha1 are converted for it, and back."""
    with https.serve(isolate) as (url, authority):
        name = f"isolate.{cluster.namespace}.acme.io"
        rule = {
            "apiGroups": ["platform.acme.io"],
            "apiVersions": [NEW],
            "resources": ["tenants"],
            "operations": ["CREATE", "UPDATE"],
        }
        webhook = {
            "name": name,
            "clientConfig": {"url": f"{url}/isolate", "caBundle": base64.b64encode(authority).decode()},
            "rules": [rule],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
        resource = resource_model.Resource(
            group="admissionregistration.k8s.io",
            version="v1",
            plural="mutatingwebhookconfigurations",
            kind="MutatingWebhookConfiguration",
            namespaced=False,
        )
        body = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": name}}
        await cluster.client.create(resource, {**body, "webhooks": [webhook]})
        await asyncio.sleep(1)
        yield
        await cluster.client.delete(resource, name)


def isolate(review: Document) -> Document:
    spec = review["request"]["object"].get("spec", {})
    assert review["request"]["object"]["apiVersion"].endswith("/v1")
    patch = [] if spec.get("network") else [{"op": "add", "path": "/spec/network", "value": {"isolated": True}}]
    response: Document = {"uid": review["request"]["uid"], "allowed": True}
    if patch:
        encoded = base64.b64encode(json.dumps(patch).encode()).decode()
        response |= {"patchType": "JSONPatch", "patch": encoded}
    return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}


@EVERYWHERE
async def test_a_mutating_webhook_of_another_version_is_no_forger(guarding, isolating, storage, mode):
    """What it sets is carried as it should be, on creates and on edits, and no client is refused for it."""
    guarded = await guarding(storage, mode)
    isolated = {"network": {"isolated": True}}
    await guarded.create(OLD, manifest(OLD, "new"))
    await assert_specs(guarded, SPEC[OLD], {**SPEC[NEW], **isolated}, "new")
    for number, edit in enumerate(({"title": "T1"}, {"title": "T2", "costCentre": "1"})):
        await guarded.patch(OLD, {"spec": edit})
        await guarded.put(OLD, {**(read := await guarded.get(OLD)), "spec": {**read["spec"], "quota": f"cpu={number}"}})
    await guarded.patch(NEW, {"spec": {"network": None}})
    await guarded.patch(OLD, {"spec": {"quota": SPEC[OLD]["quota"]}})
    new = {**RICH, "displayName": "T2", **isolated}
    await assert_specs(guarded, {**SPEC[OLD], "title": "T2", "costCentre": "1"}, new)
    if mode == "puts back":
        await put_without(guarded, OLD)
        await assert_specs(guarded, {**SPEC[OLD], "title": "T2", "costCentre": "1"}, new)
    assert await code(guarded.patch(OLD, forged("/spec/tier", "dedicated", "premium"))) == 403


LABELLING = """
object.metadata.?labels[?'seen'].orValue('') == 'yes' ? [] :
(has(object.metadata.labels) ? [] : [JSONPatch{op: 'add', path: '/metadata/labels', value: {}}])
+ [JSONPatch{op: 'add', path: '/metadata/labels/seen', value: 'yes'}]
"""


@pytest.fixture
async def labelling(cluster):
    """`await labelling()`: another mutating policy that looks at each version as it was requested."""
    rule = {"apiGroups": ["platform.acme.io"], "apiVersions": ["*"], "resources": ["tenants"], "operations": ["UPDATE"]}
    spec = {
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "matchConstraints": {"resourceRules": [rule]},
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": LABELLING}}],
    }
    name = f"label.{cluster.namespace}"
    documents = [
        {"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": body}
        for kind, body in (
            ("MutatingAdmissionPolicy", spec),
            ("MutatingAdmissionPolicyBinding", {"policyName": name}),
        )
    ]

    async def labelling() -> None:
        for document in documents:
            await cluster.client.create(policy_resource(document), document)
        await asyncio.sleep(2)

    yield labelling
    await remove_guard(cluster, documents)


async def test_another_mutating_policy_and_the_guard_both_take_effect(guarding, labelling):
    """Where it too names all versions. (The API server keeps one result of two policies that name different ones.)"""
    guarded = await guarding(OLD)
    await labelling()
    for version in (OLD, NEW):
        await put_without(guarded, version)
        await assert_specs(guarded, SPEC[OLD], RICH)
    assert (await guarded.get(OLD))["metadata"]["labels"] == {"seen": "yes"}


@MODES
async def test_after_a_release_what_was_read_before_it_is_read_again(guarding, tmp_path, mode):
    """A release that carries other bases: a copy from before it is refused, not mixed in; a fresh one passes."""
    guarded = await guarding(OLD, mode)
    await guarded.patch(NEW, {"spec": {"owners": [{"name": "zoe", "role": "admin"}]}})
    read = await guarded.get(OLD)
    text = (EXAMPLES / "tenant" / "conversion.py").read_text()
    release = tmp_path / "release.py"
    release.write_text(text.replace('{"name": name}', '{"name": name, "role": "editor"}'))
    assert release.read_text() != text
    async with local.start(release, EXAMPLES / "tenant" / "crd.yaml") as webhook:
        patch = {"spec": {"conversion": webhook.conversion}}
        await guarded.cluster.client.patch(crd_model.RESOURCE, guarded.conversion.crd.name, patch)
        while await guarded.carried(OLD) == carried(read):
            await guarded.patch(NEW, {"metadata": {"labels": {"now": str(time.time_ns())}}})
            read["metadata"]["resourceVersion"] = (await guarded.get(OLD))["metadata"]["resourceVersion"]
        with pytest.raises(errors.ApiError, match="Read the object again"):
            await guarded.put(OLD, {**read, "spec": {**read["spec"], "title": "stale"}})
        fresh = await guarded.get(OLD)
        await guarded.put(OLD, {**fresh, "spec": {**fresh["spec"], "title": "fresh"}})
        assert (await guarded.spec(NEW))["displayName"] == "fresh"
        assert (await guarded.spec(NEW))["owners"] == [{"name": "zoe", "role": "admin"}]
        restored = {"spec": {"conversion": guarded.conversion.webhook.conversion}}
        await guarded.cluster.client.patch(crd_model.RESOURCE, guarded.conversion.crd.name, restored)
        await asyncio.sleep(1)


@MODES
async def test_a_migration_passes(guarding, tmp_path, mode):
    """`instar migrate` rewrites everything under the guard, and both versions read as before."""
    guarded = await guarding(OLD, mode)
    crd = guarded.conversion.crd
    flipped = [{**one, "storage": one["name"] == NEW} for one in crd.document["spec"]["versions"]]
    await guarded.cluster.client.patch(crd_model.RESOURCE, crd.name, {"spec": {"versions": flipped}})
    kubeconfig = guarded.cluster.control_plane.kubeconfig
    ended = await command.instar(
        *("migrate", crd.name, "--kubeconfig", kubeconfig, "--settle", "1"),
        environment={"XDG_STATE_HOME": str(tmp_path)},
    )
    assert ended.code == 0, ended.err
    assert "2 objects proved to be stored at v1" in ended.out
    await assert_specs(guarded, SPEC[OLD], RICH)


reference = laws_apply.reference


@BOTH
@pytest.mark.parametrize(
    ("name", "reference", "mode"),
    [("tenant", "tenant", "puts back"), ("tenant", "tenant", "refuses"), ("widget", "widget", "puts back")],
    indirect=["reference"],
)
async def test_random_applies_are_not_disturbed(guarding, reference, name, storage, mode):
    """Applies of three managers at two versions end in the state and ownership of a one-version CRD, guarded too."""
    guarded = await guarding(storage, mode, example=name)
    await asyncio.sleep(0 if name == "tenant" else 8)
    async with asyncio.TaskGroup() as group:
        for number in range(4):
            twin = laws_apply.Twin(
                cluster=guarded.cluster,
                conversion=guarded.conversion,
                reference=reference,
                kind=name,
                name=f"twin-{number}",
            )
            group.create_task(laws_apply.sequence(twin, random.Random(f"{laws_apply.SEED} {twin.name}")))
