"""What is printed where: data on stdout, words on stderr, columns that line up."""

from __future__ import annotations

import json

import pytest
import yaml

from instar.cli import output

COLUMNS = (output.Column(heading="NAME"), output.Column(heading="UID", wide=True), output.Column(heading="LAST"))
ROWS = (("a", "1", "x"), ("longer", "2", ""))
DOCUMENT = {"items": [{"name": "a", "big": 2**53 + 1, "text": "ünï: #1"}, {"name": "longer"}]}


def printed(form: output.Format, capsys: pytest.CaptureFixture[str], rows: tuple = ROWS) -> tuple[str, str]:
    output.write(form, columns=COLUMNS, rows=rows, names=[row[0] for row in rows], document=DOCUMENT)
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Columns line up, wide ones only show when asked for, and no line ends in spaces."""
    assert printed("table", capsys) == ("NAME     LAST\na        x\nlonger\n", "")
    assert printed("wide", capsys) == ("NAME     UID   LAST\na        1     x\nlonger   2\n", "")


def test_data_comes_back(capsys: pytest.CaptureFixture[str]) -> None:
    """json and yaml hold the whole document, exactly, and nothing else is on either stream."""
    out, err = printed("json", capsys)
    assert (json.loads(out), err) == (DOCUMENT, "")
    out, err = printed("yaml", capsys)
    assert (yaml.safe_load(out), err) == (DOCUMENT, "")


def test_names(capsys: pytest.CaptureFixture[str]) -> None:
    """One name a line, for xargs."""
    assert printed("name", capsys) == ("a\nlonger\n", "")


@pytest.mark.parametrize("form", ["table", "wide", "name"])
def test_nothing(form: output.Format, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing found is said on stderr, so that a pipe stays empty."""
    assert printed(form, capsys, ()) == ("", "No resources found\n")
