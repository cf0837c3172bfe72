"""The project file is read whole, or the line and the remedy are said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import NoReturn

import pytest
import yaml

from instar import errors
from instar.cli import project, project_members

EXAMPLES = Path(__file__).parents[3] / "examples"
DOCS = EXAMPLES.parent / "docs"
HEAD = "apiVersion: instar.dev/v1alpha1\nkind: Project\n"
ONE = "conversions:\n- conversion: conversion.py\n  crd: crd.yaml\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tenant's folder, to be changed."""
    shutil.copytree(EXAMPLES / "tenant", tmp_path / "tenant")
    return tmp_path / "tenant"


def test_everything_it_names_is_read(folder: Path) -> None:
    (entry,) = project.read(folder)
    assert entry.bound.conversion.kind == "Tenant"
    assert len(entry.real) == 6
    assert len(entry.golden) > 10
    assert entry.carried
    assert len(entry.equivalent) == 4
    assert project.read(folder / "instar.yaml")[0].real == entry.real


def test_declarations(folder: Path) -> None:
    """Losses are for all laws of data, waivers for the one they name; a day needs no quotes."""
    more = """\
  losses:
  - {path: /spec/title, reason: old, expires: 2027-01-31}
  waivers:
  - {law: L8, from: v1, to: v1alpha1, path: /spec/class, reason: odd, expires: "2027-02-28"}
"""
    (folder / "instar.yaml").write_text(HEAD + ONE + more)
    (entry,) = project.read(folder)
    loss, waiver = entry.allowances
    assert (loss.laws, loss.expires, loss.source) == (("L1", "L2", "L3", "L6", "L9"), "2027-01-31", "")
    assert (waiver.laws, waiver.source, waiver.target) == (("L8",), "v1", "v1alpha1")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected one document, and there are 0"),
        ("a: [", "instar.yaml:2: no YAML"),
        ("- 1", ":1: expected apiVersion, conversions, kind, and it is [1]"),
        (HEAD, ":1: conversions is missing"),
        (HEAD.replace("v1alpha1", "v9") + ONE, ":1: apiVersion is 'instar.dev/v9', not instar.dev/v1alpha1"),
        (HEAD + "conversions: []\n", ":3: conversions: expected a list, and it is []"),
        (HEAD + "conversions:\n- conversion: conversion.py\n", ":4: crd is missing"),
        (
            HEAD + "conversions:\n- crd: crd.yaml\n  golden: golden\n",
            ":5: golden: there is no conversion that it could be of",
        ),
        (HEAD + "conversions:\n- crd: one.yaml\n", ":4: the CRD tenants.platform.acme.io has one version"),
        (HEAD + "conversions:\n- crd: two.yaml\n", ":4: two.yaml has 2 CRDs; write each to a file of its own"),
        (HEAD + ONE + "  corpora: x\n", ":6: 'corpora' is none of carried, conversion, corpus, crd"),
        (HEAD + ONE + "  corpus: 3\n", ":6: corpus: expected a path or a list of them, and it is 3"),
        (HEAD + ONE + "  corpus: nowhere\n", "nowhere: no such file or folder"),
        (HEAD + ONE + "  golden: ''\n", ":6: golden: expected text"),
        (HEAD + ONE + "  losses:\n  - {path: /a, reason: r}\n", ":7: expires is missing"),
        (
            HEAD + ONE + "  losses:\n  - path: /a\n    reason: 3\n    expires: x\n",
            ":8: reason: expected text, and it is 3",
        ),
        (
            HEAD + ONE + "  losses:\n  - {path: /a, reason: r, expires: x, from: v9}\n",
            "from: 'v9' is none of the versions",
        ),
        (
            HEAD + ONE + "  waivers:\n  - {law: L14, path: /a, reason: r, expires: x}\n",
            "law is 'L14', which is none of L1, L2",
        ),
        (HEAD + ONE + "  equivalent:\n  - {mutant: m}\n", ":7: reason is missing"),
        (HEAD + ONE.replace("conversion.py", "other.py"), "other.py: no such file"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, words: str, folder: Path) -> None:
    (folder / "instar.yaml").write_text(text)
    crd = yaml.safe_load((folder / "crd.yaml").read_text())
    (folder / "two.yaml").write_text(yaml.safe_dump_all([crd, crd]))
    crd["spec"]["versions"] = [version for version in crd["spec"]["versions"] if version["storage"]]
    (folder / "one.yaml").write_text(yaml.safe_dump(crd))
    with pytest.raises(errors.UsageError) as caught:
        project.read(folder)
    assert words in caught.value.message


def test_the_schema_in_docs_is_the_model_s() -> None:
    """Regenerate with: python -m instar.cli.project_members > docs/instar.schema.json"""
    assert json.loads((DOCS / "instar.schema.json").read_text()) == project_members.schema()


def test_the_file_in_the_docs_has_every_member() -> None:
    """docs/prove.md shows each member once, and what it shows is right."""
    text = (
        (DOCS / "prove.md").read_text().split("## The project file", 1)[1].split("```yaml\n", 1)[1].split("```", 1)[0]
    )
    (document,) = yaml.load_all(text, Loader=yaml.BaseLoader)

    def complain(where: object, problem: str) -> NoReturn:
        raise AssertionError(f"{where}: {problem}")

    project_members.check(document, project_members.PROJECT, complain)
    first = document["conversions"][0]
    assert set(first) == set(project_members.PROJECT["conversions"].items)
    for name in ("losses", "waivers", "equivalent"):
        assert first[name]


def test_no_project_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(errors.UsageError, match=r"instar\.yaml: No such file or directory: write one, or name"):
        project.read(tmp_path)


def test_conversions_of_the_command_line() -> None:
    tenant = EXAMPLES / "tenant"
    (entry,) = project.of_flags([f"{tenant}/conversion.py"], [f"{tenant}/crd.yaml"], [f"{tenant}/objects"])
    assert (entry.bound.conversion.kind, len(entry.real), entry.golden) == ("Tenant", 6, ())


def test_a_crd_without_a_conversion_converts_by_its_version_alone() -> None:
    """The strategy None is right for one schema; where schemas differ nothing is converted, and the place is said."""
    (entry,) = project.read(EXAMPLES / "mcpserver")
    found = {
        "apiVersion": "platform.acme.io/v1",
        "kind": "MCPServer",
        "metadata": {"name": "a"},
        "spec": {"image": "i"},
    }
    assert entry.converter().convert(found, "v1beta1") == {**found, "apiVersion": "platform.acme.io/v1beta1"}
    with pytest.raises(errors.UsageError, match=r"and its schemas differ: properties\.spec\.properties\.class"):
        project.of_flags([], [str(EXAMPLES / "tenant/crd.yaml")])[0].converter()


def test_a_corpus_needs_a_conversion() -> None:
    with pytest.raises(errors.UsageError, match="--corpus goes with --conversion"):
        project.find(".", [], [str(EXAMPLES / "mcpserver/crd.yaml")], ["objects"])
