"""Where every run begins and ends: finds the command, and turns what it raises into one line and an exit code.

Exit codes: 0 fine, 1 findings or a gate that holds, 2 wrong use, 3 cluster unreachable or forbidden, 4 our own fault,
130 interrupted. Commands are imported when they are called, so that ``--help`` stays fast.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import click

import instar
from instar import errors

__all__ = ["COMMANDS", "main", "program"]

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "controlplane": "starts and stops a disposable local etcd + kube-apiserver",
        "convert": "manifests at another version, and manifests without what is carried",
        "demo": "the main job on this machine: 6,000 objects from v1alpha1 to v1, with the proof",
        "generate": "manifests made from a conversion: the admission guard of what it carries",
        "explain": "of one object, what is carried, restored and dropped at each version, and why",
        "migrate": "rewrites stored objects at the storage version, proves it, trims status.storedVersions",
        "prove": "the laws of conversion, on real, live and drawn objects: the smallest object that is damaged",
        "serve": "the conversion webhook server",
        "status": "every multi-version CRD: served, storage, storedVersions, objects, next step",
    }
)
"""Name and one-line help of each command; ``name`` lives in ``instar.cli.name`` as ``command``."""


UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
"""What a full or broken disk says, to whatever writes next: stdout too may be a file on it."""


class LazyGroup(click.Group):
    """A group that imports a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"instar.cli.{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.option("-v", "--verbose", count=True, help="Say more; with an error, show the traceback.")
@click.version_option(instar.__version__, prog_name="instar")
@click.pass_context
def program(ctx: click.Context, verbose: int) -> None:
    """Takes a Kubernetes API from one version to the next without losing a byte.

    Example: instar status
    """
    ctx.ensure_object(dict)["verbose"] = verbose


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    sys.exit(_run(words))


def _run(words: list[str]) -> int:
    verbose = any(
        word == "--verbose" or (word[:1] == "-" and word[1:2] == "v" and not word.strip("-v")) for word in words
    )
    try:
        code = program.main(args=words, prog_name="instar", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.Abort:
        return 130
    except KeyboardInterrupt:
        return 130
    except click.ClickException as error:
        error.show()
        return 2
    except errors.InstarError as error:
        return _fail(error.message, error.exit_code, verbose=verbose)
    except BrokenPipeError:
        _leave_output()
        return 0
    except OSError as error:
        if error.errno not in UNWRITABLE:
            return _fail(_bug(error), 4, verbose=verbose)
        _leave_output()
        return _fail(f"cannot write: {error.strerror}", 2, verbose=verbose)
    except Exception as error:
        return _fail(_bug(error), 4, verbose=verbose)


def _leave_output() -> None:
    """What could not be written stays in a buffer, and Python would try it again on its way out."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _bug(error: Exception) -> str:
    report = f"a bug in instar {instar.__version__}: {type(error).__name__}: {error}"
    return f"{report} (please report it with the output of the same command with -v)"


def _fail(message: str, exit_code: int, *, verbose: bool) -> int:
    if verbose:
        traceback.print_exc()
    click.echo(f"error: {message}", err=True)
    return exit_code


if __name__ == "__main__":
    main()
