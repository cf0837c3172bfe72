"""``instar prove``: the laws of conversion on real, live and drawn objects, before any cluster sees the converter."""

from __future__ import annotations

import dataclasses
import datetime
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from instar.cli import cluster, output

if TYPE_CHECKING:
    from instar.cli import project
    from instar.kube import client as kube_client
    from instar.testing import gathering, killing, proving

__all__ = ["command"]


@click.command()
@click.option(
    "-p",
    "--project",
    "path",
    default=".",
    show_default=True,
    metavar="PATH",
    help="The project file, or a folder with instar.yaml in it.",
)
@click.option(
    "--conversion",
    "conversions",
    multiple=True,
    metavar="FILE[:NAME]|MODULE:NAME",
    help="A conversion, in place of a project file; may be given several times.",
)
@click.option(
    "--crd",
    "manifests",
    multiple=True,
    metavar="FILE",
    help="A CRD manifest, with --conversion or with the strategy None.",
)
@click.option("--corpus", multiple=True, metavar="PATH", help="A file or folder of real objects, with --conversion.")
@click.option(
    "--examples",
    default=500,
    show_default=True,
    type=click.IntRange(0),
    help="How many objects to draw from the schemas, besides real ones and those that span the schemas.",
)
@click.option("--seed", default=0, show_default=True, help="Which objects are drawn; the same seed draws the same.")
@click.option("--update", is_flag=True, help="Write the snapshot of carried paths anew; review the difference.")
@click.option("--mutants", is_flag=True, help="Change the converter in every small way; each change must be caught.")
@click.option("--live", is_flag=True, help="Ask the laws about the objects of a cluster too; nothing is written.")
@click.option("-n", "--namespace", default="", metavar="NAME", help="With --live: this namespace only.")
@cluster.options
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(("text", "json", "junit", "github")),
    default="text",
    show_default=True,
    help="Text, data, JUnit XML, or GitHub annotations.",
)
def command(
    *,
    path: str,
    conversions: tuple[str, ...],
    manifests: tuple[str, ...],
    corpus: tuple[str, ...],
    examples: int,
    seed: int,
    update: bool,
    mutants: bool,
    live: bool,
    namespace: str,
    kubeconfig: str | None,
    context: str | None,
    request_timeout: float,
    form: Any,
) -> int:
    """Show the smallest object that a converter would damage.

    Laws L1 to L15 are asked of real objects (a corpus, --live), objects drawn from the schemas, edits of these and
    parts of these, through a twin of the API server's pipeline. Of a CRD without a conversion (strategy None) it is
    asked that all versions have the same schema. Exits 0 if all hold, 1 with findings.

    Example: instar prove --examples 1000 --seed 7
    """
    from instar.cli import project, proofs

    entries = project.find(path, conversions, manifests, corpus)
    proved = [entry for entry in entries if not entry.relabelled]
    found = _live(proved, cluster.open_client(kubeconfig, context, request_timeout), namespace) if live else {}
    if update:
        entries = tuple(entry if entry.relabelled else _update(entry) for entry in entries)
    named = (("--conversion", conversions), ("--crd", manifests))
    flags = tuple(word for name, values in named for value in values for word in (name, value)) or ("-p", path)
    reports = [_prove(entry, examples, seed, found.get(entry.name, ()), flags) for entry in entries]
    scores = [_judge(entry, seed) for entry in entries if not entry.relabelled] if mutants else []
    click.echo(proofs.render(form, reports, scores))
    for report in reports:
        if report.conversions:
            output.note(
                f"{report.kind}: {report.conversions} conversions in {report.seconds:.1f} s, "
                f"the slowest {report.slowest_seconds * 1000:.1f} ms"
            )
    held = [report.holds for report in reports] + [score.holds for score in scores]
    return 0 if all(held) else 1


def _prove(
    entry: project.Entry, examples: int, seed: int, live: Sequence[gathering.Source], flags: tuple[str, ...]
) -> proving.Report:
    from instar.testing import proving, relabelled

    if entry.relabelled:
        return relabelled.prove(entry.bound)
    with _progress(f"objects of {entry.bound.conversion.kind} judged") as advance:
        settings = dataclasses.replace(_settings(entry, examples, seed, live), flags=flags)
        return proving.prove(entry.bound, settings, progress=advance)


def _judge(entry: project.Entry, seed: int) -> killing.Score:
    from instar.testing import killing

    settings = _settings(entry, killing.EXAMPLES, seed, ())
    with _progress(f"mutants of {entry.bound.conversion.kind} judged") as advance:
        return killing.judge(entry.bound, settings, entry.equivalent, progress=advance)


def _settings(entry: project.Entry, examples: int, seed: int, live: Sequence[gathering.Source]) -> proving.Settings:
    from instar.testing import gathering, proving

    return proving.Settings(
        sources=gathering.Sources(real=entry.real, live=tuple(live), examples=examples, seed=seed),
        golden=entry.golden,
        snapshot=entry.carried,
        allowances=entry.allowances,
        today=datetime.datetime.now(datetime.UTC).date(),
    )


def _update(entry: project.Entry) -> project.Entry:
    """Writes the snapshot of what is carried, and says what is new in it."""
    from instar import errors
    from instar.testing import files, snapshot, twin

    conversion = entry.bound.conversion
    if entry.carried_file is None:
        text = f"{entry.name}: --update needs a place to write to: name the snapshot as carried: in the project file"
        raise errors.UsageError(text)
    carried = frozenset(snapshot.survey(twin.Twin(entry.bound), entry.real))
    files.write(entry.carried_file, snapshot.document(conversion.group, conversion.kind, carried))
    before = entry.carried or frozenset()
    text = f"{len(carried)} carried places, {len(carried - before)} of them new, {len(before - carried)} gone"
    output.note(f"wrote {entry.carried_file}: {text}; review it")
    return dataclasses.replace(entry, carried=carried)


def _live(
    entries: Sequence[project.Entry], client: kube_client.Client, namespace: str
) -> dict[str, tuple[gathering.Source, ...]]:
    """The objects of a cluster by the name of their conversion, as they are served at the storage version."""
    from instar.controllers import inventory
    from instar.model import crd as crd_model
    from instar.model import gojson
    from instar.testing import gathering

    async def read() -> dict[str, tuple[gathering.Source, ...]]:
        found = {}
        async with client:
            for entry in entries:
                (crd,) = await inventory.crds(client, [entry.bound.crd.name])
                resource = crd_model.resource(crd, crd_model.storage_version(crd))
                objects = []
                async for page in client.pages(resource, namespace):
                    objects += [gojson.decode(bytes(item)) for item in page.items]
                found[entry.name] = tuple(gathering.Source(origin=_origin(item), object=item) for item in objects)
        return found

    return cluster.run(read())


def _origin(item: dict[str, Any]) -> str:
    metadata = item["metadata"]
    name = f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else metadata["name"]
    return f"live {name}"


@contextmanager
def _progress(what: str) -> Iterator[proving.Progress]:
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich import console, progress

    columns = (progress.SpinnerColumn(), progress.TextColumn("{task.completed} {task.description}"))
    with progress.Progress(*columns, console=console.Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done: bar.update(task, completed=done)
