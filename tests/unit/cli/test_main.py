"""What every command has in common: numbers of seconds, and a disk that takes no more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.cli import running

SECONDS = (
    ("status", "--request-timeout"),
    ("migrate", "x.example.com", "--settle"),
    ("migrate", "x.example.com", "--timeout"),
    ("demo", "--settle"),
    ("serve", "--drain-seconds"),
)


@pytest.mark.parametrize("value", ["nan", "inf"])
@pytest.mark.parametrize("words", SECONDS, ids=" ".join)
def test_seconds_that_no_timer_takes(words: tuple[str, ...], value: str, capsys: pytest.CaptureFixture[str]) -> None:
    """nan and inf are wrong use of the option."""
    ended = running.instar(capsys, *words, value)
    assert ended.code == 2
    assert f"Invalid value for '{words[-1]}': {value} is no number of seconds." in ended.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk() -> None:
    """Output into a file on a full disk is said in one line, and is no bug of ours."""
    with open("/dev/full", "wb") as full:
        words = (sys.executable, "-m", "instar.cli.main", "--help")
        ended = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert (ended.returncode, ended.stderr.decode()) == (2, "error: cannot write: No space left on device\n")


def test_evidence_that_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Said before a cluster is even looked for, not after the trim."""
    (tmp_path / "file").touch()
    place = tmp_path / "file" / "record.json"
    for words in (("--evidence", place), ()):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
        ended = running.instar(capsys, "migrate", "x.example.com", "--kubeconfig", "/nowhere", *words)
        assert ended.code == 2
        assert ended.err.startswith(f"error: cannot write the evidence to {tmp_path / 'file'}")
        assert ended.err.endswith(": name another --evidence\n")
