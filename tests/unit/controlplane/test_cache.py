"""Where the cache is, what it weighs, what goes."""

import pytest

from instar.controlplane import build, cache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("INSTAR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_folder_follows_the_environment(tmp_path):
    """INSTAR_CACHE is the folder itself; XDG_CACHE_HOME holds one of ours."""
    assert cache.folder({"INSTAR_CACHE": "/a", "XDG_CACHE_HOME": "/b"}) == type(tmp_path)("/a")
    assert cache.folder({"XDG_CACHE_HOME": "/b"}) == type(tmp_path)("/b/instar")
    assert cache.folder({}).name == "instar"


def test_prune_keeps_binaries_unless_told(folder):
    """What a build leaves behind goes; a finished binary only with --all; what runs stays."""
    for name in ("go-build/a", "go-mod/b", "toolchain/c", "bin/etcd-1/etcd", "runs/one"):
        path = folder / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"x" * 10000)
    freed = build.prune(everything=False, dry_run=True)
    assert sum(freed.values()) >= 30000
    assert (folder / "go-build" / "a").exists()
    assert build.prune(everything=False) == freed
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == ["bin", "runs"]
    build.prune(everything=True)
    assert [path.name for path in folder.iterdir() if path.is_dir()] == ["runs"]


def test_prune_without_a_cache_frees_nothing(folder):
    """Nothing there is nothing to do, and no folder is made for it."""
    assert build.prune(everything=True) == {}
    assert not folder.exists()


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (27_300_000, "27 MB"), (4_080_000_000, "4.1 GB")],
)
def test_sizes_for_a_person(count, text):
    """Two digits are enough."""
    assert cache.format_size(count) == text
