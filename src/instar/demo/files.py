"""Writes what a run left: ``report.json`` for programs, ``report.html`` for people."""

from __future__ import annotations

import json
import pathlib

from instar import errors
from instar.report import run, run_page

__all__ = ["prepare", "write"]


def prepare(folder: pathlib.Path) -> None:
    """Make the folder and take away an earlier run's files: what is there at the end is of this run or of none.

    A place that cannot be written to is known before the work and not after it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("report.json", "report.html"):
            (folder / name).touch()
            (folder / name).unlink()
    except OSError as error:
        raise errors.UsageError(f"--report {folder}: {error.strerror}; name a folder that can be written to") from error


def write(folder: pathlib.Path, ended: run.Run) -> pathlib.Path:
    """Both files; the page's path."""
    page = folder / "report.html"
    try:
        text = json.dumps(run.document(ended), indent=2, ensure_ascii=False)
        (folder / "report.json").write_text(text + "\n", encoding="utf-8")
        page.write_text(run_page.render(ended), encoding="utf-8")
    except OSError as error:
        raise errors.UsageError(f"--report {folder}: {error.strerror}; name a folder that can be written to") from error
    return page
