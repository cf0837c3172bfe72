"""What went wrong between us and a server, in Instar's own errors, one line each that names the server.

Two kinds: an answer that is no success (ApiError, with Kubernetes' code, reason and causes), and no answer
(UnreachableError). No exception of aiohttp or ssl goes past this module.
Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
"""

from __future__ import annotations

import asyncio
import datetime
import errno
import http
import socket
import ssl
from collections.abc import Mapping
from typing import Any

import orjson

from instar import errors
from instar.kube import kubeconfig, tls

__all__ = ["api_error", "peer", "retry_after_seconds", "status_error", "unreachable"]

_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    409: "Conflict",
    410: "Expired",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}

# OpenSSL's X509_V_ERR_* numbers
_EXPIRED, _NOT_YET_VALID, _WRONG_HOST, _WRONG_ADDRESS = 10, 9, 62, 64
_UNKNOWN_AUTHORITY = (2, 18, 19, 20, 21)


def peer(server: str, config: kubeconfig.Config | None) -> str:
    """The server in words: ``https://10.0.0.1:6443 (context dev)``."""
    return f"{server} (context {config.context})" if config is not None and config.context else server


def retry_after_seconds(headers: Mapping[str, str]) -> int | None:
    """The whole seconds of a Retry-After header; None for no header and for a date."""
    value = headers.get("Retry-After", "").strip()
    return int(value) if value.isascii() and value.isdigit() else None


# --- an answer that is no success -------------------------------------------------------------------------------------


def api_error(
    server: str, config: kubeconfig.Config, code: int, headers: Mapping[str, str], body: bytes
) -> errors.ApiError:
    """The error that an HTTP answer of 300 or more says."""
    if code == 401:
        return _unauthorized(server, config, body)
    return status_error(server, config, _status(code, body), retry_after_seconds(headers))


def status_error(
    server: str, config: kubeconfig.Config, status: Mapping[str, Any], retry_after: int | None = None
) -> errors.ApiError:
    """The error that a ``v1`` Status object says."""
    code = int(status.get("code") or 500)
    reason = str(status.get("reason") or "") or _REASONS.get(code, "Unknown")
    if code == 410:
        reason = "Expired"
    details = status.get("details") or {}
    detail = " ".join(str(status.get("message") or http_phrase(code)).split())
    return errors.ApiError(
        f"{detail} ({code} {reason} from {peer(server, config)})",
        code=code,
        reason=reason,
        causes=[
            errors.Cause(
                reason=str(cause.get("reason") or ""),
                message=str(cause.get("message") or ""),
                field=str(cause.get("field") or ""),
            )
            for cause in details.get("causes") or ()
        ],
        retry_after_seconds=retry_after,
        detail=detail,
        continue_token=str((status.get("metadata") or {}).get("continue") or ""),
    )


def http_phrase(code: int) -> str:
    """The standard's words for a code, for answers without a body."""
    try:
        return http.HTTPStatus(code).phrase
    except ValueError:
        return "no message"


def _status(code: int, body: bytes) -> Mapping[str, Any]:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        document = None
    if isinstance(document, dict) and document.get("kind") == "Status":
        return {**document, "code": code}
    return {"code": code, "message": body[:300].decode("utf-8", "replace").strip() or http_phrase(code)}


def _unauthorized(server: str, config: kubeconfig.Config, body: bytes) -> errors.ApiError:
    who = f"user {config.user!r} of context {config.context!r}" if config.user else "this account"
    detail = " ".join(str(_status(401, body).get("message")).split())
    message = f"{server} does not accept the credentials of {who} (401 Unauthorized): {detail}; log in again"
    if config.client_certificate and (end := tls.expired(config.client_certificate, _now())):
        message = (
            f"the client certificate of {who} for {server} expired at {end} (401 Unauthorized): "
            f"renew it in kubeconfig {config.source}"
        )
    return errors.ApiError(message, code=401, reason="Unauthorized", detail=detail)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


# --- no answer --------------------------------------------------------------------------------------------------------


def unreachable(
    server: str, config: kubeconfig.Config | None, error: BaseException, seconds: float
) -> errors.UnreachableError:
    """Why there was no answer, and what to look at; ``seconds`` is how long was waited."""
    where = peer(server, config)
    certificate = getattr(error, "certificate_error", None)
    if isinstance(certificate, ssl.SSLCertVerificationError):
        return errors.UnreachableError(_untrusted(where, config, certificate), reason="UntrustedCertificate")
    cause = getattr(error, "os_error", None) or error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return errors.UnreachableError(_untrusted(where, config, cause), reason="UntrustedCertificate")
    if isinstance(cause, ssl.SSLError):
        return errors.UnreachableError(_handshake(where, config, cause), reason="UntrustedCertificate")
    if isinstance(error, asyncio.TimeoutError):
        return errors.UnreachableError(f"cannot reach {where}: no answer within {seconds:.0f} s", reason="Timeout")
    return errors.UnreachableError(f"cannot reach {where}: {_plain(cause)}")


def _untrusted(where: str, config: kubeconfig.Config | None, error: ssl.SSLCertVerificationError) -> str:
    source = f" in kubeconfig {config.source}" if config is not None and config.source else ""
    code = error.verify_code
    if code == _EXPIRED:
        return f"cannot trust {where}: its certificate has expired; renew the API server's certificate"
    if code == _NOT_YET_VALID:
        return f"cannot trust {where}: its certificate is not valid yet; check this machine's clock"
    if code in _UNKNOWN_AUTHORITY:
        return (
            f"cannot trust {where}: its certificate is signed by an unknown authority; "
            f"set the cluster's certificate-authority{source}"
        )
    if code in (_WRONG_HOST, _WRONG_ADDRESS):
        return (
            f"cannot trust {where}: its certificate is for another name ({error.verify_message}); "
            f"set tls-server-name{source}"
        )
    return f"cannot trust {where}: {error.verify_message}"


def _handshake(where: str, config: kubeconfig.Config | None, error: ssl.SSLError) -> str:
    reason = str(error.reason or error).replace("_", " ").lower()
    if config is not None and config.client_certificate and (end := tls.expired(config.client_certificate, _now())):
        return f"{where} refused the client certificate of user {config.user!r}: it expired at {end}; renew it"
    if "wrong version number" in reason or "http request" in reason:
        return f"cannot reach {where}: it does not speak TLS; is it an http:// address?"
    return f"cannot reach {where}: TLS failed: {reason}"


def _plain(cause: BaseException) -> str:
    if isinstance(cause, ConnectionRefusedError) or getattr(cause, "errno", None) == errno.ECONNREFUSED:
        return "connection refused; is the API server running, and is this its address?"
    if isinstance(cause, socket.gaierror):
        return "no such host; check the server's name in kubeconfig"
    if isinstance(cause, ConnectionResetError):
        return "connection reset before an answer came"
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror.lower()
    return " ".join(str(cause).split()) or type(cause).__name__
