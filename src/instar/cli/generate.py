"""``instar generate``: manifests made from a conversion and its CRD, for ``kubectl apply`` or for Git."""

from __future__ import annotations

import click

from instar import loading
from instar.cli import load
from instar.rollout import guard as guard_module

__all__ = ["command"]


@click.group(name="generate")
def command() -> None:
    """Print manifests made from a conversion and its CRD.

    Example: instar generate guard --conversion conversion.py --crd crd.yaml | kubectl apply -f -
    """


@command.command()
@click.option(
    "--conversion",
    "conversion_name",
    required=True,
    metavar="FILE.py[:NAME]|MODULE:NAME",
    help="The conversion whose annotations are guarded.",
)
@click.option("--crd", "manifest", required=True, metavar="FILE", help="The manifest of its CRD.")
@click.option("--name", default="", help="The name of the policies; carried.<name of the CRD> if not given.")
@click.option(
    "--exempt",
    multiple=True,
    metavar="USER",
    help="A user that may write anything, such as system:serviceaccount:velero:velero; may be given several times.",
)
@click.option(
    "--kubernetes-version",
    default=guard_module.NEWEST,
    show_default=True,
    help="What the oldest of your clusters runs: before 1.36 what is lost is refused, not put back.",
)
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(("yaml", "json")),
    default="yaml",
    show_default=True,
    help="YAML documents, or one JSON list.",
)
def guard(
    *, conversion_name: str, manifest: str, name: str, exempt: tuple[str, ...], kubernetes_version: str, form: str
) -> None:
    """Admission policies that keep what is carried in annotations.

    They put back the annotations of a client that replaced all of them, and refuse a client that adds or alters what
    only conversion writes.

    \b
    Example: instar generate guard --conversion conversion.py --crd crd.yaml \\
               --exempt system:serviceaccount:velero:velero | kubectl apply -f -
    """
    conversion = loading.conversion(conversion_name)
    bound = load.bounds([conversion], load.crds(manifest))[conversion.group, conversion.kind]
    planned = guard_module.plan(bound, name=name, exempt=exempt, kubernetes=kubernetes_version)
    click.echo(_rendered(guard_module.documents(planned), form), nl=False)


def _rendered(documents: tuple[dict[str, object], ...], form: str) -> str:
    if form == "json":
        import orjson

        listed = {"apiVersion": "v1", "kind": "List", "items": documents}
        return orjson.dumps(listed, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
    import yaml

    class Dumper(yaml.SafeDumper):
        """Expressions as blocks: quotes in them stay as they are."""

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "'" in value else None)

    Dumper.add_representer(str, text)
    return str(yaml.dump_all(documents, Dumper=Dumper, sort_keys=False, width=10_000, explicit_start=True))
