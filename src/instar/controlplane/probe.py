"""Is a program ready? Asked over its own address with the standard library alone, so that a supervisor stays small.

An API server is ready when ``/readyz`` says so *and* namespace ``default`` exists: a controller inside the server makes
it a moment later, and a first ``kubectl apply`` in between would fail.
"""

from __future__ import annotations

import http.client
import ssl
import urllib.parse
from collections.abc import Iterable

__all__ = ["answers", "context"]

_TIMEOUT_SECONDS = 2.0


def context(authority: str, certificate: str, key: str) -> ssl.SSLContext:
    """Trust of a control plane's own authority, with the administrator's certificate shown."""
    trust = ssl.create_default_context(cafile=authority)
    trust.load_cert_chain(certificate, key)
    return trust


def answers(urls: Iterable[str], trust: ssl.SSLContext | None) -> bool:
    """Whether every URL answers 200; refused, reset and slow count as no."""
    return all(_ok(url, trust) for url in urls)


def _ok(url: str, trust: ssl.SSLContext | None) -> bool:
    parts = urllib.parse.urlsplit(url)
    host, port = parts.hostname or "", parts.port
    connection = (
        http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_SECONDS, context=trust)
        if parts.scheme == "https"
        else http.client.HTTPConnection(host, port, timeout=_TIMEOUT_SECONDS)
    )
    try:
        connection.request("GET", parts.path or "/")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
