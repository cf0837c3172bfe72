"""`instar convert`: manifests in, manifests out, and nothing lost on the way but what was asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from tests.unit.cli.running import instar

TENANT = Path(__file__).parents[3] / "examples" / "tenant"
OBJECTS = TENANT / "objects"


def read(text: str) -> list[dict]:
    return list(yaml.safe_load_all(text))


def test_there_and_back_is_the_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    """What v1alpha1 cannot say goes along."""
    given = read((OBJECTS / "structured.yaml").read_text())
    there = instar(capsys, "convert", "-p", TENANT, "-f", OBJECTS / "structured.yaml", "--to", "v1alpha1")
    assert read(there.out)[0]["spec"]["quota"] == "cpu=8,mem=32Gi"
    back = instar(capsys, "convert", "-p", TENANT, "-f", "-", "--to", "v1", stdin=there.out)
    assert read(back.out) == given


def test_a_manifest_for_git(capsys: pytest.CaptureFixture[str]) -> None:
    """Restored, and without annotations; alone, stripping needs no project."""
    there = instar(capsys, "convert", "-p", TENANT, "-f", OBJECTS / "structured.yaml", "--to", "v1alpha1").out
    stripped = instar(capsys, "convert", "-f", "-", "--strip-carried", stdin=there).out
    assert "annotations" in there
    assert "annotations" not in stripped
    assert read(stripped)[0]["spec"] == read(there)[0]["spec"]
    both = instar(capsys, "convert", "-p", TENANT, "-f", "-", "--to", "v1", "--strip-carried", stdin=there).out
    assert read(both) == read((OBJECTS / "structured.yaml").read_text())


def test_annotations_of_others_stay(capsys: pytest.CaptureFixture[str]) -> None:
    text = "metadata: {annotations: {carried.acme.io/v1.view: x, carried.acme.io/note: y, a: b}}\nkind: X\n"
    out = instar(capsys, "convert", "-f", "-", "--strip-carried", stdin=text).out
    assert read(out) == [{"metadata": {"annotations": {"carried.acme.io/note": "y", "a": "b"}}, "kind": "X"}]


def test_lists_folders_and_other_kinds(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A List stays one, the folder's other files are read too, a Secret is left as it is."""
    tenants = read((OBJECTS / "odd-spelling.yaml").read_text())
    listed = {"apiVersion": "platform.acme.io/v1alpha1", "kind": "TenantList", "items": tenants}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    (tmp_path / "a.yaml").write_text(yaml.safe_dump_all([listed, secret]))
    (tmp_path / "b.json").write_text(json.dumps(tenants[0]))
    ended = instar(capsys, "convert", "-p", TENANT, "-f", tmp_path, "--to", "v1", "-o", "json")
    items = json.loads(ended.out)["items"]
    assert [item["kind"] for item in items] == ["TenantList", "Secret", "Tenant"]
    assert {item["apiVersion"] for item in (items[0], items[2], *items[0]["items"])} == {"platform.acme.io/v1"}
    assert "left as they are, for no conversion is theirs: Secret." in ended.err


def test_an_object_that_cannot_be_converted(capsys: pytest.CaptureFixture[str]) -> None:
    """All of them are named, and nothing is printed that could be applied."""
    one = (TENANT / "golden" / "refused-empty.yaml").read_text().split("---")[0]
    other = (TENANT / "golden" / "refused-twice.yaml").read_text().split("---")[0]
    ended = instar(capsys, "convert", "-p", TENANT, "-f", "-", "--to", "v1", stdin=f"{one}---\n{other}")
    assert (ended.code, ended.out) == (1, "")
    assert "Tenant refused-empty v1alpha1 -> v1: spec.quota" in ended.err
    assert "Tenant refused-twice v1alpha1 -> v1: spec.quota" in ended.err


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("-f", "-"), "nothing to do: give --to VERSION, --strip-carried, or both"),
        (("-f", "nowhere.yaml", "--strip-carried"), "nowhere.yaml: no such file or folder"),
        (("-p", TENANT, "-f", OBJECTS, "--to", "v9"), "--to v9: Tenant has no such version; it has v1, v1alpha1"),
    ],
)
def test_wrong_use(words: tuple, error: str, capsys: pytest.CaptureFixture[str]) -> None:
    ended = instar(capsys, "convert", *words)
    assert (ended.code, ended.out, ended.err) == (2, "", f"error: {error}\n")
