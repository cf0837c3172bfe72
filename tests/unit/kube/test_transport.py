"""Patience, credentials and TLS, against real servers on this machine."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import socket
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from instar import errors
from instar.kube import client, kubeconfig

from .conftest import DAY, NOW, Pair, Serve, certificate


def status(code: int, reason: str, message: str = "no", **more: Any) -> web.Response:
    body = {"kind": "Status", "apiVersion": "v1", "code": code, "reason": reason, "message": message, **more}
    return web.json_response(body, status=code)


def config(server: str, **more: Any) -> kubeconfig.Config:
    return kubeconfig.Config(server=server, context="dev", user="me", source="/home/me/config", **more)


async def failure(given: kubeconfig.Config, **more: Any) -> errors.ClusterError:
    """What one GET of /version raises."""
    async with client.Client(given, **more) as cluster:
        with pytest.raises(errors.ClusterError) as caught:
            await cluster.server_version()
    assert "\n" not in caught.value.message
    return caught.value


# --- answers ----------------------------------------------------------------------------------------------------------


async def test_retry_after_is_honoured(serve: Serve) -> None:
    """429 and 503 with Retry-After are sent again, body and all, after that time; the caller sees the success."""
    seen: list[tuple[float, bytes]] = []

    async def handle(request: web.Request) -> web.Response:
        seen.append((time.monotonic(), await request.read()))
        if len(seen) <= 2:
            answer = status((429, 503)[len(seen) - 1], "TooManyRequests")
            answer.headers["Retry-After"] = "1"
            return answer
        return web.json_response({"ok": True})

    async with client.Client(config(await serve(handle))) as cluster:
        answer = await cluster.request("POST", "/x", body=b'{"a":1}')
    assert json.loads(answer.body) == {"ok": True}
    assert [body for _, body in seen] == [b'{"a":1}'] * 3
    assert seen[1][0] - seen[0][0] >= 1
    assert seen[2][0] - seen[1][0] >= 1


@pytest.mark.parametrize(
    ("code", "retry_after", "options"),
    [
        (409, "1", {}),
        (500, "1", {}),
        (429, "", {}),
        (429, "Wed, 21 Oct 2026 07:28:00 GMT", {}),
        (429, "3", {"deadline_seconds": 2.0}),
    ],
)
async def test_not_sent_again(serve: Serve, code: int, retry_after: str, options: dict[str, Any]) -> None:
    """Conflicts, other errors, dates, and waits beyond the deadline are the caller's at once."""
    calls = 0

    async def handle(_: web.Request) -> web.Response:
        nonlocal calls
        calls += 1
        answer = status(code, "Reason")
        if retry_after:
            answer.headers["Retry-After"] = retry_after
        return answer

    error = await failure(config(await serve(handle)), **options)
    assert isinstance(error, errors.ApiError)
    assert (error.code, calls) == (code, 1)
    assert error.retry_after_seconds == (int(retry_after) if retry_after.isdigit() else None)


async def test_the_deadline_holds_over_all_tries(serve: Serve) -> None:
    """Waiting as asked and then a server that falls silent: all of it ends at the one deadline."""
    calls = 0

    async def handle(_: web.Request) -> web.Response:
        nonlocal calls
        calls += 1
        if calls > 1:
            await asyncio.sleep(5)
        answer = status(429, "TooManyRequests")
        answer.headers["Retry-After"] = "1"
        return answer

    begun = time.monotonic()
    error = await failure(config(await serve(handle)), deadline_seconds=2.0)
    assert (error.reason, calls) == ("Timeout", 2)
    assert 1.9 < time.monotonic() - begun < 4


async def test_retry_false_is_one_call(serve: Serve) -> None:
    """Who asks for no patience gets the first answer."""
    calls = 0

    async def handle(_: web.Request) -> web.Response:
        nonlocal calls
        calls += 1
        answer = status(429, "TooManyRequests")
        answer.headers["Retry-After"] = "1"
        return answer

    async with client.Client(config(await serve(handle))) as cluster:
        with pytest.raises(errors.ApiError):
            await cluster.request("GET", "/x", retry=False)
    assert calls == 1


