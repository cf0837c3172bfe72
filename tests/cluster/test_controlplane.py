"""A disposable control plane: that it comes up, says the truth about itself, and leaves nothing behind."""

import base64
import contextlib
import json
import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml

from instar.controlplane import plane

pytestmark = pytest.mark.cluster

INSTAR = [sys.executable, "-m", "instar.cli.main", "controlplane"]
SECONDS = 20


@pytest.fixture(scope="session")
def binaries():
    """The real binaries, wherever this machine has them."""
    return plane.provide(plane.Settings())


@pytest.fixture
def environment(binaries, tmp_path):
    """A cache of this test's own, so that it sees no control plane but those it starts."""
    folder = tmp_path / "assets"
    folder.mkdir()
    (folder / "etcd").symlink_to(binaries.etcd)
    (folder / "kube-apiserver").symlink_to(binaries.apiserver)
    variables = {**os.environ, "INSTAR_CACHE": str(tmp_path / "cache"), "INSTAR_ASSETS": str(folder)}
    yield variables
    run(variables, "stop", "--all")


def run(environment, *words):
    return subprocess.run([*INSTAR, *words], env=environment, capture_output=True, text=True, timeout=150)


@contextlib.contextmanager
def foreground(environment, *words):
    """A start that is not detached, and what it said of itself."""
    with subprocess.Popen(
        [*INSTAR, "start", "-o", "json", *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()


def command_lines():
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield entry.read_text(errors="replace")


def left_over(folder):
    """Processes that name the folder, and the folder itself."""
    found = [line for line in command_lines() if str(folder) in line]
    return found + ([str(folder)] if Path(folder).exists() else [])


def assert_gone(folder):
    end = time.monotonic() + SECONDS
    while left_over(folder) and time.monotonic() < end:
        time.sleep(0.05)
    assert left_over(folder) == []


def etcd_count(url, key):
    body = json.dumps({"key": base64.b64encode(key.encode()).decode(), "count_only": True}).encode()
    with urllib.request.urlopen(f"{url}/v3/kv/range", data=body, timeout=5) as answer:
        return int(json.load(answer).get("count", 0))


def test_detached_control_plane_is_listed_answers_and_stops(environment, tmp_path):
    """`start --detach -o json` names what really answers; `list` knows it, `stop` leaves no process and no folder."""
    target = tmp_path / "kubeconfig"
    started = run(environment, "start", "--detach", "-o", "json", "--name", "one", "--kubeconfig", str(target))
    assert started.returncode == 0, started.stderr
    said = json.loads(started.stdout)
    assert set(said) == {"name", "kubeconfig", "etcd", "apiservers"}
    assert (said["name"], said["kubeconfig"], len(said["apiservers"])) == ("one", str(target), 1)
    assert etcd_count(said["etcd"], "/registry/namespaces/default") == 1
    config = yaml.safe_load(target.read_text())
    assert config["clusters"][0]["cluster"]["server"] == said["apiservers"][0]
    (listed,) = json.loads(run(environment, "list", "-o", "json").stdout)
    assert listed["pids"].keys() == {"etcd", "apiserver-0"}
    assert {key: listed[key] for key in said} == said
    taken = run(environment, "start", "--name", "one")
    assert (taken.returncode, "already runs" in taken.stderr) == (2, True)
    assert run(environment, "stop", "one").returncode == 0
    assert left_over(tmp_path / "cache" / "runs" / "one") == []
    assert not target.exists()
    assert run(environment, "list", "-o", "json").stdout == "[]\n"
    assert list((tmp_path / "cache" / "runs").iterdir()) == []


def test_two_side_by_side_and_each_ends_alone(environment, tmp_path):
    """Two control planes share no port, no data and no fate; kubeconfig goes to standard output in a pipe."""
    runs = tmp_path / "cache" / "runs"
    with foreground(environment, "--name", "left") as (left, said):
        right = run(environment, "start", "--detach", "--name", "right")
        server = yaml.safe_load(right.stdout)["clusters"][0]["cluster"]["server"]
        assert server not in said["apiservers"]
        assert run(environment, "list", "-o", "name").stdout.split() == ["left", "right"]
        left.send_signal(signal.SIGINT)
        assert left.wait(SECONDS) == 0
        assert left_over(runs / "left") == []
        assert run(environment, "list", "-o", "name").stdout.split() == ["right"]
    assert run(environment, "stop", "--all").returncode == 0
    assert left_over(runs) == [str(runs)]


def test_killed_parent_leaves_nothing(environment, tmp_path):
    """SIGKILL of the parent ends etcd and the API servers and removes the folder within seconds."""
    folder = tmp_path / "cache" / "runs" / "doomed"
    with foreground(environment, "--name", "doomed", "--apiservers", "2") as (parent, _):
        assert len(left_over(folder)) == 5
        parent.kill()
        assert_gone(folder)


def test_killed_supervisor_leaves_no_process(environment, tmp_path):
    """SIGKILL of the supervisor ends its children too; the next `list` removes the folder and does not show it."""
    folder = tmp_path / "cache" / "runs" / "orphan"
    with foreground(environment, "--name", "orphan") as (parent, _):
        os.kill(json.loads((folder / "state.json").read_text())["supervisor"], signal.SIGKILL)
        assert parent.wait(SECONDS) == 3
    assert_gone(folder)
    assert run(environment, "list", "-o", "json").stdout == "[]\n"


@pytest.mark.parametrize("program", ["etcd", "apiserver-0"])
def test_crash_is_told_and_ends_everything(environment, tmp_path, program):
    """When one program dies, the foreground start exits 3 and names it, and nothing is left."""
    folder = tmp_path / "cache" / "runs" / "fragile"
    with foreground(environment, "--name", "fragile") as (parent, _):
        os.kill(json.loads((folder / "state.json").read_text())["pids"][program], signal.SIGKILL)
        assert parent.wait(SECONDS) == 3
        assert f"{program} was killed by signal 9" in parent.stderr.read()
    assert left_over(folder) == []


def test_crash_of_a_detached_one_is_told_by_list_and_stop(environment, tmp_path):
    """A detached control plane that died is never listed; what it said last is kept and named."""
    folder = tmp_path / "cache" / "runs" / "away"
    run(environment, "start", "--detach", "--name", "away")
    os.kill(json.loads((folder / "state.json").read_text())["pids"]["etcd"], signal.SIGKILL)
    assert_gone(folder)
    listed = run(environment, "list", "-o", "name")
    assert (listed.stdout, "away died" in listed.stderr) == ("", True)
    stopped = run(environment, "stop", "away")
    assert (stopped.returncode, "etcd was killed by signal 9" in stopped.stderr) == (2, True)


def test_flags_gates_and_audit_take_effect(environment, binaries, tmp_path):
    """A flag after --, a feature gate and --audit reach the API server; a flag of ours that is said again gives way."""
    words = ["--feature-gates", "WatchList=false", "--audit", "--apiserver-flag=--anonymous-auth=false"]
    with foreground(environment, "--name", "flags", *words, "--", "--authorization-mode=AlwaysAllow") as (_, said):
        kubectl = [str(binaries.kubectl), "--kubeconfig", said["kubeconfig"]]
        metrics = subprocess.run([*kubectl, "get", "--raw", "/metrics"], capture_output=True, text=True).stdout
        assert 'kubernetes_feature_enabled{name="WatchList",stage="BETA"} 0' in metrics
        words = [*kubectl, "--as", "nobody", "auth", "can-i", "delete", "nodes"]
        assert subprocess.run(words, capture_output=True, text=True).stdout.strip() == "yes"
        trust = ssl.create_default_context(cafile=tmp_path / "cache" / "runs" / "flags" / "pki" / "ca.crt")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{said['apiservers'][0]}/readyz", context=trust)
        audited = (tmp_path / "cache" / "runs" / "flags" / "audit-0.log").read_text().splitlines()
        assert any(json.loads(line)["requestURI"] == "/metrics" for line in audited)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["--assets", "/no/such/folder"], 2, "/no/such/folder, which is no folder"),
        (["--assets", "empty"], 2, "no executable etcd and no executable kube-apiserver"),
        (["--assets", "broken"], 2, "cannot be run"),
        (["--kubernetes-version", "1.12"], 2, "cannot be built here: choose one of 1.37.2"),
        (["--", "request-timeout=10s"], 2, "not of the form --name=value"),
        (["--", "--secure-port=6443"], 2, "chosen by instar"),
        (["--", "--no-such-flag=1"], 3, "unknown flag: --no-such-flag"),
        (["--feature-gates", "WatchList"], 2, "not of the form Name=true"),
        (["--kubeconfig", "mine"], 2, "was not written by instar"),
        (["--name", "Not/A/Name"], 2, "lower case"),
    ],
)
def test_bad_settings_are_one_clear_error(environment, tmp_path, words, code, told):
    """What cannot be started says what is wrong, exits right, shows no traceback and leaves nothing."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    for name in ("etcd", "kube-apiserver"):
        (tmp_path / "broken" / name).write_text("no program")
        (tmp_path / "broken" / name).chmod(0o755)
    (tmp_path / "mine").write_text("apiVersion: v1\n")
    process = subprocess.run(
        [*INSTAR, "start", *words], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert process.returncode == code
    assert process.stderr.startswith("error: ")
    assert told in process.stderr
    assert "Traceback" not in process.stderr
    assert (tmp_path / "mine").read_text() == "apiVersion: v1\n"
    assert [line for line in command_lines() if str(tmp_path / "cache" / "runs") in line] == []
