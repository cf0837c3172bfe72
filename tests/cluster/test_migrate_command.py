"""``instar migrate`` as a person runs it: what it prints where, its exit codes, Ctrl-C, no traceback."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cluster import stage as stage_module

from instar.kube import etcd as kube_etcd
from instar.model import resource as resource_model

pytestmark = pytest.mark.cluster


@pytest.fixture
async def stage(cluster: Any, etcd: kube_etcd.Etcd) -> AsyncIterator[stage_module.Stage]:
    here = stage_module.Stage(client=cluster.client, etcd=etcd, namespace=cluster.namespace)
    await here.install()
    yield here
    await here.remove()


async def start(cluster: Any, folder: Path, *words: str) -> asyncio.subprocess.Process:
    environment = {**os.environ, "KUBECONFIG": str(cluster.control_plane.kubeconfig), "XDG_STATE_HOME": str(folder)}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "instar.cli.main",
        "migrate",
        *words,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
    )


async def run(cluster: Any, folder: Path, *words: str) -> tuple[int, str, str]:
    process = await start(cluster, folder, *words)
    out, err = await asyncio.wait_for(process.communicate(), 90)
    return process.returncode or 0, out.decode(), err.decode()


async def test_a_migration_from_the_command_line(cluster: Any, stage: stage_module.Stage, tmp_path: Path) -> None:
    """Plain lines on stderr, the summary on stdout, the record in the file that the last line names."""
    await stage.create(f"t{i}" for i in range(30))
    await stage.change("v2")
    code, out, err = await run(cluster, tmp_path, stage.name, "--settle", "1")
    assert code == 0, err
    assert f"{stage.name}: rewriting" in err
    assert f"{stage.name}: proving" in err
    assert "\x1b" not in out + err
    assert "30 objects proved to be stored at v2, 30 rewritten" in out
    last = out.splitlines()[-1]
    assert last.startswith("evidence: ")
    record = json.loads(Path(last.removeprefix("evidence: ")).read_text())["migrations"][0]
    assert record["result"] == "trimmed"
    assert record["storedVersions"] == {"before": ["v1", "v2"], "after": ["v2"]}
    assert record["proof"]["method"] == "fixed point"
    assert all(gate["holds"] for gate in record["gates"])
    assert await stage.versions() == {"v2": 30}


async def test_json_is_nothing_but_data(cluster: Any, stage: stage_module.Stage, tmp_path: Path) -> None:
    """-o json: stdout is one document, also when there is nothing to do; --evidence names the file."""
    path = tmp_path / "record.json"
    code, out, _ = await run(cluster, tmp_path, stage.name, "-o", "json", "--evidence", str(path))
    assert code == 0
    document = json.loads(out)
    assert document["migrations"][0]["result"] == "nothing to do"
    assert json.loads(path.read_text()) == document


async def test_several_at_once_and_the_worst_exit_code(cluster: Any, stage: stage_module.Stage, tmp_path: Path) -> None:
    """Each CRD has its own line; one that does not exist does not keep the other from being migrated."""
    await stage.create(["a"])
    await stage.change("v2")
    code, out, err = await run(cluster, tmp_path, "nothing.example.com", stage.name, "--settle", "0")
    assert code == 2
    assert "there is no CRD 'nothing.example.com'" in out
    assert f"{stage.name}: 1 object proved" in out
    assert "Traceback" not in out + err


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["nothing.example.com"], 2, "error: there is no CRD 'nothing.example.com'; kubectl get crd lists"),
        (["crd/nothing.example.com"], 2, "error: there is no CRD 'nothing.example.com'"),
        ([""], 2, "error: a CRD's name is empty"),
        (["x.example.com", "--apiserver", "here"], 2, "API server 'here' is no URL"),
        (["x.example.com", "--kubeconfig", "/nowhere"], 3, "/nowhere"),
        (["x.example.com", "--concurrency", "0"], 2, "--concurrency"),
    ],
)
async def test_bad_input_is_one_line(cluster: Any, tmp_path: Path, words: list[str], code: int, text: str) -> None:
    """The exit code says of which kind, the line what and how; no traceback."""
    got, out, err = await run(cluster, tmp_path, *words)
    assert got == code
    assert text in err
    assert out == ""
    assert "Traceback" not in err


async def test_without_permission_the_missing_right_is_named(
    cluster: Any, stage: stage_module.Stage, tmp_path: Path
) -> None:
    """An account that may read CRDs and nothing else: exit code 3, and the line says what it may not do."""
    await stage.create(["a"])
    await stage.change("v2")
    config = yaml.safe_load(cluster.control_plane.kubeconfig.read_text())
    config["users"][0]["user"] |= {"as": "somebody", "as-groups": ["readers"]}
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(config))
    await allow_reading_crds(cluster)
    code, out, err = await run(cluster, tmp_path, stage.name, "--kubeconfig", str(tmp_path / "kubeconfig"))
    assert code == 3
    assert 'User "somebody" cannot get resource "leases"' in err
    assert "grant get, create and update of leases in namespace kube-system" in err
    assert "Traceback" not in out + err
    assert await stage.versions() == {"v1": 1}


async def allow_reading_crds(cluster: Any) -> None:
    api = "rbac.authorization.k8s.io/v1"
    name = f"readers-{cluster.namespace}"
    rule = {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": ["get"]}
    role = {"apiVersion": api, "kind": "ClusterRole", "metadata": {"name": name}, "rules": [rule]}
    binding = {
        "apiVersion": api,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "Group", "name": "readers", "apiGroup": "rbac.authorization.k8s.io"}],
    }
    for plural, body in (("clusterroles", role), ("clusterrolebindings", binding)):
        place = resource_model.Resource(
            group="rbac.authorization.k8s.io", version="v1", plural=plural, kind=str(body["kind"]), namespaced=False
        )
        await cluster.client.create(place, body)


async def test_an_api_server_that_is_not_there_holds_the_gate(
    cluster: Any, stage: stage_module.Stage, tmp_path: Path
) -> None:
    """Named by --apiserver and unreachable: the run gives up after --timeout, with exit code 1 and nothing changed."""
    await stage.create(["a"])
    await stage.change("v2")
    servers = ["--apiserver", cluster.control_plane.apiservers[0], "--apiserver", "https://127.0.0.1:1"]
    code, out, _ = await run(cluster, tmp_path, stage.name, "--timeout", "2", "--settle", "0", *servers)
    assert code == 1
    assert "held: nothing was trimmed: https://127.0.0.1:1 does not answer" in out
    assert await stage.versions() == {"v1": 1}


async def test_interrupt_says_how_to_go_on(cluster: Any, stage: stage_module.Stage, tmp_path: Path) -> None:
    """Ctrl-C while it settles: exit code 130, what was done, how to go on; the same command then ends the work."""
    await stage.create(f"t{i}" for i in range(20))
    await stage.change("v2")
    process = await start(cluster, tmp_path, stage.name, "--settle", "60")
    assert process.stderr is not None
    seen = b""
    while b"settling" not in seen:
        seen += await asyncio.wait_for(process.stderr.readline(), 30)
    process.send_signal(signal.SIGINT)
    _, err = await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == 130
    assert f"{stage.name}: interrupted during settling" in err.decode()
    assert f"run the same command again: instar migrate {stage.name}" in err.decode()
    assert "Traceback" not in err.decode()
    assert (await stage.crd()).stored_versions == ("v1", "v2")
    code, out, _ = await run(cluster, tmp_path, stage.name, "--settle", "0")
    assert code == 0
    assert "20 current already" in out
