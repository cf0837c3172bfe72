"""Which cluster a command talks to: kubectl's flags, and one way to open a client and run with it.

Imports of what talks to a cluster happen when a command runs, so that ``--help`` stays fast.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from instar import errors
from instar.cli import seconds

if TYPE_CHECKING:
    from instar.kube import client

__all__ = ["crd_names", "open_client", "options", "run"]

Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--kubeconfig", metavar="FILE", help="The kubeconfig file, in place of $KUBECONFIG and ~/.kube/config."
    ),
    click.option("--context", metavar="NAME", help="The kubeconfig context, in place of its current one."),
    click.option(
        "--request-timeout",
        type=seconds.Seconds(min=0.1),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="How long one request may take, with all that the API server asks to wait.",
    ),
)


def options(command: Function) -> Function:
    """Add ``--kubeconfig``, ``--context`` and ``--request-timeout``, as keywords of those names."""
    return functools.reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)


_TYPE = re.compile(r"(crds?|customresourcedefinitions?)(\.apiextensions\.k8s\.io)?/")


def crd_names(ctx: click.Context, parameter: click.Parameter, words: tuple[str, ...]) -> tuple[str, ...]:
    """The CRDs that a person names, each once; also as ``-o name`` of kubectl and of ``instar status`` prints them."""
    names = tuple(dict.fromkeys(_TYPE.sub("", word, count=1) for word in words))
    if "" in names:
        raise errors.UsageError("a CRD's name is empty; it is <plural>.<group>, as kubectl get crd shows it")
    return names


def open_client(
    kubeconfig: str | None,
    context: str | None,
    request_timeout: float = 60.0,
    *,
    servers: Sequence[str] = (),
    connections: int = 64,
) -> client.Client:
    """A client, to be entered with ``async with``; raises KubeconfigError for a configuration that cannot be used."""
    from instar.kube import client
    from instar.kube import kubeconfig as kubeconfig_module

    config = kubeconfig_module.load(kubeconfig, context)
    return client.Client(config, servers=servers, connections=connections, deadline_seconds=request_timeout)


def run(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a command's asynchronous part to its end, on uvloop where there is one."""
    try:
        import uvloop
    except ImportError:
        import asyncio

        return asyncio.run(work)
    result: Result = uvloop.run(work)
    return result