async def test_status_becomes_an_error(serve: Serve) -> None:
    """Code, reason, causes and the server's own sentence are kept; the message names server and context."""
    causes = [{"reason": "FieldValueRequired", "message": "Required value", "field": "spec.size"}]

    async def handle(_: web.Request) -> web.Response:
        return status(422, "Invalid", "it is\ninvalid", details={"causes": causes})

    server = await serve(handle)
    error = await failure(config(server))
    assert isinstance(error, errors.ApiError)
    assert (error.code, error.reason, error.exit_code) == (422, "Invalid", 3)
    assert error.causes == (errors.Cause(reason="FieldValueRequired", message="Required value", field="spec.size"),)
    assert error.detail == "it is invalid"
    assert error.message == f"it is invalid (422 Invalid from {server} (context dev))"


async def test_answers_that_are_no_status(serve: Serve) -> None:
    """A proxy's page gets a reason from its code; HTML instead of JSON is said, not raised by a parser."""

    async def bad_gateway(_: web.Request) -> web.Response:
        return web.Response(status=503, text="<html>\nno backend</html>")

    async def page(_: web.Request) -> web.Response:
        return web.Response(text="<html>")

    error = await failure(config(await serve(bad_gateway)))
    assert error.reason == "ServiceUnavailable"
    assert "no backend" in error.message
    assert "is this a Kubernetes API server?" in (await failure(config(await serve(page)))).message


async def test_redirects_are_not_followed(serve: Serve) -> None:
    """Credentials do not travel to another host."""

    async def handle(_: web.Request) -> web.Response:
        raise web.HTTPFound("http://127.0.0.1:1/")

    error = await failure(config(await serve(handle)))
    assert isinstance(error, errors.ApiError)
    assert error.code == 302


async def test_large_bodies_go_out_whole(serve: Serve) -> None:
    """An object of several megabytes is sent without a warning of the HTTP library (which tests turn into an error)."""
    body = b"x" * 3_000_000

    async def handle(request: web.Request) -> web.Response:
        return web.json_response({"length": len(await request.read()), "encoding": "chunked" in str(request.headers)})

    async with client.Client(config(await serve(handle))) as cluster:
        answer = await cluster.request("POST", "/x", body=body)
    assert json.loads(answer.body) == {"length": len(body), "encoding": False}


async def test_impersonation_and_agent(serve: Serve) -> None:
    """Every impersonated group goes out; the API server learns who asks."""
    seen: list[Any] = []

    async def handle(request: web.Request) -> web.Response:
        seen.append(request.headers)
        return web.json_response({})

    given = config(await serve(handle), impersonate=(("Impersonate-Group", "a"), ("Impersonate-Group", "b")))
    async with client.Client(given) as cluster:
        await cluster.server_version()
    assert seen[0].getall("Impersonate-Group") == ["a", "b"]
    assert seen[0]["User-Agent"].startswith("instar/")


async def test_another_server(serve: Serve) -> None:
    """A request goes to the first server unless it names another."""

    def named(name: str) -> Any:
        async def handle(_: web.Request) -> web.Response:
            return web.json_response({"gitVersion": name})

        return handle

    one, two = await serve(named("one")), await serve(named("two"))
    async with client.Client(config("https://unused"), servers=(one, two + "/")) as cluster:
        assert cluster.servers == (one, two)
        assert await cluster.server_version() == "one"
        assert await cluster.server_version(server=two) == "two"


# --- credentials ------------------------------------------------------------------------------------------------------


async def test_refused_token_is_renewed_once(serve: Serve, tmp_path: Path) -> None:
    """A token that was rotated while cached: 401, read again, and the request succeeds; a bad one is not a loop."""
    file = tmp_path / "token"
    file.write_text("old")
    calls = 0

    async def handle(request: web.Request) -> web.Response:
        nonlocal calls
        calls += 1
        good = request.headers["Authorization"] == "Bearer new"
        return web.json_response({"gitVersion": "v1"}) if good else status(401, "Unauthorized", "Unauthorized")

    async with client.Client(config(await serve(handle), token_file=str(file))) as cluster:
        file.write_text("new")
        assert await cluster.server_version() == "v1"
        file.write_text("bad")
        cluster._transport._credentials.due = 0.0
        calls = 0
        with pytest.raises(errors.ApiError, match="does not accept the credentials of user 'me' of context 'dev'"):
            await cluster.server_version()
    assert calls == 1


