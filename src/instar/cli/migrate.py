"""``instar migrate``: rewrites the stored objects of CRDs at the storage version, proves it, trims storedVersions."""

from __future__ import annotations

import asyncio
import datetime
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from instar import errors
from instar.cli import cluster, migrating, output, seconds

if TYPE_CHECKING:
    from instar.migration import evidence
    from instar.migration import settings as settings_module

__all__ = ["command"]


@click.command(name="migrate")
@click.argument("names", nargs=-1, required=True, metavar="CRD...", callback=cluster.crd_names)
@cluster.options
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
@click.option(
    "--settle",
    default=60.0,
    show_default=True,
    type=seconds.Seconds(0),
    metavar="SECONDS",
    help="How long to wait, since all API servers caught up, for requests from before the flip to end; at least the "
    "servers' own --request-timeout.",
)
@click.option(
    "--timeout",
    default=600.0,
    show_default=True,
    type=seconds.Seconds(0),
    metavar="SECONDS",
    help="How long a gate may hold before this gives up.",
)
@click.option(
    "--concurrency", default=32, show_default=True, type=click.IntRange(1, 1000), help="Writes in flight, in all."
)
@click.option(
    "--apiserver",
    "apiservers",
    multiple=True,
    metavar="URL",
    help="An API server, past any load balancer; name every one. [default: the endpoints of the kubernetes Service]",
)
@click.option("--etcd", default="", metavar="URL", help="Also prove by the bytes that this etcd holds.")
@click.option(
    "--retire",
    multiple=True,
    metavar="VERSION",
    help="A version about to go: managedFields that name it are rewritten, as for versions that are not served.",
)
@click.option(
    "--evidence",
    "evidence_file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write the record. [default: a file in the state folder, named on the last line]",
)
@click.option("-o", "--output", "form", type=click.Choice(["text", "json"]), default="text", help="json: the record.")
@click.pass_context
def command(
    ctx: click.Context,
    *,
    names: tuple[str, ...],
    kubeconfig: str | None,
    context: str | None,
    request_timeout: float,
    dry_run: bool,
    settle: float,
    timeout: float,
    concurrency: int,
    apiservers: tuple[str, ...],
    etcd: str,
    retire: tuple[str, ...],
    evidence_file: Path | None,
    form: str,
) -> int:
    """Rewrite every stored object of CRDs at the storage version, prove it, then trim status.storedVersions.

    Nothing is trimmed unless every object was proved to be stored at the storage version. Stop it any time (Ctrl-C,
    or worse) and run it again: it goes on.

    Example: instar migrate tenants.platform.acme.io
    """
    from instar.migration import settings as settings_module

    chosen = settings_module.Settings(
        settle_seconds=settle,
        timeout_seconds=timeout,
        concurrency=max(1, concurrency // len(names)),
        servers=apiservers,
        etcd=etcd,
        dry_run=dry_run,
        retire=retire,
    )
    settings_module.check(chosen)
    record = _place(names, evidence_file)
    client = cluster.open_client(
        kubeconfig, context, request_timeout, connections=chosen.concurrency * len(names) + 8 * len(names) + 8
    )
    with migrating.show(terminal=form == "text" and sys.stderr.isatty()) as shown:
        try:
            outcomes = cluster.run(_all(client, names, chosen, shown))
        except KeyboardInterrupt:
            output.note(migrating.interrupted(shown, names))
            return 130
    return _report(names, outcomes, form, record)


async def _all(
    client: Any, names: Sequence[str], chosen: settings_module.Settings, shown: migrating.Lines
) -> list[Any]:
    """One outcome per CRD, all at once: their settle times pass together."""
    from instar.controllers import migrate

    async def one(name: str) -> Any:
        try:
            return await migrate.run(client, name, chosen, progress=shown)
        except errors.InstarError as error:
            return await _nearest(client, name) if error.reason == "NotFound" else error

    async with client:
        return list(await asyncio.gather(*(one(name) for name in names)))


async def _nearest(client: Any, name: str) -> errors.InstarError:
    """What to say of a CRD that there is not: the nearest that there is."""
    from instar.controllers import inventory

    try:
        await inventory.crds(client, [name])
    except errors.InstarError as error:
        return error
    return errors.UsageError(f"CRD {name!r} came only now; run the same command again", reason="NotFound")


def _report(names: Sequence[str], outcomes: Sequence[Any], form: str, record: Path) -> int:
    failures = [outcome for outcome in outcomes if isinstance(outcome, errors.InstarError)]
    if len(names) == 1 and failures:
        raise failures[0]
    document = _document(names, outcomes)
    if form == "json":
        import orjson

        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
    else:
        for name, outcome in zip(names, outcomes, strict=True):
            _say(name, outcome)
    _save(document, record)
    (output.note if form == "json" else click.echo)(f"evidence: {record}")
    return max(_code(outcome) for outcome in outcomes)


def _code(outcome: Any) -> int:
    from instar.migration import evidence

    return outcome.exit_code if isinstance(outcome, errors.InstarError) else evidence.exit_code(outcome)


def _document(names: Sequence[str], outcomes: Sequence[Any]) -> dict[str, Any]:
    from instar.migration import evidence

    return {
        "kind": "MigrationEvidence",
        "migrations": [
            {"crd": name, "result": "error", "reason": outcome.reason, "summary": outcome.message}
            if isinstance(outcome, errors.InstarError)
            else evidence.document(outcome)
            for name, outcome in zip(names, outcomes, strict=True)
        ],
    }


SHOWN = 20


def _say(name: str, outcome: Any) -> None:
    """The summary of one CRD, and the objects that a person has to look at."""
    from instar.migration import evidence

    if isinstance(outcome, errors.InstarError):
        click.echo(f"error: {name}: {outcome.message}")
        return
    found: evidence.Evidence = outcome
    for finding in found.findings[:SHOWN]:
        click.echo(f"found  {finding}")
    for title, findings in _trouble(found).items():
        for finding in findings[:SHOWN]:
            click.echo(f"{title}  {finding}")
        if len(findings) > SHOWN:
            click.echo(f"{title}  ... and {len(findings) - SHOWN} more, see the record")
    if found.rewrite is not None:
        counts = found.rewrite.counts
        parts = [(counts.moved, "rewritten"), (counts.unchanged, "current already"), (counts.gone, "deleted meanwhile")]
        parts += [(counts.contended, "current, and written by others all the time")]
        parts += [(counts.quarantined, "refused"), (counts.unknown, "unknown")]
        click.echo(
            f"{name}: " + ", ".join(f"{count:,} {word}" for count, word in parts if count or word == "rewritten")
        )
    prefix = "held: nothing was trimmed: " if found.result is evidence.Result.HELD else ""
    click.echo(prefix + found.summary)


def _trouble(found: evidence.Evidence) -> Mapping[str, Sequence[evidence.Finding]]:
    scans = [scan for scan in (found.rewrite, found.managed_fields, found.proof) if scan is not None]
    return {
        "refused": tuple(dict.fromkeys(finding for scan in scans for finding in scan.quarantined)),
        "unknown": tuple(dict.fromkeys(finding for scan in scans for finding in scan.unknown)),
    }


def _place(names: Sequence[str], chosen: Path | None) -> Path:
    """Where the record will go, tried before anything is done: a proof that nobody can keep is none."""
    path = chosen or _state_folder() / f"{names[0]}-{datetime.datetime.now(datetime.UTC):%Y%m%dT%H%M%SZ}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            return path
    except OSError as error:
        raise _unwritable(path, error) from error


def _save(document: Mapping[str, Any], path: Path) -> None:
    import orjson

    try:
        path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> errors.UsageError:
    return errors.UsageError(f"cannot write the evidence to {path}: {error.strerror}: name another --evidence")


def _state_folder() -> Path:
    root = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(root) / "instar" / "evidence"
