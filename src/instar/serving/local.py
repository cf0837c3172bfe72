"""``instar serve`` as a process of a test or a demo: own authority, free port, gone when its parent is.

It is the very program that runs in a cluster, so what holds here holds there. The child reads a pipe that only its
parent holds open: it ends with the parent however that ends, SIGKILL too. A parent that was killed leaves the folder of
its certificates behind; the folder's name says whose it was, and the next start takes it away.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import dataclasses
import datetime
import os
import shutil
import signal
import ssl
import sys
import tempfile
import urllib.request
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from instar import errors
from instar.kube import authority

__all__ = ["Webhook", "renew", "start"]

START_SECONDS = 30.0
STOP_SECONDS = 10.0
ADDRESS = "127.0.0.1"
FOLDER = "instar-webhook-"
AUTHORITY_VALID, CERTIFICATE_VALID = datetime.timedelta(days=30), datetime.timedelta(days=7)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Webhook:
    """A running server: ``url`` of its /convert, ``ca_bundle`` (PEM) to trust it by, ``log`` its lines on stderr."""

    url: str
    ca_bundle: bytes
    pid: int
    folder: Path
    log: list[str]
    process: asyncio.subprocess.Process

    @property
    def conversion(self) -> dict[str, Any]:
        """``spec.conversion`` of a CRD that is to use it."""
        bundle = base64.b64encode(self.ca_bundle).decode()
        return {
            "strategy": "Webhook",
            "webhook": {
                "conversionReviewVersions": ["v1"],
                "clientConfig": {"url": self.url, "caBundle": bundle},
            },
        }

    async def metrics(self) -> str:
        """What /metrics says."""
        return await asyncio.to_thread(self._get, "/metrics")

    def _get(self, path: str) -> str:
        context = ssl.create_default_context(cadata=self.ca_bundle.decode())
        with urllib.request.urlopen(self.url.removesuffix("/convert") + path, context=context, timeout=10) as answer:
            return str(answer.read().decode())


@contextlib.asynccontextmanager
async def start(
    conversion_file: str | Path | Sequence[str | Path],
    crd_file: str | Path | Sequence[str | Path],
    *,
    port: int = 0,
    folder: Path | None = None,
    drain_seconds: float = 0.0,
    arguments: Sequence[str] = (),
) -> AsyncIterator[Webhook]:
    """A webhook server for these files, ended on leaving; ``folder`` keeps its certificates, to be used again.

    Raises UsageError with the words of the server if it does not start.
    """
    with contextlib.ExitStack() as stack:
        home = folder or Path(stack.enter_context(_temporary_folder()))
        _issue(home)
        words = _command(_listed(conversion_file), _listed(crd_file), home, port, drain_seconds, arguments)
        process = await asyncio.create_subprocess_exec(
            *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
        )
        log: list[str] = []
        url: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        reader = asyncio.create_task(_read(process, log, url))
        try:
            yield Webhook(
                url=await _ready(url),
                ca_bundle=(home / "ca.crt").read_bytes(),
                pid=process.pid,
                folder=home,
                log=log,
                process=process,
            )
        finally:
            await _stop(process)
            await reader


def _temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder of this process's own; those of processes that are no more go first."""
    for left in Path(tempfile.gettempdir()).glob(f"{FOLDER}*-*"):
        owner = left.name.removeprefix(FOLDER).partition("-")[0]
        if owner.isdigit() and not _lives(int(owner)):
            shutil.rmtree(left, ignore_errors=True)
    return tempfile.TemporaryDirectory(prefix=f"{FOLDER}{os.getpid()}-")


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's
    return True


def _listed(files: str | Path | Sequence[str | Path]) -> list[str]:
    return [str(files)] if isinstance(files, str | Path) else [str(file) for file in files]


def _issue(folder: Path) -> None:
    """An authority and a certificate for the loopback address, unless the folder has them."""
    if (folder / "tls.key").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    made = authority.make("webhook", valid=AUTHORITY_VALID)
    (folder / "ca.crt").write_bytes(made.pem)
    authority.write_secret(folder / "ca.key", made.key_pem)
    renew(folder)


def renew(folder: Path) -> None:
    """A new certificate by the authority of a folder; a server that runs takes it over within seconds."""
    made = authority.load((folder / "ca.crt").read_bytes(), (folder / "ca.key").read_bytes())
    issued = made.serving([ADDRESS, "localhost"], valid=CERTIFICATE_VALID)
    (folder / "tls.crt").write_bytes(issued.certificate)
    authority.write_secret(folder / "tls.key", issued.key)


def _command(
    conversions: Sequence[str],
    crds: Sequence[str],
    folder: Path,
    port: int,
    drain_seconds: float,
    arguments: Sequence[str],
) -> list[str]:
    words = [sys.executable, "-m", "instar.cli.main", "serve", "--until-stdin-closes"]
    words += [word for file in conversions for word in ("--conversion", file)]
    words += [word for file in crds for word in ("--crd", file)]
    words += ["--tls-cert-file", str(folder / "tls.crt"), "--tls-private-key-file", str(folder / "tls.key")]
    words += ["--bind", ADDRESS, "--port", str(port), "--drain-seconds", str(drain_seconds)]
    return [*words, *arguments]


async def _read(process: asyncio.subprocess.Process, log: list[str], url: asyncio.Future[str]) -> None:
    """Keep what the server writes, and find its URL in the first line that names one."""
    assert process.stderr is not None
    async for raw in process.stderr:
        line = raw.decode(errors="replace").rstrip()
        log.append(line)
        if line.startswith("serving ") and not url.done():
            url.set_result(line.rpartition(" ")[2])
    if not url.done():
        await process.wait()
        text = log[-1].removeprefix("error: ") if log else f"it ended with {process.returncode} and said nothing"
        url.set_exception(errors.UsageError(f"the webhook server did not start: {text}"))


async def _ready(url: asyncio.Future[str]) -> str:
    try:
        return await asyncio.wait_for(url, START_SECONDS)
    except TimeoutError as error:
        text = f"the webhook server did not start within {START_SECONDS:.0f} seconds"
        raise errors.UsageError(text) from error


async def _stop(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    try:
        await asyncio.wait_for(process.wait(), STOP_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
    if process.stdin is not None:
        process.stdin.close()
