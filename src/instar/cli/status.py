"""``instar status``: every CRD with several versions, where it stands, and the next step in plain words."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from instar.cli import cluster, output

if TYPE_CHECKING:
    from instar import errors
    from instar.controllers import inventory
    from instar.model import crd as crd_model
    from instar.rollout import observed

__all__ = ["command"]

COLUMNS = (
    output.Column(heading="NAME"),
    output.Column(heading="SERVED"),
    output.Column(heading="STORAGE"),
    output.Column(heading="STORED VERSIONS"),
    output.Column(heading="OBJECTS"),
    output.Column(heading="CONVERSION"),
    output.Column(heading="KIND", wide=True),
    output.Column(heading="SCOPE", wide=True),
    output.Column(heading="STORAGE HASH", wide=True),
    output.Column(heading="GENERATION", wide=True),
    output.Column(heading="AGE", wide=True),
    output.Column(heading="UID", wide=True),
    output.Column(heading="NEXT STEP"),
)
UNREADABLE_COLUMNS = (
    output.Column(heading="CRD"),
    output.Column(heading="OBJECT"),
    output.Column(heading="CANNOT BE READ AT"),
    output.Column(heading="REASON"),
)


@click.command()
@click.argument("names", metavar="[CRD]...", nargs=-1, callback=cluster.crd_names)
@click.option("--check", is_flag=True, help="Read each object at each served version; exit 1 if one cannot be read.")
@cluster.options
@output.option
def command(
    names: tuple[str, ...],
    check: bool,
    kubeconfig: str | None,
    context: str | None,
    request_timeout: float,
    form: output.Format,
) -> int:
    """Where every CRD with several versions stands, and its next step.

    CRD is a name such as tenants.platform.acme.io; without one, all CRDs that have more than one version are shown.
    Exits 0, 1 if --check found an object that cannot be read, 3 if the account may not see everything.

    Example: instar status --check
    """
    client = cluster.open_client(kubeconfig, context, request_timeout)
    seen, refused = cluster.run(_observe(client, names, check))
    _print(seen, form)
    for error in refused[1:]:
        click.echo(f"error: {error.message}", err=True)
    if refused:
        raise refused[0]
    return _report_check(seen) if check else 0


async def _observe(
    client: Any, names: tuple[str, ...], check: bool
) -> tuple[tuple[observed.Observed, ...], tuple[errors.ApiError, ...]]:
    from instar.controllers import inventory

    async with client:
        chosen = await inventory.crds(client, names)
        with _progress(check) as progress:
            return await inventory.observe(client, chosen, check=check, progress=progress)


@contextmanager
def _progress(check: bool) -> Iterator[inventory.Progress]:
    if not (check and sys.stderr.isatty()):
        yield lambda crd, read: None
        return
    from rich import console, progress

    columns = (progress.SpinnerColumn(), progress.TextColumn("{task.completed} objects read of {task.description}"))
    with progress.Progress(*columns, console=console.Console(stderr=True), transient=True) as bar:
        tasks: dict[str, progress.TaskID] = {}

        def advance(crd: crd_model.Crd, read: int) -> None:
            task = tasks.get(crd.name)
            tasks[crd.name] = bar.add_task(crd.name, total=None) if task is None else task
            bar.advance(tasks[crd.name], read)

        yield advance


# --- what is printed --------------------------------------------------------------------------------------------------


def _print(seen: Sequence[observed.Observed], form: output.Format) -> None:
    now = datetime.datetime.now(datetime.UTC)
    output.write(
        form,
        columns=COLUMNS,
        rows=[_row(entry, now) for entry in seen],
        names=[f"customresourcedefinition.apiextensions.k8s.io/{entry.crd.name}" for entry in seen],
        document={
            "apiVersion": "instar.dev/v1alpha1",
            "kind": "CustomResourceStatusList",
            "items": [_document(entry) for entry in seen],
        },
    )
    rows = [
        (entry.crd.name, str(bad), bad.version, bad.reason)
        for entry in seen
        if entry.reading
        for bad in entry.reading.unreadable
    ]
    if rows and form in ("table", "wide"):
        click.echo("\n" + output.table(UNREADABLE_COLUMNS, rows))


def _row(entry: observed.Observed, now: datetime.datetime) -> tuple[str, ...]:
    from instar.model import crd as crd_model
    from instar.rollout import next_step

    crd = entry.crd
    return (
        crd.name,
        ",".join(crd_model.served_versions(crd)) or "<none>",
        crd_model.storage_version(crd),
        ",".join(crd.stored_versions) or "<none>",
        _objects(entry),
        crd.strategy,
        crd.kind,
        "Namespaced" if crd.namespaced else "Cluster",
        crd_model.storage_version_hash(crd),
        str(crd.generation),
        _age(_created(crd), now),
        crd.uid,
        next_step.sentence(next_step.findings(entry)),
    )


def _objects(entry: observed.Observed) -> str:
    if entry.objects is not None:
        return str(entry.objects)
    return "forbidden" if entry.forbidden else "unknown"


def _created(crd: crd_model.Crd) -> str:
    return str(crd.document["metadata"].get("creationTimestamp") or "")


def _age(created: str, now: datetime.datetime) -> str:
    if not created:
        return "<unknown>"
    seconds = int((now - datetime.datetime.fromisoformat(created)).total_seconds())
    for size, letter in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= 2 * size:
            return f"{seconds // size}{letter}"
    return f"{max(seconds, 0)}s"


def _document(entry: observed.Observed) -> dict[str, Any]:
    from instar.model import crd as crd_model
    from instar.rollout import next_step

    crd, found = entry.crd, next_step.findings(entry)
    document: dict[str, Any] = {
        "name": crd.name,
        "uid": crd.uid,
        "generation": crd.generation,
        "created": _created(crd),
        "group": crd.group,
        "kind": crd.kind,
        "namespaced": crd.namespaced,
        "versions": [version.name for version in crd.versions],
        "served": list(crd_model.served_versions(crd)),
        "storage": crd_model.storage_version(crd),
        "storageVersionHash": crd_model.storage_version_hash(crd),
        "storedVersions": list(crd.stored_versions),
        "objects": entry.objects,
        "conversion": crd.strategy,
        "nextStep": next_step.sentence(found),
        "findings": [
            {"reason": finding.reason, "message": finding.message, "command": finding.command} for finding in found
        ],
    }
    if entry.unlisted:
        document["unlisted"] = [{"version": version, "reason": reason} for version, reason in entry.unlisted]
    if entry.reading is not None:
        document["check"] = {
            "objects": entry.reading.objects,
            "versions": list(entry.reading.versions),
            "incomplete": entry.reading.incomplete,
            "unreadable": [
                {"namespace": bad.namespace, "name": bad.name, "version": bad.version, "reason": bad.reason}
                for bad in entry.reading.unreadable
            ],
        }
    return document


def _report_check(seen: Sequence[observed.Observed]) -> int:
    """Say on stderr what was read; the exit code."""
    readings = [entry.reading for entry in seen if entry.reading is not None]
    unreadable = sum(len(reading.unreadable) for reading in readings)
    unfinished = [reading for reading in readings if reading.incomplete]
    output.note(
        f"{sum(reading.objects for reading in readings)} objects of {len(readings)} CRDs read at each served version, "
        f"{unreadable} reads failed" + (f", {len(unfinished)} lists incomplete" if unfinished else "")
    )
    return 1 if unreadable or unfinished else 0
