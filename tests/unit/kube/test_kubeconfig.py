"""What kubectl would reach is what we reach."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from instar import errors
from instar.kube import kubeconfig


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def document(**changes: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "dev",
        "contexts": [{"name": "dev", "context": {"cluster": "near", "user": "me", "namespace": "team"}}],
        "clusters": [{"name": "near", "cluster": {"server": "https://10.0.0.1:6443/"}}],
        "users": [{"name": "me", "user": {"token": "secret"}}],
    } | changes


def write(file: Path, content: dict[str, Any]) -> str:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(content))
    return str(file)


def test_current_context(tmp_path: Path) -> None:
    """The current context's cluster, user and namespace are taken."""
    config = kubeconfig.load(write(tmp_path / "config", document()))
    assert (config.server, config.token, config.namespace) == ("https://10.0.0.1:6443", "secret", "team")
    assert (config.context, config.user) == ("dev", "me")


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    """A config in a log shows no secret."""
    user = {"token": "TTT", "username": "u", "password": "PPP"}
    config = kubeconfig.load(write(tmp_path / "config", document(users=[{"name": "me", "user": user}])))
    assert "TTT" not in repr(config)
    assert "PPP" not in repr(config)


def test_first_file_wins_a_whole_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two files that name a user the first is taken, whole; what only the second has is added."""
    first = document(users=[{"name": "me", "user": {"username": "a", "password": "b"}}], contexts=[])
    second = document(clusters=[{"name": "near", "cluster": {"server": "https://other"}}])
    second["current-context"] = "elsewhere"
    paths = [write(tmp_path / "1", first), str(tmp_path / "missing"), write(tmp_path / "2", second)]
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(paths))
    config = kubeconfig.load()
    assert (config.server, config.username, config.token, config.context) == ("https://10.0.0.1:6443", "a", "", "dev")


def test_home_is_the_default(tmp_path: Path) -> None:
    """Without flag and variable, ~/.kube/config counts."""
    write(tmp_path / "home" / ".kube" / "config", document())
    assert kubeconfig.load().context == "dev"


def test_files_count_from_their_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Certificates are found beside the kubeconfig, wherever the command runs; data wins over a file."""
    monkeypatch.chdir("/")
    (tmp_path / "pki").mkdir()
    (tmp_path / "pki" / "ca.crt").write_bytes(b"CA")
    (tmp_path / "pki" / "me.crt").write_bytes(b"CERT")
    user = {
        "client-certificate": "pki/me.crt",
        "client-key": "pki/none.key",
        "client-key-data": base64.b64encode(b"KEY").decode(),
        "tokenFile": "token",
    }
    cluster = {"server": "https://h", "certificate-authority": "pki/ca.crt"}
    content = document(users=[{"name": "me", "user": user}], clusters=[{"name": "near", "cluster": cluster}])
    config = kubeconfig.load(write(tmp_path / "config", content))
    assert (config.certificate_authority, config.client_certificate, config.client_key) == (b"CA", b"CERT", b"KEY")
    assert config.token_file == str(tmp_path / "token")


def test_cluster_options(tmp_path: Path) -> None:
    """Everything that changes how the server is reached is read."""
    cluster = {
        "server": "https://h/prefix",
        "insecure-skip-tls-verify": True,
        "tls-server-name": "kubernetes",
        "proxy-url": "http://proxy:1",
        "disable-compression": True,
    }
    config = kubeconfig.load(write(tmp_path / "c", document(clusters=[{"name": "near", "cluster": cluster}])))
    assert config.server == "https://h/prefix"
    assert (config.insecure, config.tls_server_name, config.proxy_url) == (True, "kubernetes", "http://proxy:1")
    assert config.disable_compression


def test_exec_plugin(tmp_path: Path) -> None:
    """An exec plugin is read with its arguments, environment and the folder it counts from."""
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "./login",
        "args": ["--for", "me"],
        "env": [{"name": "A", "value": "B"}],
        "provideClusterInfo": True,
        "interactiveMode": "Never",
    }
    config = kubeconfig.load(write(tmp_path / "c", document(users=[{"name": "me", "user": {"exec": plugin}}])))
    assert config.exec_plugin is not None
    assert config.exec_plugin.arguments == ("--for", "me")
    assert config.exec_plugin.environment == (("A", "B"),)
    assert config.exec_plugin.folder == str(tmp_path)
    assert config.exec_plugin.provide_cluster


def test_impersonation_keeps_every_group(tmp_path: Path) -> None:
    """as and as-groups become headers, one for each group."""
    user = {"as": "jane", "as-groups": ["a", "b"]}
    config = kubeconfig.load(write(tmp_path / "c", document(users=[{"name": "me", "user": user}])))
    assert config.impersonate == (
        ("Impersonate-User", "jane"),
        ("Impersonate-Group", "a"),
        ("Impersonate-Group", "b"),
    )


