"""``instar explain``: what is carried on one object, what of it would come back at each version, and why."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from instar.cli import cluster, explaining, output

if TYPE_CHECKING:
    from instar.cli import project

__all__ = ["command"]

COLUMNS = tuple(
    output.Column(heading=heading, wide=heading == "BY")
    for heading in ("READ AT", "LEAF", "OF", "WHAT", "VALUE", "BY", "WHY")
)
LONGEST = 60
Document = dict[str, Any]


@click.command()
@click.argument("names", metavar="FILE|TYPE/NAME", nargs=-1, required=True)
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
@click.option("-n", "--namespace", default="", metavar="NAME", help="The namespace of TYPE/NAME.")
@click.option("--at", "version", default="", metavar="VERSION", help="Read TYPE/NAME at this version, not as stored.")
@cluster.options
@output.option
def command(
    *,
    names: tuple[str, ...],
    path: str,
    conversions: tuple[str, ...],
    manifests: tuple[str, ...],
    namespace: str,
    version: str,
    kubeconfig: str | None,
    context: str | None,
    request_timeout: float,
    form: output.Format,
) -> int:
    """Say what is carried on an object, and what is restored or dropped at each version, and why.

    A file may hold several documents; - is standard input. Nothing is written anywhere. Exits 1 where the object cannot
    be converted to one of its versions.

    Example: instar explain tenant/acme -n default
    """
    from instar.cli import project

    entries = project.find(path, conversions, manifests)
    named = [name for name in names if _is_file(name)]
    wanted = [name for name in names if not _is_file(name)]
    found = _of_files(named)
    if wanted:
        client = cluster.open_client(kubeconfig, context, request_timeout)
        found += cluster.run(_of_cluster(client, wanted, entries, namespace, version))
    mine = [(document, entry) for document in found if (entry := _entry(document, entries))]
    explained = [(document, explaining.explain(document, entry.converter())) for document, entry in mine]
    _print(explained, form)
    return 1 if any(line.what == "fails" for _, lines in explained for line in lines) else 0


def _is_file(name: str) -> bool:
    return name == "-" or Path(name).exists() or name.endswith((".yaml", ".yml", ".json"))


def _of_files(names: Sequence[str]) -> list[Document]:
    from instar.cli import manifests

    return list(manifests.objects(manifests.read(names)))


def _entry(document: Document, entries: Sequence[project.Entry]) -> project.Entry | None:
    group = str(document.get("apiVersion")).rpartition("/")[0]
    for entry in entries:
        if (entry.bound.conversion.group, entry.bound.conversion.kind) == (group, document.get("kind")):
            return entry
    output.note(f"passed over: {document.get('kind')} of {group or 'the core API'}, which has no conversion here")
    return None


async def _of_cluster(
    client: Any, names: Sequence[str], entries: Sequence[project.Entry], namespace: str, version: str
) -> list[Document]:
    from instar.model import crd as crd_model

    found: list[Document] = []
    async with client:
        for name in names:
            crd, key = _named(name, entries)
            resource = crd_model.resource(crd, version or crd_model.storage_version(crd))
            space = (namespace or client.config.namespace or "default") if crd.namespaced else ""
            found.append(await client.get(resource, key, space))
    return found


def _named(name: str, entries: Sequence[project.Entry]) -> tuple[Any, str]:
    from instar import errors

    kind, slash, key = name.partition("/")
    for entry in entries:
        crd = entry.bound.crd
        short = (crd.document["spec"]["names"].get("shortNames") or ()) if slash else ()
        if kind.lower() in (crd.plural, crd.singular, crd.kind.lower(), crd.name, *short) and key:
            return crd, key
    known = ", ".join(entry.bound.crd.singular for entry in entries)
    raise errors.UsageError(f"{name}: no such file, and no TYPE/NAME of a conversion here (types: {known})")


# --- what is printed --------------------------------------------------------------------------------------------------


def _print(explained: Sequence[tuple[Document, tuple[explaining.Line, ...]]], form: output.Format) -> None:
    if form in ("json", "yaml", "name") or not explained:
        document = {
            "apiVersion": "instar.dev/v1alpha1",
            "kind": "ExplanationList",
            "items": [_item(document, lines) for document, lines in explained],
        }
        names = [_title(document) for document, _ in explained]
        output.write(form, columns=COLUMNS, rows=[[name] for name in names], names=names, document=document)
        return
    blocks = []
    for document, lines in explained:
        version = str(document.get("apiVersion")).rpartition("/")[2]
        head = f"{_title(document)} at {version}"
        blocks.append(f"{head}\n{output.table(COLUMNS, [_row(line) for line in lines], wide=form == 'wide')}")
    click.echo("\n\n".join(blocks))


def _title(document: Document) -> str:
    metadata = document.get("metadata") or {}
    name = metadata.get("name") or "<unnamed>"
    return (
        f"{document.get('kind')} {metadata['namespace']}/{name}"
        if metadata.get("namespace")
        else (f"{document.get('kind')} {name}")
    )


def _row(line: explaining.Line) -> tuple[str, ...]:
    return line.at, line.path, line.of, line.what, _shown(line), line.by or "-", line.why


def _shown(line: explaining.Line) -> str:
    from instar.model import gojson

    if line.absent:
        return "<absent>"
    if line.value is explaining.UNKNOWN:
        return "-"
    text = gojson.encode(line.value).decode()
    return text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."


def _item(document: Document, lines: Sequence[explaining.Line]) -> dict[str, Any]:
    metadata = document.get("metadata") or {}
    return {
        "apiVersion": document.get("apiVersion"),
        "kind": document.get("kind"),
        "namespace": metadata.get("namespace", ""),
        "name": metadata.get("name", ""),
        "leaves": [_leaf(line) for line in lines],
    }


def _leaf(line: explaining.Line) -> dict[str, Any]:
    value = {} if line.absent or line.value is explaining.UNKNOWN else {"value": line.value}
    return {
        "readAt": line.at,
        "path": line.path,
        "of": line.of,
        "what": line.what,
        "absent": line.absent,
        **value,
        "by": line.by,
        "why": line.why,
    }
