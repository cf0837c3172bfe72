"""HTTP to the API servers of one cluster: one session, kept-alive connections, credentials, patience.

Kept thin, because a migration sends a request per object: headers are built once per kind of request, URLs go to the
HTTP library as they are, and bodies are bytes in both directions.

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
from instar.kube import credentials, failures, kubeconfig, tls

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
        self._headers: dict[tuple[str, str], Mapping[str, str]] = {}
        self._ssl: ssl.SSLContext | bool = True
        self._proxies: dict[str, str | None] = {}

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
            timeout=self._timeout(self.deadline_seconds),
        )
        try:
            await self._renew()
        except BaseException:
            await self._session.close()
            raise
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._session.close()

    def _timeout(self, total_seconds: float | None, read_seconds: float | None = None) -> aiohttp.ClientTimeout:
        import aiohttp

        connect_seconds = min(15.0, self.deadline_seconds)
        return aiohttp.ClientTimeout(total=total_seconds, sock_connect=connect_seconds, sock_read=read_seconds)

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
        rest: dict[str, Any] = {}
        while True:
            headers = await self._prepare(accept, content_type if body is not None else "")
            response = await self._send(method, base, url, headers, body, self._options(base) | rest)
            if response.code < 300:
                return response
            await self._wait(response, base, deadline, retry=retry)
            rest = {"timeout": self._timeout(max(deadline - time.monotonic(), SHORTEST_WAIT_SECONDS))}

    async def _send(
        self, method: str, base: str, url: Any, headers: Mapping[str, str], body: bytes | None, options: dict[str, Any]
    ) -> Response:
        # aiohttp warns about large bytes: they would hold up the loop; a file-like body goes out in pieces
        data = io.BytesIO(body) if body is not None and len(body) > LARGE_BODY_BYTES else body
        try:
            async with self._session.request(method, url, data=data, headers=headers, **options) as answer:
                return Response(answer.status, answer.headers, await answer.read())
        except self._failures as error:
            raise failures.unreachable(base, self.config, error, self.deadline_seconds) from error

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
        timeout = self._timeout(None, read_seconds)
        try:
            while True:
                headers = await self._prepare(accept, "")
                async with self._session.get(url, headers=headers, timeout=timeout, **self._options(base)) as answer:
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
        return self._url(f"{base}{path}?{urlencode(params)}" if params else base + path, encoded=True)

    async def _prepare(self, accept: str, content_type: str) -> Mapping[str, str]:
        if self._credentials.due != float("inf") and time.monotonic() >= self._credentials.due:
            await self._renew()
        key = (accept, content_type)
        if (headers := self._headers.get(key)) is None:
            headers = self._headers[key] = self._build_headers(accept, content_type)
        return headers

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
        self._headers.clear()

    def _options(self, base: str) -> dict[str, Any]:
        options: dict[str, Any] = {"ssl": self._ssl, "allow_redirects": False}
        if base not in self._proxies:
            self._proxies[base] = _proxy(self.config, base)
        if (proxy := self._proxies[base]) is not None:
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
