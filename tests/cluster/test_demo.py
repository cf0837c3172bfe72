"""`instar demo`, from nothing to nothing, on a few objects."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from instar.controlplane import plane

pytestmark = pytest.mark.cluster

OBJECTS = 120
VERBS = {"create", "update", "patch", "apply", "delete"}


@pytest.fixture
def environment(tmp_path: pathlib.Path) -> dict[str, str]:
    """A cache of the test's own, so that every process that belongs to the demo can be told by its path."""
    found = plane.provide(plane.Settings())
    assets = tmp_path / "assets"
    assets.mkdir()
    (assets / "etcd").symlink_to(found.etcd)
    (assets / "kube-apiserver").symlink_to(found.apiserver)
    return {**os.environ, "INSTAR_CACHE": str(tmp_path / "cache"), "INSTAR_ASSETS": str(assets)}


def demo(environment: dict[str, str], folder: pathlib.Path) -> subprocess.Popen[str]:
    words = ["demo", "--objects", str(OBJECTS), "--settle", "10", "--report", str(folder / "report")]
    return subprocess.Popen(
        [sys.executable, "-m", "instar.cli.main", *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def processes(folder: pathlib.Path) -> Iterator[str]:
    """Command lines of all processes that have to do with a folder."""
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if str(folder) in line and int(entry.parent.name) != os.getpid():
            yield line


def wait_until_gone(folder: pathlib.Path, seconds: float = 20) -> list[str]:
    until = time.monotonic() + seconds
    while (left := list(processes(folder))) and time.monotonic() < until:
        time.sleep(0.2)
    return left


def test_everything_holds(environment: dict[str, str], tmp_path: pathlib.Path) -> None:
    """Exit code 0, each number of report.json as it must be, a page, a next command, and no process left."""
    process = demo(environment, tmp_path)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0, out
    report = json.loads((tmp_path / "report" / "report.json").read_text())
    live = OBJECTS + report["created"] - report["deleted"]
    assert report["objects"] == OBJECTS
    assert report["stored"] == {"before": {"v1alpha1": OBJECTS}, "after": {"v1": live}}
    assert (report["lost"], report["losses"], report["compared"]) == (0, [], live)
    assert (report["storedVersions"], report["apply_ok"], report["ok"]) == (["v1"], True, True)
    assert {fact["name"] for fact in report["facts"] if fact["holds"]} >= {"clients_unharmed", "old_version_gone"}
    for version in ("v1alpha1", "v1"):
        writes = report["writes"][version]
        assert report["writers"][version] == writes["during_rewrite"]
        assert {verb for verb, count in writes["acknowledged"].items() if count} == VERBS
        assert writes["failures"] == []
    by_version = [sample["by_version"] for sample in report["samples"]["stored"]]
    assert by_version[-1] == {"v1": live}
    assert any(sample.get("v1alpha1", 0) >= OBJECTS for sample in by_version)
    assert sum(sample["calls"] for sample in report["samples"]["conversion_latency"]) > OBJECTS
    assert "<svg" in (tmp_path / "report" / "report.html").read_text()
    assert "next, to look around in such a cluster: " in out
    assert wait_until_gone(tmp_path) == []


@pytest.mark.parametrize(("ending", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_however_it_ends_nothing_is_left(
    environment: dict[str, str], tmp_path: pathlib.Path, ending: signal.Signals, code: int
) -> None:
    """Ctrl-C, or killed outright, while clients write: no etcd, no API server, no webhook, no report."""
    with demo(environment, tmp_path) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "Make v1 the storage version" in line:
                break
        assert any("serve" in line for line in processes(tmp_path))
        process.send_signal(ending)
        out = process.stdout.read()
        assert process.wait(60) == code, out
    assert wait_until_gone(tmp_path) == []
    assert not list((tmp_path / "report").iterdir())
    assert "Traceback" not in out
