"""The report's files are those of this run or none."""

from __future__ import annotations

import pathlib

import pytest

from instar import errors
from instar.demo import files


def test_an_earlier_report_is_gone_before_the_run(tmp_path: pathlib.Path) -> None:
    """A run that fails must not leave the success of the one before."""
    (tmp_path / "report.json").write_text('{"lost": 0}')
    (tmp_path / "mine.txt").write_text("stays")
    files.prepare(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_place_that_cannot_be_written_to_is_known_before_the_work(tmp_path: pathlib.Path) -> None:
    """One line that names the folder."""
    (tmp_path / "file").write_text("")
    with pytest.raises(errors.UsageError, match=r"file/x.*name a folder that can be written to"):
        files.prepare(tmp_path / "file" / "x")
