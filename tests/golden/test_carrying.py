"""What is stored in annotations, for whole objects: reviewed files, because the format is data that outlives a release.

``tests/golden/carrying/<case>/given.yaml`` is converted to the version of ``expected.yaml``, and back. A change that is
meant is written with ``python -m tests.golden.test_carrying`` and reviewed as any change of a format.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
from typing import Any

import pytest
import yaml
from tests.unit.conversion import subject

from instar.model import gojson

FOLDER = pathlib.Path(__file__).parent / "carrying"
CASES = sorted(case.name for case in FOLDER.iterdir() if case.is_dir())


def read(case: str, name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((FOLDER / case / f"{name}.yaml").read_text())
    return document


def conversion_of(case: str) -> Any:
    """An example of the repository; or the one that loses a field of the items of a list without identity."""
    name = case.partition("-")[0]
    if name != "steps":
        return subject.example(name)
    step = {"type": "object", "properties": {"image": {"type": "string"}, "cache": {"type": "string"}}}
    spec = {"type": "object", "properties": {"steps": {"type": "array", "items": step}}}
    return subject.losing(spec, "cache")


def converted(case: str) -> dict[str, Any]:
    given = read(case, "given")
    target = {"v1alpha1": "v1", "v1": "v1alpha1", "new": "old", "old": "new"}[given["apiVersion"].rpartition("/")[2]]
    document: dict[str, Any] = conversion_of(case).convert(given, target)
    return document


@pytest.mark.parametrize("case", CASES)
def test_golden(case: str) -> None:
    """The whole object, annotations included, and back again."""
    given, expected = read(case, "given"), read(case, "expected")
    assert gojson.equal(converted(case), expected)
    bound = conversion_of(case)
    assert gojson.equal(bound.convert(expected, given["apiVersion"].rpartition("/")[2]), given)


@pytest.mark.parametrize("case", CASES)
def test_the_files_are_right_by_themselves(case: str) -> None:
    """Keys are hashes of paths and the view is one of object and entries, computed here with nothing of ours."""
    expected = read(case, "expected")
    body = {key: value for key, value in expected.items() if key != "metadata"}
    notes = {key: value for key, value in subject.notes(expected).items() if key.startswith("carried.")}
    carried = {key.rpartition(".")[2]: value for key, value in notes.items() if not key.endswith(".view")}
    assert carried
    text = json.dumps([body, carried], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for key, value in notes.items():
        tail = key.rpartition(".")[2]
        if tail == "view":
            assert value == hashlib.sha256(text.encode()).hexdigest()[:32]
        else:
            kind, where, *_ = (field for field in json.loads(value) if field != 2)
            assert kind == expected["kind"]
            assert tail == hashlib.sha256(where.encode()).hexdigest()[:16]


def write() -> None:
    for case in CASES:
        text = yaml.safe_dump(converted(case), sort_keys=False, allow_unicode=True, width=120)
        (FOLDER / case / "expected.yaml").write_text(text)


if __name__ == "__main__":
    write()