async def test_plugin_certificate_is_shown(serve: Serve, authority: Pair, tmp_path: Path) -> None:
    """A client certificate that an exec plugin prints is the one that the server sees."""
    mine = certificate("me", authority)
    credential = {
        "kind": "ExecCredential",
        "apiVersion": "client.authentication.k8s.io/v1",
        "status": {
            "clientCertificateData": mine.certificate_pem.decode(),
            "clientKeyData": mine.key_pem.decode(),
        },
    }
    (tmp_path / "credential").write_text(json.dumps(credential))
    plugin = kubeconfig.ExecPlugin(
        api_version="client.authentication.k8s.io/v1",
        command=sys.executable,
        arguments=("-c", f"print(open({str(tmp_path / 'credential')!r}).read())"),
        environment=(),
        install_hint="",
        interactive_mode="Never",
        provide_cluster=False,
        cluster_extension=None,
        folder="/",
    )

    async def handle(request: web.Request) -> web.Response:
        assert request.transport is not None
        peer = request.transport.get_extra_info("ssl_object").getpeercert()
        return web.json_response({"gitVersion": str(peer["subject"])})

    server = await serve(handle, certificate("server", authority), clients=authority)
    given = config(server, certificate_authority=authority.certificate_pem, exec_plugin=plugin)
    async with client.Client(given) as cluster:
        assert await cluster.server_version() == "((('commonName', 'me'),),)"


# --- no answer --------------------------------------------------------------------------------------------------------


