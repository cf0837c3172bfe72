"""The pytest plugin as an operator author uses it: another project, pytest's strict mode, no conftest of ours."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.cluster

PROJECT = """
import pytest
from instar.controlplane import plane
from instar.model import resource

WIDGETS = resource.Resource(group="", version="v1", plural="configmaps", kind="ConfigMap", namespaced=True)


@pytest.fixture(scope="session")
def control_plane_settings():
    return plane.Settings(name="authors-own", apiserver_flags=("--request-timeout=30s",))


@pytest.mark.asyncio
@pytest.mark.parametrize("turn", range(3))
async def test_each_has_a_loop_of_its_own(cluster, etcd, turn):
    assert cluster.control_plane.name == "authors-own"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "w"}}
    await cluster.client.create(WIDGETS, body, cluster.namespace)


def test_stays_one(control_plane):
    assert control_plane.name == "authors-own"
"""


def test_plugin_works_in_another_project(control_plane, tmp_path):
    """Session control plane, loops per test, strict asyncio mode and warnings as errors go together."""
    (tmp_path / "test_widgets.py").write_text(PROJECT)
    words = [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider"]
    words += ["-o", "asyncio_default_fixture_loop_scope=function", str(tmp_path)]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "4 passed" in ran.stdout
    assert not control_plane.folder.with_name("authors-own").exists()


def test_plugin_costs_nothing_at_start():
    """Loading the plugin imports no I/O library: every pytest run on the machine pays for it."""
    code = "import sys, instar.pytest_plugin; print(len(sys.modules.keys() & {'aiohttp', 'rich', 'yaml', 'click'}))"
    words = [sys.executable, "-c", code]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip() == "0"
