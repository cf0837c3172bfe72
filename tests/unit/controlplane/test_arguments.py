"""What etcd and the API servers are told."""

import pathlib

import pytest

from instar import errors
from instar.controlplane import arguments

FOLDER = pathlib.Path("/run/one")


def flags(words):
    return dict(word.removeprefix("--").split("=", 1) for word in words)


def apiserver(**changed):
    settings = {"index": 1, "port": 6443, "etcd_url": "http://127.0.0.1:2379", **changed}
    return arguments.apiserver(FOLDER, **settings)


def test_everything_listens_on_loopback():
    """No address but 127.0.0.1 is ever bound: a disposable control plane is nobody else's business."""
    etcd, server = flags(arguments.etcd(FOLDER, 2379)), flags(apiserver())
    manager = flags(arguments.controller_manager(FOLDER, port=10257))
    assert server["bind-address"] == manager["bind-address"] == "127.0.0.1"
    assert etcd["listen-client-urls"] == "http://127.0.0.1:2379"
    assert etcd["listen-peer-urls"] == etcd["initial-advertise-peer-urls"] == "http://127.0.0.1:0"


def test_all_apiservers_share_keys_and_differ_in_port_and_logs():
    """Two API servers are one cluster: same authority and token keys; only port and own files differ."""
    first, second = flags(apiserver(index=0, port=1, audit=True)), flags(apiserver(index=1, port=2, audit=True))
    differing = {name for name in first if first[name] != second[name]}
    assert differing == {"secure-port", "cert-dir", "audit-log-path"}


def test_admission_and_watch_cache_are_left_as_shipped():
    """Tests of a version change are about Kubernetes' own defaults, so none of them is touched."""
    assert not {"disable-admission-plugins", "watch-cache", "enable-admission-plugins"} & flags(apiserver()).keys()


def test_users_flag_replaces_ours():
    """kube-apiserver adds list flags up: ours must go when the user says the same one."""
    words = apiserver(flags=["--authorization-mode=AlwaysAllow", "--request-timeout=10s"])
    assert [word for word in words if word.startswith("--authorization-mode")] == ["--authorization-mode=AlwaysAllow"]
    assert words[-1] == "--request-timeout=10s"


def test_users_flag_may_repeat():
    """A flag that the user gives twice is passed on twice."""
    said = ["--runtime-config=a/v1=true", "--runtime-config=b/v1=true"]
    assert apiserver(flags=said)[-2:] == said


def test_gates_reach_every_kubernetes_program():
    """Feature gates are the same for API server and controller manager, and absent when none is set."""
    gates = arguments.feature_gates("A=true, B=false")
    assert gates == ("A=true", "B=false")
    assert flags(apiserver(gates=gates))["feature-gates"] == "A=true,B=false"
    assert flags(arguments.controller_manager(FOLDER, port=1, gates=gates))["feature-gates"] == "A=true,B=false"
    assert "feature-gates" not in flags(apiserver())


@pytest.mark.parametrize("text", ["A", "A=", "A=maybe", "=true"])
def test_malformed_gate_is_refused(text):
    """A gate without a value would be the API server's error half a second later."""
    with pytest.raises(errors.UsageError, match="Name=true"):
        arguments.feature_gates(text)


@pytest.mark.parametrize("word", ["request-timeout=10s", "-v=2", "--", "--=1", "--secure-port=1", "--etcd-servers=x"])
def test_word_that_is_no_flag_or_not_the_users_is_refused(word):
    """Words that are no long flag, and flags that keep it on loopback and on its own etcd."""
    with pytest.raises(errors.UsageError):
        arguments.check([word])
