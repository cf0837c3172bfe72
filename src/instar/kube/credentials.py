"""The credential of each request: fixed, read again from a file that somebody rotates, or printed by an exec plugin.

A token file is read again every minute, as kubectl and client-go do. A plugin's credential is kept until the time that
it names, and asked for again once when the API server answers 401.
Source: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
"""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import datetime
import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

from instar import errors
from instar.kube import kubeconfig

__all__ = ["Credential", "Credentials"]

TOKEN_FILE_SECONDS = 60.0
PLUGIN_DEADLINE_SECONDS = 60.0


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Credential:
    """What goes with a request: an Authorization header or none, and a plugin's certificate and key if it gave one."""

    authorization: str = dataclasses.field(default="", repr=False)
    certificate: bytes = b""
    key: bytes = dataclasses.field(default=b"", repr=False)


class Credentials:
    """Holds the present credential; ``due`` is the monotonic time from which it must be renewed."""

    def __init__(self, config: kubeconfig.Config) -> None:
        self._config = config
        self._renewing = asyncio.Lock()
        self.due = 0.0
        self.renewable = config.exec_plugin is not None or bool(config.token_file)

    async def renew(self, seen: Credential | None) -> Credential:
        """The credential to use from now on; runs a plugin at most once however many requests wait for it.

        ``seen`` is the credential that the caller has (or that was refused): another caller may have replaced it.
        """
        async with self._renewing:
            if seen is not None and self._current is not seen and time.monotonic() < self.due:
                return self._current
            self._current = await self._fetch()
            return self._current

    _current = Credential()

    async def _fetch(self) -> Credential:
        config = self._config
        self.due = math.inf
        if config.token_file:
            self.due = time.monotonic() + TOKEN_FILE_SECONDS
            return Credential(authorization=_bearer(_token(config), f"{_user(config)}: token file {config.token_file}"))
        if config.token:
            return Credential(authorization=_bearer(config.token, f"{_user(config)}: token"))
        if config.username or config.password:
            pair = base64.b64encode(f"{config.username}:{config.password}".encode()).decode()
            return Credential(authorization=f"Basic {pair}")
        if config.exec_plugin is not None:
            credential, self.due = await _run(config, config.exec_plugin)
            return credential
        return Credential()


def _token(config: kubeconfig.Config) -> str:
    try:
        return Path(config.token_file).read_text().strip()
    except OSError as error:
        raise errors.KubeconfigError(f"{_user(config)}: token file {config.token_file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise errors.KubeconfigError(f"{_user(config)}: token file {config.token_file}: is no text") from error


def _bearer(token: str, where: str) -> str:
    if not token.isascii() or not token.isprintable():
        raise errors.KubeconfigError(f"{where}: has a line break or another character that no token has")
    return f"Bearer {token}"


def _user(config: kubeconfig.Config) -> str:
    return f"kubeconfig {config.source}: user {config.user!r}"


async def _run(config: kubeconfig.Config, plugin: kubeconfig.ExecPlugin) -> tuple[Credential, float]:
    """Run the plugin; its credential and the monotonic time at which that ends."""
    where = f"{_user(config)}: exec plugin {plugin.command}"
    command = plugin.command
    if os.sep in command and not os.path.isabs(command):
        command = os.path.join(plugin.folder, command)
    environment = {**os.environ, **dict(plugin.environment), "KUBERNETES_EXEC_INFO": _information(config, plugin)}
    try:
        process = await asyncio.create_subprocess_exec(
            command,
            *plugin.arguments,
            env=environment,
            stdin=None if _interactive(plugin) else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        raise errors.KubeconfigError(f"{where}: {error.strerror}. {plugin.install_hint}".strip()) from error
    try:
        output, _ = await asyncio.wait_for(process.communicate(), PLUGIN_DEADLINE_SECONDS)
    except TimeoutError as error:
        raise errors.KubeconfigError(f"{where}: no credential within {PLUGIN_DEADLINE_SECONDS:.0f} s") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise errors.KubeconfigError(f"{where}: ended with exit code {process.returncode}; run it by hand to see why")
    return _parse(output, plugin, where)


def _interactive(plugin: kubeconfig.ExecPlugin) -> bool:
    return plugin.interactive_mode != "Never" and sys.stdin is not None and sys.stdin.isatty()


def _information(config: kubeconfig.Config, plugin: kubeconfig.ExecPlugin) -> str:
    spec: dict[str, Any] = {"interactive": _interactive(plugin)}
    if plugin.provide_cluster:
        cluster = {
            "server": config.server,
            "tls-server-name": config.tls_server_name,
            "insecure-skip-tls-verify": config.insecure,
            "certificate-authority-data": base64.b64encode(config.certificate_authority).decode(),
            "proxy-url": config.proxy_url,
            "config": plugin.cluster_extension,
        }
        spec["cluster"] = {key: value for key, value in cluster.items() if value}
    return json.dumps({"kind": "ExecCredential", "apiVersion": plugin.api_version, "spec": spec})


def _parse(output: bytes, plugin: kubeconfig.ExecPlugin, where: str) -> tuple[Credential, float]:
    try:
        document = json.loads(output)
        status = document["status"]
        if (document["kind"], document["apiVersion"]) != ("ExecCredential", plugin.api_version):
            raise ValueError(f"got {document['kind']} of {document['apiVersion']}, wanted {plugin.api_version}")
        token, certificate = status.get("token", ""), status.get("clientCertificateData", "")
        if not token and not certificate:
            raise ValueError("neither token nor clientCertificateData")
        credential = Credential(
            authorization=_bearer(token, f"{where}: token") if token else "",
            certificate=certificate.encode(),
            key=status.get("clientKeyData", "").encode(),
        )
        return credential, _due(status.get("expirationTimestamp"))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise errors.KubeconfigError(f"{where}: printed no usable ExecCredential: {error!r}") from error


def _due(timestamp: str | None) -> float:
    if not timestamp:
        return math.inf
    end = datetime.datetime.fromisoformat(timestamp)
    return time.monotonic() + (end - datetime.datetime.now(datetime.UTC)).total_seconds()
