"""What `instar generate guard` writes, to the byte: people keep it in Git, and read what an API server will run.

A change that is meant is written with ``python -m tests.golden.test_guard`` and reviewed.
"""

from __future__ import annotations

import json
import pathlib

import pytest
import yaml
from click import testing

from instar.cli import main

FOLDER = pathlib.Path(__file__).parent / "guard"
EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
CASES = {
    "tenant-1.37": (),
    "tenant-1.35": (
        "--kubernetes-version",
        "1.35",
        "--name",
        "keep",
        "--exempt",
        "system:serviceaccount:velero:velero",
    ),
}


def written(case: str, *more: str) -> str:
    example = EXAMPLES / case.partition("-")[0]
    words = ["--conversion", str(example / "conversion.py"), "--crd", str(example / "crd.yaml"), *CASES[case], *more]
    result = testing.CliRunner().invoke(main.program, ["generate", "guard", *words], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


@pytest.mark.parametrize("case", CASES)
def test_golden(case: str) -> None:
    """The documents, byte by byte."""
    assert written(case) == (FOLDER / f"{case}.yaml").read_text()


@pytest.mark.parametrize("case", CASES)
def test_json_says_the_same(case: str) -> None:
    """`-o json` is one List of the same documents."""
    listed = json.loads(written(case, "-o", "json"))
    assert listed == {"apiVersion": "v1", "kind": "List", "items": list(yaml.safe_load_all(written(case)))}


if __name__ == "__main__":
    for name in CASES:
        (FOLDER / f"{name}.yaml").write_text(written(name))
