"""What a command prints: a table for people, wide for more of it, json and yaml for programs, name for pipes.

With json and yaml nothing but data is on stdout; everything else a command has to say goes to stderr.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import click

__all__ = ["Column", "Format", "note", "option", "table", "write"]

Format = Literal["table", "wide", "json", "yaml", "name"]
FORMATS: tuple[Format, ...] = ("table", "wide", "json", "yaml", "name")
GAP = "   "
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Column:
    """A column's heading; a ``wide`` one shows with ``-o wide`` only."""

    heading: str
    wide: bool = False


def option(command: Function) -> Function:
    """Add ``-o/--output`` as the keyword ``form``."""
    return click.option(
        "-o",
        "--output",
        "form",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        help="Table, wider table, data, or names alone.",
    )(command)


def write(
    form: Format,
    *,
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    names: Sequence[str],
    document: Mapping[str, Any],
) -> None:
    """Print one result to stdout in the form asked for; nothing found is a line on stderr, as in kubectl."""
    if form == "json":
        import orjson

        click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
    elif form == "yaml":
        import yaml

        click.echo(yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True, width=10_000), nl=False)
    elif not rows:
        note("No resources found")
    elif form == "name":
        click.echo("\n".join(names))
    else:
        click.echo(table(columns, rows, wide=form == "wide"))


def table(columns: Sequence[Column], rows: Sequence[Sequence[str]], *, wide: bool = False) -> str:
    """Left-aligned columns under their headings, three spaces apart; the last one is not padded."""
    shown = [index for index, column in enumerate(columns) if wide or not column.wide]
    lines = [[columns[index].heading for index in shown], *([row[index] for index in shown] for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(shown))]
    padded = (GAP.join(text.ljust(width) for text, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join(line.rstrip() for line in padded)


def note(text: str) -> None:
    """A line for a person: on stderr, so that data on stdout stays data."""
    click.echo(text, file=sys.stderr)