async def ok(_: web.Request) -> web.Response:
    return web.json_response({"gitVersion": "v1"})


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.asynccontextmanager
async def listening(handle: Any) -> AsyncIterator[str]:
    """A bare TCP server; the URL under which somebody might take it for an API server."""
    ended = asyncio.Event()

    async def run(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await handle(reader, writer)
        await writer.wait_closed()
        ended.set()

    server = await asyncio.start_server(run, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()
    await asyncio.wait_for(ended.wait(), 5)


async def test_refused() -> None:
    """Nobody listens: the server, the context and what to look at."""
    server = f"https://127.0.0.1:{free_port()}"
    error = await failure(config(server))
    assert error.message.startswith(f"cannot reach {server} (context dev): connection refused")
    assert (error.reason, error.exit_code) == ("Unreachable", 3)


async def test_unknown_host() -> None:
    """A name that does not resolve says so."""
    assert "no such host" in (await failure(config("https://no-such-host.invalid"))).message


async def test_silence() -> None:
    """A server that accepts and says nothing ends at the deadline, with the time that was waited."""

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        await reader.read()
        writer.close()

    async with listening(wait) as server:
        error = await failure(config(server), deadline_seconds=1.0)
    assert error.reason == "Timeout"
    assert error.message.endswith("no answer within 1 s")


async def test_closed_before_the_answer() -> None:
    """A connection that ends before an answer is unreachable, not an exception of a library."""

    async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with listening(close) as server:
        assert isinstance(await failure(config(server)), errors.UnreachableError)


async def test_not_http() -> None:
    """Something else than HTTP on that port is unreachable too."""

    async def talk(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n")
        await writer.drain()
        writer.close()

    async with listening(talk) as server:
        assert isinstance(await failure(config(server)), errors.UnreachableError)


async def test_tls_to_a_plain_server(serve: Serve) -> None:
    """https:// to an http:// port says so."""
    server = (await serve(ok)).replace("http:", "https:")
    assert "does not speak TLS" in (await failure(config(server, insecure=True))).message


async def test_trusted(serve: Serve, authority: Pair) -> None:
    """A server certificate of the cluster's authority is trusted, and any with insecure-skip-tls-verify."""
    server = await serve(ok, certificate("server", authority))
    for given in ({"certificate_authority": authority.certificate_pem}, {"insecure": True}):
        async with client.Client(config(server, **given)) as cluster:
            assert await cluster.server_version() == "v1"


async def test_unknown_authority(serve: Serve, authority: Pair) -> None:
    """An unknown authority is said as such, with the setting and the file to change."""
    server = await serve(ok, certificate("server", certificate("stranger")))
    error = await failure(config(server, certificate_authority=authority.certificate_pem))
    assert "signed by an unknown authority" in error.message
    assert "certificate-authority in kubeconfig /home/me/config" in error.message
    assert error.reason == "UntrustedCertificate"


async def test_expired_server_certificate(serve: Serve, authority: Pair) -> None:
    """An expired server certificate is said as such."""
    server = await serve(ok, certificate("server", authority, end=NOW - DAY))
    error = await failure(config(server, certificate_authority=authority.certificate_pem))
    assert "its certificate has expired" in error.message


async def test_certificate_for_another_name(serve: Serve, authority: Pair) -> None:
    """A certificate for another address points at tls-server-name, and that setting helps."""
    server = await serve(ok, certificate("server", authority, addresses=("10.9.9.9",)))
    given = {"certificate_authority": authority.certificate_pem}
    assert "set tls-server-name" in (await failure(config(server, **given))).message
    async with client.Client(config(server, tls_server_name="10.9.9.9", **given)) as cluster:
        assert await cluster.server_version() == "v1"


async def test_expired_client_certificate(serve: Serve, authority: Pair) -> None:
    """401 with a client certificate that ran out says when it ran out, not just Unauthorized."""

    async def handle(_: web.Request) -> web.Response:
        return status(401, "Unauthorized", "Unauthorized")

    mine = certificate("me", authority, end=NOW - DAY)
    server = await serve(handle, certificate("server", authority))
    given = config(
        server,
        certificate_authority=authority.certificate_pem,
        client_certificate=mine.certificate_pem,
        client_key=mine.key_pem,
    )
    error = await failure(given)
    assert "the client certificate of user 'me' of context 'dev'" in error.message
    assert f"expired at {NOW - DAY:%Y-%m-%d %H:%M} UTC" in error.message
    assert "renew it in kubeconfig /home/me/config" in error.message


async def test_proxy(serve: Serve) -> None:
    """proxy-url is used: the proxy sees the request for the far server; a socks proxy is refused with a reason."""
    seen: list[str] = []

    async def handle(request: web.Request) -> web.Response:
        seen.append(str(request.headers["Host"]))
        return web.json_response({"gitVersion": "v1"})

    async with client.Client(config("http://far.invalid:6443", proxy_url=await serve(handle))) as cluster:
        assert await cluster.server_version() == "v1"
    assert seen == ["far.invalid:6443"]
    error = await failure(config("http://far.invalid", proxy_url="socks5://h:1"))
    assert "only http:// and https:// proxies" in error.message


async def test_proxy_of_the_environment(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """HTTP_PROXY counts for far servers and never for this machine, NO_PROXY takes it back: as in kubectl."""

    async def proxied(_: web.Request) -> web.Response:
        return web.json_response({"gitVersion": "proxied"})

    for name in ("http_proxy", "no_proxy", "NO_PROXY", "https_proxy", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", await serve(proxied))
    async with client.Client(config("http://far.invalid"), servers=("http://far.invalid", await serve(ok))) as cluster:
        assert await cluster.server_version() == "proxied"
        assert await cluster.server_version(server=cluster.servers[1]) == "v1"
    monkeypatch.setenv("NO_PROXY", "far.invalid")
    assert "no such host" in (await failure(config("http://far.invalid"))).message


# --- keys -------------------------------------------------------------------------------------------------------------


async def test_no_key_is_left_behind(authority: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key given as data is in no file afterwards."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    mine = certificate("me", authority)
    given = config("https://h", client_certificate=mine.certificate_pem, client_key=mine.key_pem)
    async with client.Client(given):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("broken", ["key", "certificate", "authority", "other key"])
async def test_broken_pem(authority: Pair, broken: str) -> None:
    """Certificates and keys that are no PEM, or do not belong together, are said so before any connection."""
    mine, other = certificate("me", authority), certificate("you", authority)
    given = config(
        "https://h",
        certificate_authority=b"junk" if broken == "authority" else authority.certificate_pem,
        client_certificate=b"junk" if broken == "certificate" else mine.certificate_pem,
        client_key={"key": b"junk", "other key": other.key_pem}.get(broken, mine.key_pem),
    )
    with pytest.raises(errors.KubeconfigError) as caught:
        async with client.Client(given):
            pass
    assert "kubeconfig /home/me/config" in caught.value.message
    assert base64.b64encode(mine.key_pem)[:20].decode() not in caught.value.message
