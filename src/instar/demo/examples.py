"""Where the worked examples are: in the installed package, or beside ``src`` in a checkout."""

from __future__ import annotations

import pathlib

import instar
from instar import errors

__all__ = ["folder"]


def folder(name: str) -> pathlib.Path:
    """The folder of one example: its ``crd.yaml`` and ``conversion.py``."""
    package = pathlib.Path(instar.__file__).parent
    for parent in (package, package.parents[1]):
        if (parent / "examples" / name / "crd.yaml").is_file():
            return parent / "examples" / name
    raise errors.InternalError(f"example {name!r} is neither in {package / 'examples'} nor beside the source")
