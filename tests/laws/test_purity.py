"""The same bytes in give the same bytes out: in another process, under another hash seed, in any order of keys."""

from __future__ import annotations

import copy
import functools
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.laws import answering, lossy, subject
from tests.laws.test_exactness import SIDES

from instar import conversion, errors
from instar.cli import project
from instar.model import gojson
from instar.testing import cases, gathering, twin

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLES = ("cachecluster", "machinequota", "pipeline", "tenant", "widget")
CHANCE = random.Random(7)


def asked(of: conversion.Bound, shuffle: Callable[[Any], Any] = lambda document: document) -> list[str]:
    """Reviews of real, spanning and drawn objects, each from its version to each other and, as answered, back."""
    known = twin.Twin(of)
    (real,) = project.read(ROOT / "examples" / of.conversion.kind.lower())
    drawn = [*real.real, *gathering.spanned(known, real.real), *gathering.drawn(known, real.real, 60, "7")]
    bodies = []
    for source in drawn:
        for target in known.others(cases.version_of(source.object)):
            there = review(of, [shuffle(source.object)], target)
            found = json.loads(answering.answer(of, there))["response"].get("convertedObjects") or []
            back = review(of, [shuffle(document) for document in found], cases.version_of(source.object))
            bodies += [there, back]
    return bodies


def review(of: conversion.Bound, documents: list[Any], target: str) -> str:
    """A ConversionReview as an API server sends it."""
    request = {"uid": "1", "desiredAPIVersion": f"{of.conversion.group}/{target}", "objects": documents}
    document = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}
    return json.dumps(document)


@functools.cache
def every() -> tuple[str, Any]:
    """All examples' reviews, and what this process makes of them."""
    reviews = {name: asked(answering.bound(name)) for name in EXAMPLES}
    assert all(len(bodies) > 100 for bodies in reviews.values())
    return json.dumps(reviews), answering.digests(reviews)


def answers(python: str | pathlib.Path, seed: str = "0") -> Any:
    """What another process makes of them."""
    ended = subprocess.run(
        [python, ROOT / "tests/laws/answering.py"],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "src")},
        input=every()[0],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return json.loads(ended.stdout)


@pytest.mark.parametrize("seed", ["0", "1", "4711"])
def test_the_same_bytes_in_every_process(seed: str) -> None:
    """Another process with another PYTHONHASHSEED answers every example's reviews with the same bytes."""
    assert answers(sys.executable, seed) == every()[1]


def pythons() -> list[pathlib.Path]:
    """Other Pythons that are here: on the PATH, or built by pyenv."""
    found = []
    for version in ("3.11", "3.12", "3.13", "3.14"):
        built = pathlib.Path(os.environ.get("PYENV_ROOT", "/nowhere")).glob(f"versions/{version}.*/bin/python")
        for python in (shutil.which(f"python{version}"), *sorted(built)):
            if python and version != "{}.{}".format(*sys.version_info) and says(python) == version:
                found.append(pathlib.Path(python))
                break
    return found


def says(python: str | pathlib.Path) -> str:
    code = "import sys; print('{}.{}'.format(*sys.version_info))"
    return subprocess.run([python, "-c", code], capture_output=True, text=True, check=False).stdout.strip()


@pytest.mark.soak
def test_the_same_bytes_on_every_python(tmp_path: pathlib.Path) -> None:
    """Each Python that is here, with the pinned dependencies in a venv of its own, answers with the same bytes."""
    here = pythons()
    if not here:
        pytest.skip("no other Python from 3.11 on is here")
    for number, python in enumerate(here):
        venv = tmp_path / str(number)
        subprocess.run([python, "-m", "venv", venv], check=True)
        pip = [venv / "bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        subprocess.run([*pip, "--require-hashes", "-r", ROOT / "requirements/dev.txt"], check=True)
        assert answers(venv / "bin/python") == every()[1], python


def shuffled(value: Any, chance: random.Random) -> Any:
    """The same JSON with the keys of every map in another order."""
    if isinstance(value, dict):
        names = list(value)
        chance.shuffle(names)
        return {name: shuffled(value[name], chance) for name in names}
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", EXAMPLES)
def test_key_order_does_not_matter_to_an_example(name: str) -> None:
    """The same reviews with the keys of every object in another order are answered with the same bytes."""
    of = answering.bound(name)
    one, other = (asked(of, shuffle) for shuffle in (lambda document: document, body_shuffled))
    assert one != other
    for left, right in zip(one, other, strict=True):
        assert answering.answer(of, left) == answering.answer(of, right), left


def body_shuffled(document: Any) -> Any:
    """But for metadata, which comes back as the bytes that it came as."""
    mixed = shuffled(document, CHANCE)
    return {**mixed, "metadata": document["metadata"]} if "metadata" in document else mixed


@SIDES
@subject.many(60)
@given(st.data())
def test_key_order_does_not_matter(side: str, data: st.DataObject) -> None:
    """However the keys of an object are ordered, and again after another object, the answer is the same."""
    judged = subject.of_node(data.draw(lossy.nodes()))
    document = judged.drawn(data, side)
    away = subject.other(judged, side)
    first = gojson.encode(judged.bound.convert(copy.deepcopy(document), away))
    judged.bound.convert({"apiVersion": f"{lossy.GROUP}/{away}", "kind": lossy.KIND, "metadata": {}}, side)
    mixed = shuffled(document, data.draw(st.randoms(use_true_random=False)))
    assert gojson.encode(judged.bound.convert(mixed, away)) == first


@SIDES
@subject.many(60)
@given(st.data())
def test_an_annotation_budget_is_kept_or_said(side: str, data: st.DataObject) -> None:
    """Among 255 KiB of other annotations all of ours fit, or an error says object, limit and path; never too many."""
    judged = subject.of_node(data.draw(lossy.nodes()))
    document = judged.drawn(data, side)
    room = data.draw(st.sampled_from([0, 100, 1000]))
    document["metadata"].setdefault("annotations", {})["note"] = "x" * (262144 - room - 4)
    answer, refusal = answered(judged, document, subject.other(judged, side))
    if refusal:
        assert all(word in refusal for word in ("one", "262144", "/spec"))
    elif judged.carried(answer):
        notes = answer["metadata"]["annotations"]
        assert sum(len(name.encode()) + len(value.encode()) for name, value in notes.items()) <= 262144


def answered(judged: subject.Subject, document: dict[str, Any], to: str) -> tuple[dict[str, Any], str]:
    """The converted object, or why there is none."""
    try:
        return judged.bound.convert(document, to), ""
    except errors.ConversionError as error:
        return {}, error.message
