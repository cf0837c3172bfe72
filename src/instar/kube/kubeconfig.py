"""Which cluster and as whom: kubeconfig files read and merged by kubectl's rules, or the service account in a pod.

Files first (their rules: kubeconfig_files), else, inside a pod, its service account. Unlike kubectl there is no
fallback to localhost:8080: no configuration is an error that says so.
Source: https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from instar import errors
from instar.kube import kubeconfig_files

__all__ = ["Config", "ExecPlugin", "load"]

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
EXEC_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ExecPlugin:
    """A program that prints a credential; ``folder`` is where a relative command counts from."""

    api_version: str
    command: str
    arguments: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    install_hint: str
    interactive_mode: str
    provide_cluster: bool
    cluster_extension: Any
    folder: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Config:
    """One way into one cluster, complete: certificates are PEM bytes, only what changes over time stays a file name.

    ``context`` and ``user`` are the names in the kubeconfig, ``source`` where it was read; all three serve messages.
    """

    server: str
    context: str = ""
    user: str = ""
    source: str = ""
    namespace: str = "default"
    certificate_authority: bytes = b""
    insecure: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    client_certificate: bytes = b""
    client_key: bytes = dataclasses.field(default=b"", repr=False)
    token: str = dataclasses.field(default="", repr=False)
    token_file: str = ""
    username: str = ""
    password: str = dataclasses.field(default="", repr=False)
    exec_plugin: ExecPlugin | None = None
    impersonate: tuple[tuple[str, str], ...] = ()


def load(path: str | None = None, context: str | None = None) -> Config:
    """The way into the cluster that kubectl would take with the same flags and environment.

    Raises KubeconfigError that names the file, the entry and what to change.
    """
    files = kubeconfig_files.find(path)
    if not files:
        if path is None and context is None and (config := _in_cluster()) is not None:
            return config
        raise errors.KubeconfigError(
            f"no kubeconfig: {kubeconfig_files.searched()}; name one with --kubeconfig FILE or KUBECONFIG=FILE"
        )
    merged = kubeconfig_files.merge(files)
    return _resolve(merged, context or merged.current, ", ".join(str(file) for file in files))


# --- one context ------------------------------------------------------------------------------------------------------


def _resolve(merged: kubeconfig_files.Merged, context_name: str, source: str) -> Config:
    if not merged.contexts:
        raise errors.KubeconfigError(f"kubeconfig {source}: no contexts in it; name another file with --kubeconfig")
    if not context_name:
        raise errors.KubeconfigError(
            f"kubeconfig {source}: no current-context; choose one with --context ({_known(merged.contexts)})"
        )
    if context_name not in merged.contexts:
        raise errors.KubeconfigError(
            f"kubeconfig {source}: no context {context_name!r}; it has {_known(merged.contexts)}"
        )
    context, _ = merged.contexts[context_name]
    cluster_name, user_name = str(context.get("cluster") or ""), str(context.get("user") or "")
    where = f"kubeconfig {source}: context {context_name!r}"
    if cluster_name not in merged.clusters:
        raise errors.KubeconfigError(f"{where}: no cluster {cluster_name!r}; there is {_known(merged.clusters)}")
    if user_name and user_name not in merged.users:
        raise errors.KubeconfigError(f"{where}: no user {user_name!r}; there is {_known(merged.users)}")
    cluster = kubeconfig_files.Entry(*merged.clusters[cluster_name], f"kubeconfig {source}: cluster {cluster_name!r}")
    user = kubeconfig_files.Entry(
        *merged.users.get(user_name, ({}, Path())), f"kubeconfig {source}: user {user_name!r}"
    )
    return _config(cluster, user, context_name, user_name, source, str(context.get("namespace") or "default"))


def _known(entries: Mapping[str, Any]) -> str:
    return ", ".join(sorted(entries)) or "none"


def _config(
    cluster: kubeconfig_files.Entry,
    user: kubeconfig_files.Entry,
    context_name: str,
    user_name: str,
    source: str,
    namespace: str,
) -> Config:
    certificate = user.pem("client-certificate")
    key = user.pem("client-key")
    if bool(certificate) != bool(key):
        raise errors.KubeconfigError(f"{user.where}: client-certificate and client-key belong together; one is missing")
    return Config(
        server=_server(cluster),
        context=context_name,
        user=user_name,
        source=source,
        namespace=namespace,
        certificate_authority=cluster.pem("certificate-authority"),
        insecure=cluster.flag("insecure-skip-tls-verify"),
        tls_server_name=cluster.text("tls-server-name"),
        proxy_url=cluster.text("proxy-url"),
        disable_compression=cluster.flag("disable-compression"),
        client_certificate=certificate,
        client_key=key,
        token=user.text("token"),
        token_file=user.file("tokenFile"),
        username=user.text("username"),
        password=user.text("password"),
        exec_plugin=_exec_plugin(user, cluster),
        impersonate=_impersonation(user),
    )


def _server(cluster: kubeconfig_files.Entry) -> str:
    server = cluster.text("server").rstrip("/")
    try:
        parts = urlsplit(server)
        fits = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError as error:
        raise errors.KubeconfigError(f"{cluster.where}: server {server!r} is no address: {error}") from error
    if not fits:
        raise errors.KubeconfigError(f"{cluster.where}: server {server!r} is no http:// or https:// address")
    return server


def _impersonation(user: kubeconfig_files.Entry) -> tuple[tuple[str, str], ...]:
    headers = [("Impersonate-User", user.text("as")), ("Impersonate-Uid", user.text("as-uid"))]
    headers += [("Impersonate-Group", str(group)) for group in user.entry.get("as-groups") or ()]
    return tuple((name, value) for name, value in headers if value)


def _exec_plugin(user: kubeconfig_files.Entry, cluster: kubeconfig_files.Entry) -> ExecPlugin | None:
    plugin = user.entry.get("exec")
    if not plugin:
        return None
    entry = kubeconfig_files.Entry(plugin, user.folder, f"{user.where}: exec")
    version = entry.text("apiVersion")
    if version not in EXEC_VERSIONS:
        raise errors.KubeconfigError(f"{entry.where}: apiVersion {version!r}; known are {', '.join(EXEC_VERSIONS)}")
    if not entry.text("command"):
        raise errors.KubeconfigError(f"{entry.where}: command is missing")
    return ExecPlugin(
        api_version=version,
        command=entry.text("command"),
        arguments=tuple(str(argument) for argument in plugin.get("args") or ()),
        environment=tuple((str(pair["name"]), str(pair.get("value", ""))) for pair in plugin.get("env") or ()),
        install_hint=entry.text("installHint").strip(),
        interactive_mode=entry.text("interactiveMode") or "IfAvailable",
        provide_cluster=entry.flag("provideClusterInfo"),
        cluster_extension=_exec_extension(cluster),
        folder=str(user.folder),
    )


def _exec_extension(cluster: kubeconfig_files.Entry) -> Any:
    for extension in cluster.entry.get("extensions") or ():
        if extension.get("name") == "client.authentication.k8s.io/exec":
            return extension.get("extension")
    return None


# --- inside a pod -----------------------------------------------------------------------------------------------------


def _in_cluster() -> Config | None:
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port or not (SERVICE_ACCOUNT / "token").is_file():
        return None
    namespace, authority = SERVICE_ACCOUNT / "namespace", SERVICE_ACCOUNT / "ca.crt"
    return Config(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        source=str(SERVICE_ACCOUNT),
        namespace=namespace.read_text().strip() if namespace.is_file() else "default",
        certificate_authority=authority.read_bytes() if authority.is_file() else b"",
        token_file=str(SERVICE_ACCOUNT / "token"),
    )
