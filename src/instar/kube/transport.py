"""HTTP to the API servers of one cluster: one session, kept-alive connections, credentials, patience.

Kept thin, because a migration sends a request per object: headers and options are built once per kind of request, a
URL is its server's with another path, one timer serves all requests, and bodies are bytes in both directions.

What is waited for: 429 and 503 with a whole number of seconds in Retry-After mean "not handled, come again" for every
verb; they are sent again until the deadline. Nothing else is sent twice, conflicts least of all: that is for those who
know what the write means. (One exception: a 401 once, after an exec plugin or token file has given a new credential.)
"""

from __future__ import annotations

import asyncio
import dataclasses
import io
import ipaddress
import os
import platform
import time
import urllib.request
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import multidict

import instar
from instar import errors
from instar.kube import credentials, deadlines, failures, kubeconfig, tls

if TYPE_CHECKING:
    import ssl

    import aiohttp

__all__ = ["Response", "Transport"]

LARGE_BODY_BYTES = 2**19
SHORTEST_WAIT_SECONDS = 0.05


@dataclasses.dataclass(frozen=True, slots=True)
class Response:
    """A successful answer."""

    code: int
    headers: Mapping[str, str]
    body: bytes


class Transport:
    """An async context manager around one session."""

    def __init__(
        self, config: kubeconfig.Config, servers: Sequence[str], connections: int, deadline_seconds: float
    ) -> None:
        self.config = config
        self.servers = tuple(server.rstrip("/") for server in servers) or (config.server,)
        self.deadline_seconds = deadline_seconds
        self._connections = connections
        self._credentials = credentials.Credentials(config)
        self._credential: credentials.Credential | None = None
        self._deadlines = deadlines.Deadlines(deadline_seconds)
        self._kinds: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._roots: dict[str, tuple[Any, str]] = {}
        self._ssl: ssl.SSLContext | bool = True

    async def __aenter__(self) -> Transport:
        import aiohttp  # 0.4 s: only who talks to a cluster pays for it
        import yarl

        self._url = yarl.URL
        self._failures = (aiohttp.ClientError, OSError, asyncio.TimeoutError)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=self._connections, ttl_dns_cache=60, keepalive_timeout=75),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            read_bufsize=2**21,
            max_line_size=2**16,
            max_field_size=2**16,
            timeout=self._timeout(),
        )
        try:
            await self._renew()
        except BaseException:
            await self._session.close()
            raise
        return self

    async def __aexit__(self, *failure: object) -> None:
        self._deadlines.close()
        await self._session.close()

    def _timeout(self, read_seconds: float | None = None) -> aiohttp.ClientTimeout:
        import aiohttp

        connect_seconds = min(15.0, self.deadline_seconds)
        return aiohttp.ClientTimeout(total=None, sock_connect=connect_seconds, sock_read=read_seconds)

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: bytes | None = None,
        content_type: str = "application/json",
        accept: str = "application/json",
        server: str | None = None,
        retry: bool = True,
    ) -> Response:
        """One request and its whole answer, waiting where the server asks for it (unless ``retry`` is False).

        Raises ApiError for an answer of 300 and more, UnreachableError for none.
        """
        base = server or self.servers[0]
        url = self._address(base, path, params)
        deadline = time.monotonic() + self.deadline_seconds
        # aiohttp warns about large bytes: they would hold up the loop; a file-like body goes out in pieces
        large = body is not None and len(body) > LARGE_BODY_BYTES
        while True:
            data = io.BytesIO(body or b"") if large else body
            kind = await self._kind(base, accept, content_type if body is not None else "")
            try:
                response = await self._deadlines.hold(self._send(method, url, data, kind), deadline)
            except self._failures as error:
                raise failures.unreachable(base, self.config, error, self.deadline_seconds) from error
            if response.code < 300:
                return response
            await self._wait(response, base, deadline, retry=retry)

    async def _send(self, method: str, url: Any, data: Any, kind: dict[str, Any]) -> Response:
        # read() gives the connection back, or closes it where it fails: no need of `async with`, which is slower
        answer = await self._session.request(method, url, data=data, **kind)
        return Response(answer.status, answer.headers, await answer.read())

    @asynccontextmanager
    async def stream(
        self, path: str, params: Mapping[str, Any], *, accept: str, server: str | None, read_seconds: float
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """A GET whose answer is read as it comes; gives up after ``read_seconds`` of silence.

        Waits for 429 and 503 as ``request`` does before the first byte.
        """
        base = server or self.servers[0]
        url = self._address(base, path, params)
        deadline = time.monotonic() + self.deadline_seconds
        timeout = self._timeout(read_seconds)
        try:
            while True:
                kind = await self._kind(base, accept, "")
                async with self._session.get(url, timeout=timeout, **kind) as answer:
                    if answer.status < 300:
                        yield answer.content.iter_any()
                        return
                    response = Response(answer.status, answer.headers, await answer.read())
                await self._wait(response, base, deadline, retry=True)
        except self._failures as error:
            raise failures.unreachable(base, self.config, error, read_seconds) from error

    async def _wait(self, response: Response, base: str, deadline: float, *, retry: bool) -> None:
        """Return when the request may be sent again; else raise what the answer says."""
        error = failures.api_error(base, self.config, response.code, response.headers, response.body)
        if response.code == 401 and self._credentials.renewable and retry and time.monotonic() < deadline:
            refused = self._credential
            await self._renew()
            if refused is not None and self._credential != refused:
                return
            raise error
        if not retry or response.code not in (429, 503) or error.retry_after_seconds is None:
            raise error
        seconds = max(float(error.retry_after_seconds), SHORTEST_WAIT_SECONDS)
        if time.monotonic() + seconds > deadline:
            raise error
        await asyncio.sleep(seconds)

    # --- what a request is made of ------------------------------------------------------------------------------------

    def _address(self, base: str, path: str, params: Mapping[str, Any] | None) -> Any:
        if params:
            return self._url(f"{base}{path}?{urlencode(params)}", encoded=True)
        if base not in self._roots:
            root = self._url(base, encoded=True)
            self._roots[base] = root, root.raw_path.rstrip("/")
        root, prefix = self._roots[base]
        return root.with_path(prefix + path, encoded=True)

    async def _kind(self, base: str, accept: str, content_type: str) -> dict[str, Any]:
        """The options of aiohttp for one kind of request: headers, TLS, proxy."""
        if time.monotonic() >= self._credentials.due:
            await self._renew()
        key = (base, accept, content_type)
        if (kind := self._kinds.get(key)) is None:
            headers = self._build_headers(accept, content_type)
            kind = self._kinds[key] = {"headers": headers, **self._options(base)}
        return kind

    def _build_headers(self, accept: str, content_type: str) -> Mapping[str, str]:
        headers = multidict.CIMultiDict(
            {"Accept": accept, "Accept-Encoding": self._encoding(), "User-Agent": _user_agent()}
        )
        if content_type:
            headers["Content-Type"] = content_type
        if self._credential is not None and self._credential.authorization:
            headers["Authorization"] = self._credential.authorization
        for name, value in self.config.impersonate:
            headers.add(name, value)
        return headers

    def _encoding(self) -> str:
        """gzip spares the network and costs both ends time: not on this very machine, nor where kubectl would not."""
        return "identity" if self.config.disable_compression or _loopback(self.servers[0]) else "gzip"

    async def _renew(self) -> None:
        fresh = await self._credentials.renew(self._credential)
        if self._credential is None or fresh.certificate != self._credential.certificate:
            self._ssl = tls.context(self.config, fresh.certificate, fresh.key)
        self._credential = fresh
        self._kinds.clear()

    def _options(self, base: str) -> dict[str, Any]:
        options: dict[str, Any] = {"ssl": self._ssl, "allow_redirects": False}
        if (proxy := _proxy(self.config, base)) is not None:
            options["proxy"] = proxy
        if self.config.tls_server_name:
            options["server_hostname"] = self.config.tls_server_name
        return options


def _user_agent() -> str:
    return f"instar/{instar.__version__} ({platform.system().lower()}/{platform.machine()})"


def _loopback(server: str) -> bool:
    host = urlsplit(server).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _proxy(config: kubeconfig.Config, server: str) -> str | None:
    """The proxy for a server: kubeconfig's, else the environment's; never for this machine itself, as in kubectl."""
    parts = urlsplit(server)
    proxy: str | None = config.proxy_url
    if not proxy:
        if _loopback(server) or urllib.request.proxy_bypass_environment(parts.netloc):  # type: ignore[attr-defined]
            return None
        proxy = os.environ.get(f"{parts.scheme}_proxy") or os.environ.get(f"{parts.scheme.upper()}_PROXY")
    if proxy and not proxy.startswith(("http://", "https://")):
        raise errors.KubeconfigError(f"proxy {proxy} for {server}: only http:// and https:// proxies are supported")
    return proxy or None
