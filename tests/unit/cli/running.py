"""A command as a person runs it, in this process: its exit code, stdout and stderr."""

from __future__ import annotations

import dataclasses
import io
import sys
from typing import Any

import pytest

from instar.cli import main


@dataclasses.dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


def instar(capsys: pytest.CaptureFixture[str], *words: Any, stdin: str = "") -> Ended:
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    try:
        with pytest.raises(SystemExit) as ended:
            main.main([str(word) for word in words])
    finally:
        sys.stdin = before
    out, err = capsys.readouterr()
    return Ended(int(ended.value.code or 0), out, err)
