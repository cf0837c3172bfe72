"""A build: one at a time, ended with its parent, with a remedy when it fails."""

import io
import os
import signal
import subprocess
import sys
import time

import pytest

from instar import errors
from instar.controlplane import build, command, progress, toolchain

HOLD = """
import sys, time
from instar.controlplane import build, cache, progress
cache.folder().mkdir(parents=True, exist_ok=True)
with progress.shown() as shown, build._alone(shown):
    print("held", flush=True)
    time.sleep(float(sys.argv[1]))
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("INSTAR_CACHE", str(tmp_path / "cache"))


def holder(seconds):
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run(tmp_path, *words):
    return command.lines("building", words, cwd=tmp_path, environment=os.environ)


def test_second_build_waits_and_says_so():
    """Two builds at once would take twice as long each: the second waits, and names whom it waits for."""
    with holder(1) as first:
        assert first.stdout.readline() == "held\n"
        with holder(0) as second:
            assert second.wait(20) == 0
            assert f"another instar is building (pid {first.pid})" in second.stderr.read()


def test_lock_of_a_killed_build_is_free():
    """A build that was killed holds nobody up."""
    with holder(60) as first:
        assert first.stdout.readline() == "held\n"
        first.kill()
    with holder(0) as second:
        assert second.wait(20) == 0
        assert "another instar" not in second.stderr.read()


def test_finished_binary_is_never_rebuilt(capsys):
    """A binary under its final name is whole: nothing is run, nothing is said."""
    wanted = build.targets("1.37.2", with_controller_manager=True)
    for target in wanted:
        target.path.parent.mkdir(parents=True, exist_ok=True)
        target.path.write_text("whole")
    build.ensure(wanted)
    assert capsys.readouterr().err == ""
    assert [target.path.read_text() for target in wanted] == ["whole"] * len(wanted)


def test_targets_are_kept_apart_by_version():
    """Binaries of two releases live side by side, and etcd is shared."""
    old, new = build.targets("1.36.3"), build.targets("1.37.2")
    assert {target.path for target in old} & {target.path for target in new} == {old[0].path}
    assert old[0].name == "etcd"


def test_kubectl_is_built_only_where_there_is_none(monkeypatch, tmp_path):
    """A machine's own kubectl is used; without one it is built."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "kubectl" in [target.name for target in build.targets("1.37.2")]
    (tmp_path / "kubectl").write_text("#!/bin/sh\n")
    (tmp_path / "kubectl").chmod(0o755)
    assert "kubectl" not in [target.name for target in build.targets("1.37.2")]


def test_failure_shows_the_last_lines_and_the_remedy(tmp_path):
    """What Go said last is in the message, and what to do about it."""
    script = "echo one; echo 'write /x: no space left on device' >&2; exit 3"
    with pytest.raises(
        errors.ControlPlaneError, match=r"(?s)ended with code 3\); free some disk.*one\n.*no space left"
    ):
        list(run(tmp_path, "sh", "-c", script))


def test_command_ends_with_its_reader(tmp_path):
    """Ctrl-C, or any exception in the reader, ends the command and what it started."""
    lines = run(tmp_path, "sh", "-c", "sleep 300 & echo $!; wait")
    child = int(next(lines))
    lines.close()
    assert gone(child)


def test_command_ends_with_its_killed_parent(tmp_path):
    """SIGKILL of the builder ends the compilers of its Go too."""
    code = (
        "import os, pathlib, time; from instar.controlplane import command\n"
        "lines = command.lines('x', ['sh', '-c', 'sleep 300 & echo $!; wait'], cwd=pathlib.Path('/'),"
        " environment=os.environ)\nprint(next(lines), flush=True); time.sleep(300)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
    assert gone(child)


def gone(pid):
    end = time.monotonic() + 5
    while time.monotonic() < end:
        state = subprocess.run(["ps", "-p", str(pid), "-o", "stat="], capture_output=True, text=True).stdout.strip()
        if not state or state.startswith("Z"):
            return True
        time.sleep(0.02)
    return False


def test_too_old_go_is_not_taken(monkeypatch, tmp_path):
    """A Go older than the module's go line would try to download another one: it is passed over."""
    (tmp_path / "go").write_text("#!/bin/sh\necho go version go1.21.0 linux/amd64\n")
    (tmp_path / "go").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert toolchain.find((1, 21, 0)) == tmp_path / "go"
    assert toolchain.find((99, 0, 0)) is None


def test_go_downloads_no_toolchain_and_uses_our_caches(monkeypatch, tmp_path):
    """The build's environment keeps Go from fetching another Go, from cgo, and from a person's own caches."""
    monkeypatch.setenv("GOFLAGS", "-mod=vendor")
    monkeypatch.setenv("GOPROXY", "https://proxy.example")
    environment = toolchain.environment(tmp_path / "go")
    assert (environment["GOTOOLCHAIN"], environment["CGO_ENABLED"]) == ("local", "0")
    assert environment["GOCACHE"].startswith(str(tmp_path))
    assert "vendor" not in environment["GOFLAGS"]
    assert environment["GOPROXY"] == "https://proxy.example"


def test_pipe_gets_plain_lines_now_and_then(monkeypatch):
    """In a pipe a build says a line at times, not one for each package, and no escape codes."""
    stream = io.StringIO()
    monkeypatch.setattr(progress, "_EVERY_SECONDS", 0.0)
    with progress.shown(stream) as shown:
        shown.advance("compiling", 1, 4)
        shown.advance("downloading", 7, 0)
    assert stream.getvalue() == "compiling: 1 of 4 (25%)\ndownloading: 7\n"
    monkeypatch.setattr(progress, "_EVERY_SECONDS", 60.0)
    with progress.shown(stream := io.StringIO()) as shown:
        for done in range(1000):
            shown.advance("compiling", done, 1000)
    assert stream.getvalue() == ""
