"""Pinned releases, and what Go says of its version."""

import pytest

from instar import errors
from instar.controlplane import releases


def test_default_is_the_newest_pinned():
    """The default release is the newest one that can be built."""
    assert releases.supported()[0] == releases.DEFAULT
    assert len(releases.supported()) >= 4


@pytest.mark.parametrize("said", ["1.36", "v1.36", "1.36.3", "v1.36.3", " 1.36.3 "])
def test_minor_version_means_its_pinned_patch(said):
    """1.36 is the pinned 1.36.x."""
    assert releases.resolve(said) == "1.36.3"


@pytest.mark.parametrize("said", ["1.3", "1.36.99", "2", "", "latest"])
def test_unknown_version_names_those_there_are(said):
    """A version that is not pinned cannot be built by hash: say which can."""
    with pytest.raises(errors.UsageError, match=r"1\.37\.2.*1\.36\.3"):
        releases.resolve(said)


@pytest.mark.parametrize("version", releases.supported())
def test_every_release_pins_kubernetes_and_its_staging_modules(version):
    """Each go.mod asks for that Kubernetes, replaces every staging module by its twin, and has hashes beside it."""
    folder = releases.gomodule("kubernetes", version)
    gomod = (folder / "go.mod").read_text()
    assert f"require k8s.io/kubernetes v{version}\n" in gomod
    replaced = [line for line in gomod.splitlines() if "=> k8s.io/" in line]
    assert len(replaced) >= 30
    assert all(line.endswith(f"v0.{version.partition('.')[2]}") for line in replaced)
    assert f"k8s.io/kubernetes v{version} h1:" in (folder / "go.sum").read_text()
    assert releases.parse_requirement(gomod) >= (1, 24)


def test_linker_flags_stamp_the_version():
    """Without the stamps the API server reports v0.0.0."""
    flags = releases.linker_flags("1.37.2")
    assert "version.gitVersion=v1.37.2" in flags
    assert "version.gitMajor=1 " in flags
    assert flags.endswith("version.gitMinor=37")


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("go version go1.26.8 linux/amd64", (1, 26, 8)),
        ("go version go1.27rc1 darwin/arm64", (1, 27, 0)),
        ("go version devel go1.28-3b1f0e linux/amd64", (1, 28, 0)),
        ("go version devel +abc", None),
        ("", None),
    ],
)
def test_go_version(said, version):
    """Every form that `go version` has."""
    assert releases.parse_go(said) == version
