"""``instar serve``: reads everything that can be wrong first, then says where it serves, on one line."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import click
import uvloop

from instar import loading
from instar.cli import load, seconds
from instar.serving import certificates, logs, server, service

__all__ = ["command"]


@click.command(name="serve")
@click.option(
    "--conversion",
    "conversions",
    multiple=True,
    required=True,
    metavar="FILE.py[:NAME]|MODULE:NAME",
    help="A conversion to serve; may be given several times.",
)
@click.option(
    "--crd",
    "manifests",
    multiple=True,
    required=True,
    metavar="FILE",
    help="A CRD manifest; may be given several times.",
)
@click.option("--tls-cert-file", required=True, type=click.Path(path_type=Path), help="The certificate chain, PEM.")
@click.option("--tls-private-key-file", required=True, type=click.Path(path_type=Path), help="Its private key, PEM.")
@click.option("--bind", "--bind-address", default="0.0.0.0", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    "--secure-port",
    default=9443,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="The port to listen on; 0 takes a free one.",
)
@click.option(
    "--drain-seconds",
    default=15.0,
    show_default=True,
    type=seconds.Seconds(0),
    help="How long to go on serving after SIGTERM, while endpoints forget this one.",
)
@click.option(
    "--max-body-bytes",
    default=service.Limits().body_bytes,
    show_default=True,
    type=click.IntRange(1024),
    help="A larger request gets a failed review.",
)
@click.option(
    "--max-requests-inflight",
    default=service.Limits().requests_in_flight,
    show_default=True,
    type=click.IntRange(1),
    help="More requests at once get a 503 with Retry-After, which API servers retry.",
)
@click.option("--until-stdin-closes", is_flag=True, hidden=True, help="End when stdin does: when a parent is gone.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    conversions: tuple[str, ...],
    manifests: tuple[str, ...],
    tls_cert_file: Path,
    tls_private_key_file: Path,
    bind: str,
    port: int,
    drain_seconds: float,
    max_body_bytes: int,
    max_requests_inflight: int,
    until_stdin_closes: bool,
) -> None:
    """Serve the conversion webhook of one or more CRDs over HTTPS.

    It needs no access to a cluster. Certificate files are followed when they change. SIGTERM fails /readyz, goes on
    serving for --drain-seconds, then ends.

    \b
    Example: instar serve --conversion conversion.py --crd crd.yaml \\
               --tls-cert-file tls.crt --tls-private-key-file tls.key
    """
    crds = [crd for manifest in manifests for crd in load.crds(manifest)]
    bounds = load.bounds([loading.conversion(spec) for spec in conversions], crds)
    served = service.Service(
        bounds,
        limits=service.Limits(body_bytes=max_body_bytes, requests_in_flight=max_requests_inflight),
        aliases={name: kind for name, kind in load.aliases(crds).items() if kind in bounds},
    )
    settings = server.Settings(
        bind=bind,
        port=port,
        pair=certificates.Pair(certificate=tls_cert_file, key=tls_private_key_file),
        drain_seconds=drain_seconds,
    )
    logs.configure(debug=bool((ctx.obj or {}).get("verbose")))
    kinds = ", ".join(f"{kind}.{group}" for group, kind in bounds)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(served, settings, kinds, watch_stdin=until_stdin_closes))


async def _serve(served: service.Service, settings: server.Settings, kinds: str, *, watch_stdin: bool) -> None:
    if watch_stdin:
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), _end_with_parent)
    await server.serve(served, settings, lambda url: click.echo(f"serving {kinds} at {url}", err=True))


def _end_with_parent() -> None:
    if not os.read(sys.stdin.fileno(), 4096):
        asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
        signal.raise_signal(signal.SIGINT)
