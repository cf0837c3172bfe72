"""The kubeconfig that a control plane hands out: all in one file, one context per API server, the first one current.

It begins with a line of ours, so that a file which someone else wrote is never overwritten.
"""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

from instar import errors
from instar.controlplane import certificates
from instar.kube import authority

__all__ = ["MARK", "check_target", "format"]

MARK = "# Written by `instar controlplane start`; removed when the control plane stops.\n"


def format(name: str, servers: Sequence[str], trusted: bytes, administrator: authority.Pair) -> str:
    """The text of a kubeconfig: contexts NAME, NAME-2, NAME-3, ... for the API servers in their order."""
    contexts = [name if index == 0 else f"{name}-{index + 1}" for index in range(len(servers))]
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [
            {"name": context, "cluster": {"server": server, "certificate-authority-data": _encode(trusted)}}
            for context, server in zip(contexts, servers, strict=True)
        ],
        "contexts": [
            {"name": context, "context": {"cluster": context, "user": certificates.ADMINISTRATOR}}
            for context in contexts
        ],
        "users": [
            {
                "name": certificates.ADMINISTRATOR,
                "user": {
                    "client-certificate-data": _encode(administrator.certificate),
                    "client-key-data": _encode(administrator.key),
                },
            }
        ],
    }
    return MARK + yaml.safe_dump(document, sort_keys=False)


def check_target(path: Path) -> None:
    """Refuse to overwrite a file that is not ours: ``~/.kube/config`` holds a person's way into production."""
    if path.is_dir():
        raise errors.UsageError(f"--kubeconfig {path} is a folder: name a file")
    if not path.parent.is_dir():
        raise errors.UsageError(f"--kubeconfig {path}: its folder does not exist")
    if path.exists() and path.stat().st_size and not path.read_bytes().startswith(MARK.encode()):
        raise errors.UsageError(f"--kubeconfig {path} exists and was not written by instar: name another file")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise errors.UsageError(f"--kubeconfig {path}: its folder takes no file: {error.strerror}") from error


def _encode(content: bytes) -> str:
    return base64.b64encode(content).decode()