def test_dates_are_strings(tmp_path: Path) -> None:
    """A context named like a date is found: kubectl's YAML has no dates."""
    file = tmp_path / "c"
    text = yaml.safe_dump(document()).replace("dev", "2026-11-30").replace("'2026-11-30'", "2026-11-30")
    file.write_text(text)
    assert kubeconfig.load(str(file)).context == "2026-11-30"


def test_in_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a pod without any kubeconfig the service account is used, its token read again from its file."""
    monkeypatch.setattr(kubeconfig, "SERVICE_ACCOUNT", tmp_path)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    for name, text in (("token", "t"), ("namespace", "apps\n"), ("ca.crt", "CA")):
        (tmp_path / name).write_text(text)
    config = kubeconfig.load()
    assert (config.server, config.namespace) == ("https://[fd00::1]:443", "apps")
    assert (config.token_file, config.certificate_authority) == (str(tmp_path / "token"), b"CA")


BROKEN = {
    "no such context": ({"current-context": "prod"}, "no context 'prod'; it has dev"),
    "no current context": ({"current-context": ""}, "no current-context; choose one with --context (dev)"),
    "no such cluster": ({"clusters": []}, "no cluster 'near'; there is none"),
    "no such user": ({"users": None}, "no user 'me'; there is none"),
    "server without scheme": ({"clusters": [{"name": "near", "cluster": {"server": "h:1"}}]}, "server 'h:1' is no"),
    "no contexts": ({"contexts": [], "current-context": ""}, "no contexts in it; name another file"),
    "server with half an address": (
        {"clusters": [{"name": "near", "cluster": {"server": "https://[::1"}}]},
        "[::1' is no",
    ),
    "server's port": (
        {"clusters": [{"name": "near", "cluster": {"server": "https://h:99999"}}]},
        "99999' is no address",
    ),
    "server's port 0": ({"clusters": [{"name": "near", "cluster": {"server": "https://h:0"}}]}, "'https://h:0' is no"),
    "clusters is a map": ({"clusters": {"a": 1}}, "clusters must be a list"),
    "entry without name": ({"users": [{"user": {}}]}, "users[0] must have a name"),
    "token is a number": ({"users": [{"name": "me", "user": {"token": 17}}]}, "token must be a string, not 17"),
    "flag is a string": (
        {"clusters": [{"name": "near", "cluster": {"server": "https://h", "insecure-skip-tls-verify": "x"}}]},
        "insecure-skip-tls-verify must be true or false",
    ),
    "certificate is missing": (
        {"users": [{"name": "me", "user": {"client-certificate": "none.crt"}}]},
        "client-certificate",
    ),
    "key without certificate": (
        {"users": [{"name": "me", "user": {"client-key-data": "QQ=="}}]},
        "client-certificate and client-key belong together",
    ),
    "data is not base64": (
        {"clusters": [{"name": "near", "cluster": {"server": "https://h", "certificate-authority-data": "?"}}]},
        "certificate-authority-data is not base64",
    ),
    "unknown exec version": (
        {"users": [{"name": "me", "user": {"exec": {"apiVersion": "x/v1", "command": "y"}}}]},
        "apiVersion 'x/v1'",
    ),
    "other kind": ({"kind": "Pod"}, "not a document of kind Config"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken(case: str, tmp_path: Path) -> None:
    """Each way to break a kubeconfig is one line that names the file and the place."""
    changes, expected = BROKEN[case]
    path = write(tmp_path / "config", document(**changes))
    with pytest.raises(errors.KubeconfigError) as caught:
        kubeconfig.load(path)
    assert expected in caught.value.message
    assert path in caught.value.message
    assert "\n" not in caught.value.message


def test_not_yaml(tmp_path: Path) -> None:
    """A file that is no YAML is one line, not a parser's page."""
    file = tmp_path / "config"
    file.write_text("a: [\n b: }\n")
    with pytest.raises(errors.KubeconfigError, match="not valid YAML") as caught:
        kubeconfig.load(str(file))
    assert "\n" not in caught.value.message


def test_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No kubeconfig at all says where was looked; a file named by flag must exist."""
    with pytest.raises(errors.KubeconfigError, match=r"KUBECONFIG is not set and .*/home/.kube/config does not exist"):
        kubeconfig.load()
    with pytest.raises(errors.KubeconfigError, match="nowhere: no such file"):
        kubeconfig.load("nowhere")
    with pytest.raises(errors.KubeconfigError, match=": is a folder; name a file with --kubeconfig"):
        kubeconfig.load(str(tmp_path))
    with pytest.raises(errors.KubeconfigError, match="File name too long; check --kubeconfig"):
        kubeconfig.load("x" * 5000)
    monkeypatch.setenv("KUBECONFIG", "nowhere")
    with pytest.raises(errors.KubeconfigError, match="KUBECONFIG=nowhere names no file"):
        kubeconfig.load()


def test_pipe(tmp_path: Path) -> None:
    """A kubeconfig may come through a pipe, as a shell's <(...) makes one."""
    reading, writing = os.pipe()
    os.write(writing, yaml.safe_dump(document()).encode())
    os.close(writing)
    assert kubeconfig.load(f"/dev/fd/{reading}").context == "dev"
    os.close(reading)
