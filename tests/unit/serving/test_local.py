"""`instar serve` as a process: started, ended, orphaned, replaced under load; TLS and signals as in a cluster."""

from __future__ import annotations

import asyncio
import datetime
import os
import signal
import ssl
import sys
import textwrap
from pathlib import Path

import pytest
from tests.unit.serving import converters
from tests.unit.serving.test_http1 import Client

from instar import errors
from instar.kube import authority
from instar.serving import local

EXAMPLE = Path(__file__).parents[3] / "examples" / "tenant"
FILES = (EXAMPLE / "conversion.py", EXAMPLE / "crd.yaml")
BODY = converters.body("1", quota="cpu=8,mem=32Gi")


async def connect(webhook: local.Webhook) -> Client:
    context = ssl.create_default_context(cadata=webhook.ca_bundle.decode())
    port = int(webhook.url.split(":")[2].removesuffix("/convert"))
    return Client(*await asyncio.open_connection("127.0.0.1", port, ssl=context))


async def test_serves_until_it_is_told_to_end(tmp_path: Path) -> None:
    """One line with the URL on stderr, the example converted, exit code 0; nobody else may read the private keys."""
    async with local.start(*FILES, folder=tmp_path) as webhook:
        assert webhook.log[0] == f"serving Tenant.platform.acme.io at {webhook.url}"
        client = await connect(webhook)
        code, _, body = await client.ask(BODY)
        assert code == 200
        assert converters.response(body)["convertedObjects"][0]["spec"]["quota"] == {"cpu": "8", "memory": "32Gi"}
        code, _, body = await client.ask(converters.body(quota="cpu=,mem=1Gi"), path="/convert/tenants")
        message = converters.response(body)["result"]["message"]
        assert message.startswith('Tenant default/acme v1alpha1 -> v1: spec.quota: "cpu=,mem=1Gi": cpu is empty (to_v1')
        assert 'instar_webhook_requests_total{result="failed"} 1.0' in await webhook.metrics()
        assert {(tmp_path / name).stat().st_mode & 0o077 for name in ("ca.key", "tls.key")} == {0}
        client.writer.close()
    assert webhook.process.returncode == 0


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


async def test_ends_with_its_parent() -> None:
    """Killed with SIGKILL, a parent cleans nothing up: the server ends by itself, and the next start clears away."""
    script = f"""
        import asyncio
        from instar.serving import local

        async def main():
            async with local.start({str(FILES[0])!r}, {str(FILES[1])!r}) as webhook:
                print(webhook.pid, webhook.folder, flush=True)
                await asyncio.sleep(60)

        asyncio.run(main())
    """
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", textwrap.dedent(script), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    words = (await asyncio.wait_for(parent.stdout.readline(), 30)).decode().split()
    pid, folder = int(words[0]), Path(words[1])
    assert is_running(pid)
    parent.kill()
    await parent.wait()
    async with asyncio.timeout(10):
        while is_running(pid):
            await asyncio.sleep(0.05)
    assert folder.exists()
    async with local.start(*FILES) as webhook:
        assert not folder.exists()
        assert webhook.folder.exists()
    assert not webhook.folder.exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"conversion": None}, "conversion.py: no such file"),
        ({"conversion": "def f(:"}, "conversion.py:1: cannot be imported: SyntaxError"),
        ({"conversion": "import nowhere"}, "conversion.py:1: cannot be imported: ModuleNotFoundError"),
        ({"crd": "a: [1"}, "crd.yaml:"),
        ({"arguments": ["--port", "1", "--bind", "203.0.113.1"]}, "cannot listen on 203.0.113.1 port 1"),
        ({"arguments": ["--tls-cert-file", "/nowhere/tls.crt"]}, "/nowhere/tls.crt: No such file or directory"),
    ],
)
async def test_what_keeps_it_from_starting_is_one_line(tmp_path: Path, change: dict, words: str) -> None:
    """The server's own line, with the file and what to do; no traceback, exit code 2."""
    conversion, crd = tmp_path / "conversion.py", tmp_path / "crd.yaml"
    conversion.write_text(FILES[0].read_text())
    crd.write_text(FILES[1].read_text())
    if "conversion" in change:
        conversion.unlink() if change["conversion"] is None else conversion.write_text(change["conversion"])
    if "crd" in change:
        crd.write_text(change["crd"])
    with pytest.raises(errors.UsageError, match="did not start") as caught:
        async with local.start(conversion, crd, arguments=change.get("arguments", ())):
            pytest.fail("it started")
    assert words in caught.value.message
    assert "\n" not in caught.value.message


