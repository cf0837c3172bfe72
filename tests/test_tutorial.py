"""docs/tutorial-convert.md, followed to the letter: its files are written, its commands run, what it shows is shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

TUTORIAL = Path(__file__).parents[1] / "docs/tutorial-convert.md"
BLOCK = re.compile(r"^```(yaml|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command and the lines that it is said to show."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.rstrip("\n").split("\n")
        yield command, shown


def run(command: str, folder: Path) -> list[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "200"}
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout.splitlines()


def test_the_tutorial_shows_what_it_says(tmp_path: Path) -> None:
    """Every line of output that it quotes is printed, in order."""
    compared = 0
    for kind, text in BLOCK.findall(TUTORIAL.read_text()):
        if kind == "yaml":
            file = tmp_path / text.split("\n", 1)[0].removeprefix("# ")
            file.parent.mkdir(exist_ok=True)
            file.write_text(text.split("\n", 1)[1])
            continue
        for command, shown in commands(text):
            found = run(command, tmp_path)
            at = iter(found)
            for line in shown:
                assert any(line.rstrip() == one.rstrip() for one in at), f"$ {command}\n{line}\n" + "\n".join(found)
                compared += 1
    assert compared > 12
