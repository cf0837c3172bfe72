"""kubeconfig files mean to us what they mean to the unmodified kubectl: the same cluster, user and namespace."""

from __future__ import annotations

import base64
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from instar import errors
from instar.kube import client as kube_client
from instar.kube import kubeconfig

pytestmark = pytest.mark.cluster


def entry(kind: str, name: str, **value: Any) -> dict[str, Any]:
    return {"name": name, kind: value}


def files(folder: Path, contents: list[dict[str, Any]]) -> str:
    """Each document in a folder of its own; the value of KUBECONFIG that lists them."""
    names = []
    for index, content in enumerate(contents):
        file = folder / str(index) / "config"
        file.parent.mkdir()
        (file.parent / "pem").write_text(f"pem of {index}")
        file.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config"} | content))
        names.append(str(file))
    return os.pathsep.join(names)


NEAR = entry("cluster", "near", server="https://near:1")
ME = entry("user", "me", token="mine")
DEV = entry("context", "dev", cluster="near", user="me", namespace="team")

CASES: dict[str, list[dict[str, Any]]] = {
    "one file": [{"current-context": "dev", "contexts": [DEV], "clusters": [NEAR], "users": [ME]}],
    "parts over files": [{"contexts": [DEV]}, {"clusters": [NEAR], "current-context": "dev"}, {"users": [ME]}],
    "first current context wins": [
        {"current-context": "dev", "contexts": [DEV], "clusters": [NEAR], "users": [ME]},
        {"current-context": "two", "contexts": [entry("context", "two", cluster="near", user="me")]},
    ],
    "first entry wins": [
        {"current-context": "dev", "contexts": [DEV], "clusters": [NEAR], "users": [ME]},
        {
            "contexts": [entry("context", "dev", cluster="far", user="you", namespace="other")],
            "clusters": [entry("cluster", "near", server="https://far:2")],
            "users": [entry("user", "me", token="yours")],
        },
    ],
    "an entry is never made of two": [
        {"current-context": "dev", "contexts": [entry("context", "dev", cluster="near", user="me")]},
        {"clusters": [NEAR], "users": [ME]},
        {
            "contexts": [entry("context", "dev", namespace="other")],
            "clusters": [entry("cluster", "near", **{"tls-server-name": "other"})],
            "users": [entry("user", "me", username="other", password="other")],
        },
    ],
    "certificates beside their file": [
        {"current-context": "dev", "contexts": [entry("context", "dev", cluster="near", user="me")]},
        {
            "clusters": [entry("cluster", "near", **{"server": "https://near:1", "certificate-authority": "pem"})],
            "users": [entry("user", "me", **{"client-certificate": "pem", "client-key": "pem"})],
        },
    ],
    "data": [
        {
            "current-context": "dev",
            "contexts": [DEV],
            "clusters": [
                entry(
                    "cluster",
                    "near",
                    **{"server": "https://near:1", "certificate-authority-data": base64.b64encode(b"CA").decode()},
                    **{"tls-server-name": "kubernetes", "proxy-url": "http://proxy:3"},
                )
            ],
            "users": [entry("user", "me", username="u", password="p")],
        }
    ],
    "insecure": [
        {
            "current-context": "dev",
            "contexts": [DEV],
            "clusters": [entry("cluster", "near", **{"server": "https://near:1", "insecure-skip-tls-verify": True})],
            "users": [ME],
        }
    ],
}


def kubectl_view(control_plane, listed: str) -> dict[str, Any]:
    """What kubectl makes of the files: one cluster, user and context, files read into data."""
    words = [str(control_plane.kubectl), "config", "view", "--minify", "--raw", "--flatten", "-o", "json"]
    ended = subprocess.run(words, env={**os.environ, "KUBECONFIG": listed}, capture_output=True, text=True, check=True)
    return json.loads(ended.stdout)


@pytest.mark.parametrize("case", CASES)
def test_as_kubectl(case: str, control_plane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Merged, chosen and read as kubectl does it."""
    listed = files(tmp_path, CASES[case])
    theirs = kubectl_view(control_plane, listed)
    monkeypatch.setenv("KUBECONFIG", listed)
    ours = kubeconfig.load()
    context = theirs["contexts"][0]["context"]
    cluster, user = theirs["clusters"][0]["cluster"], theirs["users"][0]["user"]
    assert ours.context == theirs["contexts"][0]["name"]
    assert ours.namespace == context.get("namespace", "default")
    assert {
        "server": ours.server,
        "certificate-authority-data": base64.b64encode(ours.certificate_authority).decode(),
        "insecure-skip-tls-verify": ours.insecure,
        "tls-server-name": ours.tls_server_name,
        "proxy-url": ours.proxy_url,
    } == {
        "server": cluster["server"],
        "certificate-authority-data": cluster.get("certificate-authority-data", ""),
        "insecure-skip-tls-verify": cluster.get("insecure-skip-tls-verify", False),
        "tls-server-name": cluster.get("tls-server-name", ""),
        "proxy-url": cluster.get("proxy-url", ""),
    }
    assert (ours.token, ours.username, ours.password) == (
        user.get("token", ""),
        user.get("username", ""),
        user.get("password", ""),
    )
    assert base64.b64encode(ours.client_certificate).decode() == user.get("client-certificate-data", "")
    assert base64.b64encode(ours.client_key).decode() == user.get("client-key-data", "")


async def test_every_context_reaches_its_server(make_control_plane) -> None:
    """Of a kubeconfig with one context per API server each context leads to its own."""
    plane = make_control_plane(apiservers=2)
    document = yaml.safe_load(plane.kubeconfig.read_text())
    names = [context["name"] for context in document["contexts"]]
    assert len(names) == 2
    reached = []
    for name in names:
        async with kube_client.Client(kubeconfig.load(str(plane.kubeconfig), name)) as client:
            assert (await client.server_version()).startswith("v1.")
            reached.append(client.servers[0])
    assert tuple(reached) == plane.apiservers
    with pytest.raises(errors.KubeconfigError, match=f"it has {', '.join(sorted(names))}"):
        kubeconfig.load(str(plane.kubeconfig), "another")
