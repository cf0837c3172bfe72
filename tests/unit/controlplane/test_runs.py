"""Which control planes live: by a lock that is held, never by a pid that is written down."""

import json
import os

import pytest

from instar import errors
from instar.controlplane import cache, runs


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("INSTAR_CACHE", str(tmp_path))


def write_state(folder, **changed):
    state = {
        "name": folder.name,
        "kubernetes": "1.37.2",
        "kubeconfig": str(folder / "kubeconfig"),
        "etcd": "http://127.0.0.1:1",
        "apiservers": ["https://127.0.0.1:2"],
        "supervisor": os.getpid(),
        "detached": True,
        "started": 0.0,
        "pids": {},
        **changed,
    }
    (folder / "state.json").write_text(json.dumps(state))


def test_name_is_taken_once():
    """A held name cannot be taken again; given back, it can."""
    taken = runs.claim("one")
    with pytest.raises(errors.UsageError, match="already runs"):
        runs.claim("one")
    os.close(taken.descriptor)
    runs.release(taken)
    assert list(cache.runs().iterdir()) == []
    os.close(runs.claim("one").descriptor)


def test_dead_are_never_listed_and_leave_no_folder():
    """A folder whose lock nobody holds is a dead run's, though its state says a pid that lives: ours."""
    dead, live = runs.claim("dead"), runs.claim("live")
    write_state(dead.folder)
    write_state(live.folder)
    os.close(dead.descriptor)
    (cache.runs() / "unlocked").mkdir()
    assert [run.name for run in runs.alive()] == ["live"]
    assert sorted(path.name for path in cache.runs().iterdir()) == ["live", "live.lock"]
    os.close(live.descriptor)


def test_pid_that_is_someone_elses_is_not_killed():
    """A pid written down may be anyone's by now: only a process that names the run's folder is ended."""
    dead = runs.claim("dead")
    write_state(dead.folder, pids={"etcd": os.getpid()})
    os.close(dead.descriptor)
    assert runs.alive() == []


def test_unknown_name_says_what_runs():
    """`stop` of a name that is not there names those that are, or tells how it died."""
    live = runs.claim("live")
    write_state(live.folder)
    with pytest.raises(errors.UsageError, match="running: live"):
        runs.find("other")
    runs.crash_report("other").parent.mkdir()
    runs.crash_report("other").write_text("etcd ended by itself with code 1\n")
    with pytest.raises(errors.UsageError, match="has died: etcd ended by itself"):
        runs.find("other")
    os.close(live.descriptor)


@pytest.mark.parametrize("name", ["UPPER", "-a", "a/b", "..", "a" * 41, "a_b"])
def test_bad_name_is_refused(name):
    """A name becomes a folder: no path, no surprise."""
    with pytest.raises(errors.UsageError, match="lower case"):
        runs.claim(name)