async def test_an_expired_certificate_is_said_at_start(tmp_path: Path) -> None:
    made = authority.make("test")
    issued = made.serving(["127.0.0.1"], valid=datetime.timedelta(days=-1))
    for name, content in (("ca.crt", made.pem), ("tls.crt", issued.certificate), ("tls.key", issued.key)):
        (tmp_path / name).write_bytes(content)
    with pytest.raises(errors.UsageError, match="the certificate ended"):
        async with local.start(*FILES, folder=tmp_path):
            pytest.fail("it started")


class Caller:
    """As an API server calls: connections are kept, dropped when told so, and opened anew to where endpoints point."""

    def __init__(self, endpoint: list[local.Webhook]) -> None:
        self.endpoint = endpoint
        self.answered, self.lost = 0, []
        self.stopping = False

    async def call(self) -> None:
        client: Client | None = None
        while not self.stopping:
            try:
                client = client or await connect(self.endpoint[0])
                code, headers, body = await client.ask(BODY)
                assert (code, converters.response(body)["result"]) == (200, {"status": "Success"})
                self.answered += 1
            except (OSError, EOFError, AssertionError) as error:
                self.lost.append(repr(error))
                client = None
                continue
            if headers.get("connection") == "close":
                client.writer.close()
                client = None
            await asyncio.sleep(0)
        if client is not None:
            client.writer.close()


async def test_a_rolling_restart_loses_no_call(tmp_path: Path) -> None:
    """Endpoints lag: half a second after SIGTERM callers still come to the old server; not one call is lost."""
    async with (
        local.start(*FILES, folder=tmp_path, drain_seconds=2.0) as old,
        local.start(*FILES, folder=tmp_path) as new,
    ):
        endpoint = [old]
        caller = Caller(endpoint)
        async with asyncio.TaskGroup() as group:
            for _ in range(16):
                group.create_task(caller.call())
            await asyncio.sleep(0.5)
            old.process.send_signal(signal.SIGTERM)
            await asyncio.sleep(0.5)
            before = caller.answered
            endpoint[0] = new
            assert await asyncio.wait_for(old.process.wait(), 20) == 0
            await asyncio.sleep(0.5)
            caller.stopping = True
        assert caller.lost == []
        assert before > 50
        assert caller.answered > before


async def test_certificates_are_renewed_under_load(tmp_path: Path) -> None:
    """New connections all the time, over three renewals: each gets a certificate that holds."""
    async with local.start(*FILES, folder=tmp_path) as webhook:
        caller = Caller([webhook])

        async def knock() -> None:
            while not caller.stopping:
                client = await connect(webhook)
                code, _, _ = await client.ask(BODY)
                assert code == 200
                client.writer.close()

        async with asyncio.TaskGroup() as group:
            group.create_task(caller.call())
            group.create_task(knock())
            for renewals in range(1, 4):
                local.renew(tmp_path)
                wanted = f'instar_webhook_certificate_reloads_total{{result="success"}} {renewals}.0'
                async with asyncio.timeout(20):
                    while wanted not in await webhook.metrics():
                        await asyncio.sleep(0.1)
            caller.stopping = True
        assert caller.lost == []
