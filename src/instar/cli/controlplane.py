"""``instar controlplane``: a disposable etcd and API servers from the command line.

Standard output holds what a program asked for (a kubeconfig, JSON, paths), standard error what a person reads.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import time
from pathlib import Path
from typing import Any

import click

from instar import errors
from instar.controlplane import arguments, build, cache, plane, releases, runs

__all__ = ["command"]

_VERSION = click.option(
    "--kubernetes-version",
    metavar="VERSION",
    default=releases.DEFAULT,
    show_default=True,
    help="Which Kubernetes: 1.36 or 1.36.3.",
)
_ASSETS = click.option(
    "--assets",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder with etcd and kube-apiserver; else INSTAR_ASSETS, KUBEBUILDER_ASSETS, or what is built.",
)
_MANAGER = click.option("--with-controller-manager", is_flag=True, help="kube-controller-manager too.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """A disposable local control plane: a real etcd and real API servers, on loopback only.

    Example: instar controlplane start --detach --kubeconfig /tmp/kubeconfig
    """


@command.command("build")
@_VERSION
@_ASSETS
@_MANAGER
def build_command(kubernetes_version: str, assets: Path | None, with_controller_manager: bool) -> None:
    """Build the binaries once, from pinned Go modules; prints where they are.

    Example: instar controlplane build --kubernetes-version 1.36
    """
    settings = plane.Settings(
        kubernetes_version=kubernetes_version, assets=assets, with_controller_manager=with_controller_manager
    )
    found = plane.provide(settings)
    for path in (found.etcd, found.apiserver, found.controller_manager, found.kubectl):
        if path:
            click.echo(path)


@command.command("start")
@_VERSION
@_ASSETS
@_MANAGER
@click.option("--apiservers", type=click.IntRange(min=1), default=1, show_default=True, help="API servers on one etcd.")
@click.option("--feature-gates", default="", metavar="NAME=BOOL,...", help="For every Kubernetes program started.")
@click.option(
    "--apiserver-flag", "apiserver_flags", multiple=True, metavar="--NAME=VALUE", help="Passed on; repeatable."
)
@click.option("--audit", is_flag=True, help="Write each API server's audit log (metadata) into the run's folder.")
@click.option("--name", default="", help="What `list` and `stop` call it; one is made up.")
@click.option("--kubeconfig", metavar="FILE", help="Write the kubeconfig there; - is standard output.")
@click.option("--detach", is_flag=True, help="Leave it running; `instar controlplane stop` ends it.")
@click.option("-o", "--output", type=click.Choice(["json"]), help="Print {name, kubeconfig, etcd, apiservers} instead.")
@click.argument("passed_on", nargs=-1, metavar="[-- --APISERVER-FLAG=VALUE...]")
def start_command(
    kubernetes_version: str,
    assets: Path | None,
    with_controller_manager: bool,
    apiservers: int,
    feature_gates: str,
    apiserver_flags: tuple[str, ...],
    audit: bool,
    name: str,
    kubeconfig: str | None,
    detach: bool,
    output: str | None,
    passed_on: tuple[str, ...],
) -> None:
    """Start one and run until Ctrl-C, or with --detach until stopped.

    The kubeconfig goes to FILE, or to standard output if that is no terminal; it always stays in the run's folder too.

    Example: instar controlplane start --apiservers 2 -- --request-timeout=10s
    """
    settings = plane.Settings(
        kubernetes_version=kubernetes_version,
        apiservers=apiservers,
        assets=assets,
        apiserver_flags=(*apiserver_flags, *passed_on),
        feature_gates=arguments.feature_gates(feature_gates),
        audit=audit,
        with_controller_manager=with_controller_manager,
        name=name,
        kubeconfig=Path(kubeconfig) if kubeconfig and kubeconfig != "-" else None,
    )
    _end_on_signals()
    began = time.monotonic()
    started = plane.launch(settings)
    try:
        _announce(started, time.monotonic() - began, detach=detach)
        _hand_over(started, kubeconfig, output)
        if detach:
            started.detach()
            return
        with contextlib.suppress(KeyboardInterrupt):
            started.wait()
    except BaseException:
        started.stop()
        raise
    started.stop()
    click.echo(f"stopped {started.name}", err=True)


@command.command("stop")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "everything", is_flag=True, help="Every control plane there is.")
def stop_command(names: tuple[str, ...], everything: bool) -> None:
    """Stop control planes by name; their processes and folders are gone when this returns.

    Example: instar controlplane stop --all
    """
    if bool(names) == everything:
        raise errors.UsageError("name the control planes to stop, or say --all (instar controlplane list shows them)")
    for run in runs.alive() if everything else [runs.find(name) for name in names]:
        runs.stop(run)
        click.echo(f"stopped {run.name}", err=True)


@command.command("list")
@click.option("-o", "--output", type=click.Choice(["table", "json", "name"]), default="table", show_default=True)
def list_command(output: str) -> None:
    """The control planes that run now.

    Example: instar controlplane list -o json
    """
    running = runs.alive()
    if output == "json":
        click.echo(json.dumps([{**_shape(run), "kubernetes": run.kubernetes, "pids": run.pids} for run in running]))
    elif output == "name":
        click.echo("".join(f"{run.name}\n" for run in running), nl=False)
    else:
        _print_table(running)
    for report in sorted(cache.crashes().glob("*.txt")):
        click.echo(f"{report.stem} died, and said: {report}", err=True)


@command.command("prune")
@click.option("--all", "everything", is_flag=True, help="The finished binaries too.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
def prune_command(everything: bool, dry_run: bool) -> None:
    """Remove what builds leave in the cache (gigabytes), but not the finished binaries unless --all.

    Example: instar controlplane prune
    """
    freed = build.prune(everything=everything, dry_run=dry_run)
    for path, count in freed.items():
        click.echo(f"{cache.format_size(count):>8}  {path}")
    click.echo(f"{'would free' if dry_run else 'freed'} {cache.format_size(sum(freed.values()))}")


def _announce(started: plane.ControlPlane, seconds: float, *, detach: bool) -> None:
    end = f"instar controlplane stop {started.name}" if detach else "Ctrl-C"
    click.echo(
        f"control plane {started.name} (Kubernetes {started.kubernetes}) is ready after {seconds:.1f} s\n"
        f"  API servers  {' '.join(started.apiservers)}\n"
        f"  etcd         {started.etcd}\n"
        f"  kubeconfig   {started.kubeconfig}\n"
        f"  logs         {started.folder}\n"
        f"use it: export KUBECONFIG={started.kubeconfig}; end it: {end}",
        err=True,
    )


def _hand_over(started: plane.ControlPlane, kubeconfig: str | None, output: str | None) -> None:
    if output:
        click.echo(json.dumps(_shape(started)))
    elif kubeconfig == "-" or (kubeconfig is None and not sys.stdout.isatty()):
        click.echo(started.kubeconfig.read_text(), nl=False)
    sys.stdout.flush()


def _shape(one: plane.ControlPlane | runs.Run) -> dict[str, Any]:
    return {
        "name": one.name,
        "kubeconfig": str(one.kubeconfig),
        "etcd": one.etcd,
        "apiservers": list(one.apiservers),
    }


def _print_table(running: list[runs.Run]) -> None:
    rows = [("NAME", "KUBERNETES", "APISERVERS", "AGE", "DETACHED", "KUBECONFIG")]
    for run in running:
        age = f"{(time.time() - run.started) / 60:.0f}m"
        detached = "yes" if run.detached else "no"
        rows.append((run.name, run.kubernetes, str(len(run.apiservers)), age, detached, str(run.kubeconfig)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip())


def _end_on_signals() -> None:
    """SIGTERM and SIGHUP end a start in the foreground as Ctrl-C does."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
