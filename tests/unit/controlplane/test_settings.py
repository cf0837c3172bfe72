"""What is refused before anything is started, and where binaries are looked for."""

import pathlib

import pytest
import yaml

from instar import errors
from instar.controlplane import assets, kubeconfig, plane, settings
from instar.kube import authority


def test_kubeconfig_of_someone_else_is_never_overwritten(tmp_path):
    """`--kubeconfig ~/.kube/config` must not cost a person the way into production; ours may be written again."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.write_text("apiVersion: v1\n")
    ours.write_text(kubeconfig.MARK + "apiVersion: v1\n")
    kubeconfig.check_target(ours)
    kubeconfig.check_target(tmp_path / "new")
    for target in (theirs, tmp_path, tmp_path / "no" / "folder"):
        with pytest.raises(errors.UsageError, match=str(target)):
            kubeconfig.check_target(target)


@pytest.mark.skipif(not pathlib.Path("/proc/self").exists(), reason="needs a folder that takes no file: /proc")
def test_kubeconfig_where_no_file_can_be():
    """Said before anything is started, and no bug of ours."""
    with pytest.raises(errors.UsageError, match="/proc/kubeconfig: its folder takes no file"):
        kubeconfig.check_target(pathlib.Path("/proc/kubeconfig"))


def test_kubeconfig_has_a_context_for_each_apiserver():
    """The current context is the first API server; the others have contexts of their own."""
    issuer = authority.make("one")
    administrator = issuer.client("a")
    text = kubeconfig.format("one", ["https://127.0.0.1:1", "https://127.0.0.1:2"], issuer.pem, administrator)
    config = yaml.safe_load(text)
    assert config["current-context"] == "one"
    assert [context["name"] for context in config["contexts"]] == ["one", "one-2"]
    assert [each["cluster"]["server"] for each in config["clusters"]] == ["https://127.0.0.1:1", "https://127.0.0.1:2"]


def test_no_apiserver_is_refused():
    """A control plane without an API server is none."""
    with pytest.raises(errors.UsageError, match="at least 1"):
        settings.check(plane.Settings(apiservers=0))


def program(folder, name, said):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\necho {said}\n")
    (folder / name).chmod(0o755)


def test_assets_are_looked_for_in_order(tmp_path):
    """--assets before INSTAR_ASSETS before KUBEBUILDER_ASSETS; with none of them the cache decides."""
    for name in ("a", "b", "c"):
        program(tmp_path / name, "etcd", "etcd")
        program(tmp_path / name, "kube-apiserver", "Kubernetes v1.36.3")
    environment = {"INSTAR_ASSETS": str(tmp_path / "b"), "KUBEBUILDER_ASSETS": str(tmp_path / "c")}
    assert assets.named(tmp_path / "a", environment).etcd == tmp_path / "a" / "etcd"
    assert assets.named(None, environment).etcd == tmp_path / "b" / "etcd"
    del environment["INSTAR_ASSETS"]
    assert assets.named(None, environment).etcd == tmp_path / "c" / "etcd"
    assert assets.named(None, {}) is None


def test_assets_of_another_version_are_refused_when_a_version_is_asked_for(tmp_path):
    """--kubernetes-version must not be answered with what happens to lie in a folder."""
    program(tmp_path, "etcd", "etcd")
    program(tmp_path, "kube-apiserver", "Kubernetes v1.36.3")
    found = assets.named(tmp_path, {})
    assets.hold_to(found, "1.36.3")
    with pytest.raises(errors.UsageError, match=r"is Kubernetes 1\.36\.3, not 1\.35\.4"):
        assets.hold_to(found, "1.35.4")
