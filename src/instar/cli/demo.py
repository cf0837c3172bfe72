"""``instar demo``: the main job on this machine, from nothing, with the proof on the screen and in a report."""

from __future__ import annotations

import pathlib
import shlex
import shutil
import sys
from typing import TYPE_CHECKING

import click

from instar.cli import seconds

if TYPE_CHECKING:
    from instar.demo import screen, show

__all__ = ["command"]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--objects", type=click.IntRange(min=12), default=6000, show_default=True, help="So many to begin with.")
@click.option(
    "--report",
    type=click.Path(path_type=pathlib.Path, file_okay=False),
    default=pathlib.Path("build/demo"),
    show_default=True,
    metavar="DIR",
    help="Where report.json and report.html go.",
)
@click.option(
    "--settle",
    type=seconds.Seconds(min=2),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long writes that were under way at the flip may still land; below 60 the API server's --request-timeout "
    "is lowered to it.",
)
@click.option("--keep", is_flag=True, help="Leave the control plane running, to look around.")
def command(objects: int, report: pathlib.Path, settle: float, keep: bool) -> int:
    """Take a CRD from v1alpha1 to v1 under load, on a real etcd and kube-apiserver that are started for it.

    Thousands of Tenant objects are made at v1alpha1, v1 is added with a converter, clients write through both versions
    while the storage version flips and every object is rewritten, v1alpha1 is removed, and everything is compared with
    what was written. Exit code 0 if all of that holds, 1 if not.

    Example: instar demo --objects 300 --settle 5
    """
    from instar.cli import cluster
    from instar.demo import screen as screen_module
    from instar.demo import show as show_module
    from instar.demo import story

    where = screen_module.fitting()
    where.say(f"{objects:,} Tenant objects go from v1alpha1 to v1 while clients go on writing", "bold")
    options = story.Options(objects=objects, settle_seconds=settle, report=report)
    try:
        ended = show_module.show(options, where, cluster.run, keep=keep)
    except KeyboardInterrupt:
        where.say("interrupted: the control plane and the converter are stopped, nothing was kept")
        raise
    _sum_up(ended, where)
    return 0 if ended.run.holds else 1


def _sum_up(ended: show.Ended, where: screen.Screen) -> None:
    where.say()
    for fact in ended.run.facts:
        mark, style = ("✓", "green") if fact.holds else ("✗", "red")
        where.say(f"{mark} {fact.statement}", style)
        where.say(f"    {fact.measured}")
    where.say()
    where.say(f"report: {ended.page}")
    for line in _next(ended):
        where.say(line, "bold")


def _next(ended: show.Ended) -> list[str]:
    """Commands that work when pasted: on the control plane that was kept, or on one that is started and kept."""
    if ended.kept is None:
        return [f"next, to look around in such a cluster: {_program()} demo --objects 300 --settle 10 --keep"]
    words = [str(ended.kept.kubectl or "kubectl"), "--kubeconfig", str(ended.kept.kubeconfig), "get", "tenants", "-A"]
    return [
        f"next: {shlex.join(words)}",
        f"in the end: {_program()} controlplane stop {ended.kept.name}",
    ]


def _program() -> str:
    """This program as it can be called again from the same shell."""
    word = sys.argv[0]
    if pathlib.Path(word).suffix == ".py":
        return f"{shlex.quote(sys.executable)} -m instar.cli.main"
    found = shutil.which(pathlib.Path(word).name)
    same = found is not None and pathlib.Path(found).resolve() == pathlib.Path(word).resolve()
    return pathlib.Path(word).name if same else shlex.quote(word)
