"""Credentials that change: token files, and exec plugins that are real programs."""

from __future__ import annotations

import asyncio
import datetime
import math
import sys
import time
from pathlib import Path

import pytest

from instar import errors
from instar.kube import credentials, kubeconfig

V1 = "client.authentication.k8s.io/v1"


def plugin(folder: Path, script: str, api_version: str = V1, command: str = "") -> kubeconfig.Config:
    """A config whose credential is what a Python program prints."""
    (folder / "plugin.py").write_text(script)
    return kubeconfig.Config(
        server="https://h",
        user="me",
        source="file",
        exec_plugin=kubeconfig.ExecPlugin(
            api_version=api_version,
            command=command or sys.executable,
            arguments=(str(folder / "plugin.py"),),
            environment=(("FLAVOUR", "mint"),),
            install_hint="get it from the platform team",
            interactive_mode="IfAvailable",
            provide_cluster=True,
            cluster_extension={"audience": "a"},
            folder=str(folder),
        ),
    )


COUNTING = """
import json, os, pathlib
runs = pathlib.Path(__file__).with_suffix(".runs")
runs.write_text(runs.read_text() + "x" if runs.exists() else "x")
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
assert info["spec"]["cluster"]["server"] == "https://h", info
assert info["spec"]["cluster"]["config"] == {"audience": "a"}, info
token = os.environ["FLAVOUR"] + str(len(runs.read_text()))
print(json.dumps({"kind": "ExecCredential", "apiVersion": info["apiVersion"], "status": {"token": token, %s}}))
"""


async def test_plugin_runs_once_for_all(tmp_path: Path) -> None:
    """However many requests wait for a credential, the plugin runs once, and its token is kept without expiry."""
    known = credentials.Credentials(plugin(tmp_path, COUNTING % ""))
    first = await known.renew(None)
    others = await asyncio.gather(*(known.renew(credentials.Credential()) for _ in range(5)))
    assert {first, *others} == {credentials.Credential(authorization="Bearer mint1")}
    assert known.due == math.inf


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_plugin_is_due_at_its_expiry(tmp_path: Path, version: str) -> None:
    """A credential ends at the time that it names; a refused one is replaced."""
    end = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=100)
    stamp = end.strftime("%Y-%m-%dT%H:%M:%SZ")
    script = COUNTING % f'"expirationTimestamp": "{stamp}"'
    known = credentials.Credentials(plugin(tmp_path, script, f"client.authentication.k8s.io/{version}"))
    first = await known.renew(None)
    assert 90 < known.due - time.monotonic() < 101
    assert (await known.renew(first)).authorization == "Bearer mint2"


async def test_plugin_with_certificate(tmp_path: Path) -> None:
    """A plugin may give a client certificate instead of a token."""
    status = '{"clientCertificateData": "C", "clientKeyData": "K"}'
    script = f'print(\'{{"kind": "ExecCredential", "apiVersion": "{V1}", "status": {status}}}\')'
    credential = await credentials.Credentials(plugin(tmp_path, script)).renew(None)
    assert (credential.authorization, credential.certificate, credential.key) == ("", b"C", b"K")


FAILING = {
    "import sys; sys.exit(3)": "exit code 3",
    "print('hello')": "printed no usable ExecCredential",
    'print(\'{"kind": "ExecCredential", "apiVersion": "x", "status": {"token": "t"}}\')': "got ExecCredential of x",
    f'print(\'{{"kind": "ExecCredential", "apiVersion": "{V1}", "status": {{}}}}\')': "neither token nor",
}


@pytest.mark.parametrize("script", FAILING)
async def test_failing_plugin(tmp_path: Path, script: str) -> None:
    """A plugin that fails or prints something else is named with its user."""
    with pytest.raises(errors.KubeconfigError) as caught:
        await credentials.Credentials(plugin(tmp_path, script)).renew(None)
    assert FAILING[script] in caught.value.message
    assert "user 'me': exec plugin" in caught.value.message


async def test_missing_plugin(tmp_path: Path) -> None:
    """A plugin that is not there: its install hint is shown."""
    with pytest.raises(errors.KubeconfigError, match=r"no-such-program.*get it from the platform team"):
        await credentials.Credentials(plugin(tmp_path, "", command="./no-such-program")).renew(None)


async def test_token_file_is_read_again(tmp_path: Path) -> None:
    """A rotated token is seen; the file is due again after a minute."""
    file = tmp_path / "token"
    file.write_text("one\n")
    known = credentials.Credentials(kubeconfig.Config(server="https://h", token_file=str(file), token="stale"))
    first = await known.renew(None)
    assert first.authorization == "Bearer one"
    assert 50 < known.due - time.monotonic() <= 60
    file.write_text("two\n")
    assert (await known.renew(first)).authorization == "Bearer two"


async def test_token_file_missing(tmp_path: Path) -> None:
    """A token file that is gone is an error that names it."""
    config = kubeconfig.Config(server="https://h", token_file=str(tmp_path / "gone"))
    with pytest.raises(errors.KubeconfigError, match=r"token file .*gone"):
        await credentials.Credentials(config).renew(None)


async def test_password() -> None:
    """A user name and a password are basic authentication."""
    known = credentials.Credentials(kubeconfig.Config(server="https://h", username="u", password="p"))
    assert (await known.renew(None)).authorization == "Basic dTpw"


async def test_token_that_is_none(tmp_path: Path) -> None:
    """A token with a line break, or from a file that is no text, cannot be sent: said with its place, never shown."""
    file = tmp_path / "token"
    file.write_bytes(b"\xff\xfe\x00")
    wrong = {
        "user 'me': token: has a line break": kubeconfig.Config(server="https://h", user="me", token="a\nsecret"),
        "token: is no text": kubeconfig.Config(server="https://h", token_file=str(file)),
    }
    for expected, config in wrong.items():
        with pytest.raises(errors.KubeconfigError, match=expected) as caught:
            await credentials.Credentials(config).renew(None)
        assert "secret" not in caught.value.message
