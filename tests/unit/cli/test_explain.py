"""`instar explain`: of each carried leaf, what becomes of it, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.cli.running import instar

TENANT = Path(__file__).parents[3] / "examples" / "tenant"
STRUCTURED = TENANT / "objects" / "structured.yaml"


def explained(capsys: pytest.CaptureFixture[str], *words: object, stdin: str = "") -> dict[str, dict]:
    ended = instar(capsys, "explain", "-p", TENANT, *words, "-o", "json", stdin=stdin)
    assert ended.code == 0
    (item,) = json.loads(ended.out)["items"]
    return {leaf["path"]: leaf for leaf in item["leaves"]}


def old(capsys: pytest.CaptureFixture[str]) -> str:
    return instar(capsys, "convert", "-p", TENANT, "-f", STRUCTURED, "--to", "v1alpha1").out


def test_what_a_version_cannot_say_is_carried(capsys: pytest.CaptureFixture[str]) -> None:
    found = explained(capsys, STRUCTURED)
    tier, storage = found["/spec/tier"], found["/spec/quota/storage"]
    assert (tier["readAt"], tier["what"], tier["value"]) == ("v1alpha1", "carried", "dedicated")
    assert tier["why"] == "coming back from v1alpha1 it would be 'premium'"
    assert storage["why"] == "v1alpha1 has no place for it"
    assert found["/spec/quota/scopes[]"]["why"] == "v1alpha1 does not keep the order"
    assert tier["by"] == "from_v1 (conversion.py:25), to_v1 (conversion.py:13)"


def test_what_was_carried_is_restored(capsys: pytest.CaptureFixture[str]) -> None:
    found = explained(capsys, "-", stdin=old(capsys))
    assert {leaf["what"] for leaf in found.values()} == {"restored"}
    assert found["/spec/tier"]["why"] == "nothing was edited since it was carried"


def test_what_an_edit_made_void_is_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    """The tier and an owner were edited; the storage was not."""
    text = old(capsys).replace("class: premium", "class: standard").replace("- zoe", "- bob")
    found = explained(capsys, "-", stdin=text)
    assert (found["/spec/tier"]["what"], found["/spec/tier"]["why"]) == ("dropped", "an edit changed it")
    assert found["/spec/owners[name=zoe]/email"]["why"] == "its item is gone"
    assert found["/spec/quota/storage"]["what"] == "restored"
    assert found["/spec/quota/storage"]["why"] == "no edit touched it"


def test_a_forged_entry_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    key = "carried.platform.acme.io/v1.0123456789abcdef"
    text = (
        f"apiVersion: platform.acme.io/v1alpha1\nkind: Tenant\nmetadata: {{name: x, annotations: {{{key}: nothing}}}}\n"
    )
    (leaf,) = explained(capsys, "-", stdin=text).values()
    assert (leaf["path"], leaf["what"], leaf["why"]) == (key, "dropped", "not an entry that fits: not JSON")


def test_an_object_that_both_versions_say(capsys: pytest.CaptureFixture[str]) -> None:
    text = "apiVersion: platform.acme.io/v1alpha1\nkind: Tenant\nmetadata: {name: x}\nspec: {title: T}\n"
    (leaf,) = explained(capsys, "-", stdin=text).values()
    assert (leaf["what"], leaf["why"]) == ("nothing", "v1 says all that v1alpha1 says")


def test_an_object_that_cannot_be_converted_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    ended = instar(capsys, "explain", "-p", TENANT, TENANT / "golden" / "refused-empty.yaml")
    assert ended.code == 1
    assert "fails" in ended.out
    assert "cpu is empty (to_v1, conversion.py:50)" in ended.out


def test_a_table_for_each_object(capsys: pytest.CaptureFixture[str]) -> None:
    ended = instar(capsys, "explain", "-p", TENANT, TENANT / "objects")
    blocks = ended.out.split("\n\n")
    assert [block.splitlines()[0] for block in blocks][:2] == [
        "Tenant default/acme at v1alpha1",
        "Tenant default/odd-spelling at v1alpha1",
    ]
    assert blocks[1].splitlines()[1].split()[:4] == ["READ", "AT", "LEAF", "OF"]
    names = instar(capsys, "explain", "-p", TENANT, TENANT / "objects", "-o", "name").out.splitlines()
    assert len(names) == len(blocks) == 6


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("pods/x",), "pods/x: no such file, and no TYPE/NAME of a conversion here (types: tenant)"),
        (("tenant",), "tenant: no such file, and no TYPE/NAME of a conversion here (types: tenant)"),
        (("x.yaml",), "x.yaml: no such file or folder"),
    ],
)
def test_wrong_use(words: tuple, error: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.write_text(
        "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}]\ncurrent-context: c\n"
        "contexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\n"
    )
    ended = instar(capsys, "explain", "-p", TENANT, "--kubeconfig", config, *words)
    assert (ended.code, ended.out, ended.err) == (2, "", f"error: {error}\n")
