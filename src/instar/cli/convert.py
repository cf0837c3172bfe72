"""``instar convert``: manifests at another version, and manifests without what is carried, for Git."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from instar.cli import output

if TYPE_CHECKING:
    from instar.cli import project

__all__ = ["command"]


@click.command()
@click.option(
    "-f", "--filename", "names", multiple=True, required=True, metavar="FILE", help="A file, a folder, or - for stdin."
)
@click.option("--to", "version", default="", metavar="VERSION", help="The version to convert to, such as v1.")
@click.option("--strip-carried", is_flag=True, help="Take away what is carried: for manifests that go into Git.")
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
    "--crd", "crds", multiple=True, metavar="FILE", help="A CRD manifest, with --conversion or with the strategy None."
)
@click.option(
    "-o", "--output", "form", type=click.Choice(("yaml", "json")), default="yaml", show_default=True, help="Its form."
)
def command(
    *,
    names: tuple[str, ...],
    version: str,
    strip_carried: bool,
    path: str,
    conversions: tuple[str, ...],
    crds: tuple[str, ...],
    form: Any,
) -> int:
    """Convert manifests to another version, as the webhook would, without a cluster.

    Objects of other kinds are printed as they are. What the version cannot say is carried in annotations, and what is
    carried for it comes back. Exits 0, or 1 with nothing printed where an object cannot be converted.

    Example: kubectl get tenants.v1alpha1.platform.acme.io acme -o yaml | instar convert -f - --to v1 --strip-carried
    """
    from instar import errors
    from instar.cli import manifests, project

    if not version and not strip_carried:
        raise errors.UsageError("nothing to do: give --to VERSION, --strip-carried, or both")
    documents = manifests.read(names)
    if version:
        entries = project.find(path, conversions, crds)
        documents = _converted(documents, version, entries)
    if strip_carried:
        documents = manifests.each(documents, manifests.stripped)
    if documents:
        click.echo(manifests.render(form, documents))
    return 0


def _converted(documents: list[Any], version: str, entries: tuple[project.Entry, ...]) -> list[Any]:
    from instar import errors
    from instar.cli import manifests

    mine = {(entry.bound.conversion.group, entry.bound.conversion.kind): entry for entry in entries}
    failed: list[str] = []
    passed: list[str] = []

    def change(document: dict[str, Any]) -> dict[str, Any]:
        group = str(document.get("apiVersion")).rpartition("/")[0]
        entry = mine.get((group, str(document.get("kind"))))
        if entry is None:
            passed.append(f"{document.get('kind')}.{group}")
            return document
        bound = entry.converter()
        if version not in bound.versions:
            known = ", ".join(bound.versions)
            raise errors.UsageError(f"--to {version}: {bound.conversion.kind} has no such version; it has {known}")
        try:
            return bound.convert(document, version)
        except errors.ConversionError as error:
            failed.append(error.message)
            return document

    result = [_listed(document, version, mine) for document in manifests.each(documents, change)]
    if failed:
        raise errors.ConversionError("\n       ".join(failed))
    if passed:
        output.note(f"left as they are, for no conversion is theirs: {', '.join(sorted(set(passed)))}")
    return result


def _listed(document: Any, version: str, mine: Any) -> Any:
    """A TenantList says the version too."""
    if not isinstance(document, dict):
        return document
    group, _, _ = str(document.get("apiVersion")).rpartition("/")
    if (group, str(document.get("kind")).removesuffix("List")) in mine and "items" in document:
        return {**document, "apiVersion": f"{group}/{version}"}
    return document
