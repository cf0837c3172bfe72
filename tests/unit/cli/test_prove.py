"""`instar prove` as a person and a CI server see it."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from tests.unit.cli.running import instar

EXAMPLES = Path(__file__).parents[3] / "examples"
FEW = ("--examples", "40")


@pytest.fixture
def widget(tmp_path: Path) -> Path:
    """Widget's project, to be broken."""
    shutil.copytree(EXAMPLES / "widget", tmp_path / "widget")
    return tmp_path / "widget"


def damage(folder: Path, old: str, new: str) -> None:
    file = folder / "conversion.py"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


def test_a_table_of_laws_and_nothing_else_where_all_hold(widget: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended = instar(capsys, "prove", "-p", widget, *FEW)
    assert ended.code == 0
    assert ended.out.splitlines()[0] == "Widget.platform.acme.io: v1 (hub), v1alpha1; seed 0"
    laws = [line.split()[0] for line in ended.out.splitlines() if line[:1] == "L" and line[1:2].isdigit()]
    assert laws == [f"L{number}" for number in range(1, 16)]
    assert "FAILS" not in ended.out
    assert ended.err.startswith("Widget: ")


def test_a_finding_shows_the_law_the_place_the_function_and_both_sides(
    widget: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """large is five: an author who writes six sees the golden pair that says five."""
    damage(widget, '"large": 5', '"large": 6')
    ended = instar(capsys, "prove", "-p", widget, *FEW)
    assert ended.code == 1
    assert "L14 intent: /spec/resources/replicas: converts to 6; wanted is 5" in ended.out
    assert "v1alpha1 -> v1, by to_v1 (conversion.py:8), from_v1 (conversion.py:19)" in ended.out
    assert "--- # wanted at v1" in ended.out
    assert "uid" not in ended.out


def test_a_converter_that_only_changes_the_version(widget: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All is carried, so all that was said on writing it is what intent says."""
    (widget / "conversion.py").write_text(
        "from instar.conversion import Conversion, Spoke\n"
        "conversion = Conversion(group='platform.acme.io', kind='Widget', hub='v1',\n"
        "    spokes=(Spoke(version='v1alpha1', to_hub=lambda o: o, from_hub=lambda o: o),))\n"
    )
    ended = instar(capsys, "prove", "-p", widget, *FEW)
    failed = [line.split()[0] for line in ended.out.splitlines() if "FAILS" in line]
    assert (ended.code, failed) == (1, ["L14", "L15"])


def test_update_writes_the_snapshot_and_then_it_holds(widget: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a review sees is the difference of one file."""
    before = (widget / "carried.yaml").read_text()
    (widget / "carried.yaml").unlink()
    assert "there is no snapshot" in instar(capsys, "prove", "-p", widget, *FEW).out
    ended = instar(capsys, "prove", "-p", widget, *FEW, "--update")
    assert ended.code == 0
    assert "3 carried places, 3 of them new, 0 gone; review it" in ended.err
    assert (widget / "carried.yaml").read_text() == before


def test_the_same_seed_prints_the_same(widget: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage(widget, 'spec["resources"] = {', 'spec["resourcesx"] = {')
    first, other = (instar(capsys, "prove", "-p", widget, *FEW, "--seed", "7").out for _ in range(2))
    assert "seed 7" in first
    assert first == other


def test_a_converter_that_goes_by_the_order_of_a_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each replica has a hash seed of its own, and each no-op write through another one would be a real one."""
    shutil.copytree(EXAMPLES / "tenant", tmp_path / "tenant")
    old = '[owner["name"] for owner in owners if "name" in owner]'
    damage(tmp_path / "tenant", old, old.replace("[owner[", "list({owner[").replace("in owner]", "in owner})"))
    ended = instar(capsys, "prove", "-p", tmp_path / "tenant", *FEW)
    assert ended.code == 1
    assert "L5 determinism: /spec/owners[]: the same object converts to another one in another process" in ended.out
    assert "PYTHONHASHSEED=2" in ended.out


def test_json(widget: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage(widget, '"large": 5', '"large": 6')
    ended = instar(capsys, "prove", "-p", widget, *FEW, "-o", "json")
    document = json.loads(ended.out)
    assert (document["apiVersion"], document["kind"]) == ("instar.dev/v1alpha1", "ProofList")
    (item,) = document["items"]
    assert (item["for"], item["holds"], item["seed"]) == ("Widget", False, 0)
    assert [law["name"] for law in item["laws"] if law["findings"]] == ["L14"]
    first = item["laws"][13]["findings"][0]
    assert (first["path"], first["from"], first["to"]) == ("/spec/size", "v1", "v1alpha1")
    assert first["objects"][0]["object"]["spec"] == {"resources": {"replicas": 5}}


def test_junit(widget: Path, capsys: pytest.CaptureFixture[str]) -> None:
    damage(widget, '"large": 5', '"large": 6')
    suites = ElementTree.fromstring(instar(capsys, "prove", "-p", widget, *FEW, "-o", "junit").out)
    (suite,) = suites
    assert (suite.get("tests"), suite.get("failures")) == ("15", "1")
    (failed,) = suite.findall("testcase[failure]")
    assert failed.get("name") == "L14 intent"
    assert "size: large" in (failed[0].text or "")


def test_github_annotations(widget: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """One line each, at a file and a line of the repository."""
    monkeypatch.chdir(widget)
    damage(widget, "return widget\n\n\ndef from_v1", "raise KeyError('x')\n\n\ndef from_v1")
    ended = instar(capsys, "prove", *FEW, "-o", "github")
    lines = ended.out.splitlines()
    assert ended.code == 1
    assert all(line.startswith(("::error ", "::notice ")) for line in lines)
    assert any(line.startswith("::error file=conversion.py,line=8,title=L4 totality%3A Widget::L4 ") for line in lines)


def test_mutants(widget: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All caught; with fewer pairs one lives, and the command says which and fails."""
    ended = instar(capsys, "prove", "-p", widget, *FEW, "--mutants")
    assert ended.code == 0
    assert "Widget.platform.acme.io: 55 of 55 mutants caught" in ended.out
    (widget / "golden" / "large.yaml").unlink()
    ended = instar(capsys, "prove", "-p", widget, *FEW, "--mutants", "-o", "json")
    (score,) = json.loads(ended.out)["mutants"]
    assert ended.code == 1
    lived = [fate["mutant"] for fate in score["fates"] if fate["outcome"] == "survived"]
    assert lived == ["REPLICAS: REPLICAS = {'small': 1, 'large': 5} -> REPLICAS = {'small': 1, 'large': 6}"]
    text = instar(capsys, "prove", "-p", widget, *FEW, "--mutants").out
    assert "survived: no golden pair and no law tells it from the conversion: write a golden pair that does" in text


def test_mutants_of_a_converter_that_fails(widget: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its own finding catches every mutant, so the count says nothing: the command says so."""
    damage(widget, '"large": 5', '"large": 6')
    ended = instar(capsys, "prove", "-p", widget, *FEW, "--mutants")
    assert ended.code == 1
    assert "note: a law fails without any mutant, and what it finds counts as caught: mend that first" in ended.out


def test_without_a_project_file(capsys: pytest.CaptureFixture[str]) -> None:
    """Intent and the snapshot cannot hold then, and say what is missing."""
    tenant = EXAMPLES / "tenant"
    words = ("--conversion", tenant / "conversion.py", "--crd", tenant / "crd.yaml", "--corpus", tenant / "objects")
    ended = instar(capsys, "prove", *words, "--examples", "5")
    assert ended.code == 1
    assert "there are no golden pairs" in ended.out
    assert "6 corpus" in ended.out


def test_one_schema_needs_no_conversion(capsys: pytest.CaptureFixture[str]) -> None:
    """A CRD with the strategy None is proved by its schemas alone, by its project file or its manifest."""
    folder = EXAMPLES / "mcpserver"
    for words in (("-p", folder), ("--crd", folder / "crd.yaml")):
        ended = instar(capsys, "prove", *words, "--mutants")
        assert (ended.code, ended.err) == (0, "")
        assert ended.out.splitlines()[0] == "MCPServer.platform.acme.io: v1 (hub), v1beta1"
        assert "schemas   identical   1        holds" in ended.out


@pytest.mark.parametrize("form", ["text", "json", "junit", "github"])
def test_a_default_that_differs_without_a_conversion(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Named by its path in the schema, with what stands there at both versions, in every form."""
    shutil.copytree(EXAMPLES / "mcpserver", tmp_path / "mcp")
    crd = yaml.safe_load((tmp_path / "mcp/crd.yaml").read_text())
    beta = crd["spec"]["versions"][0] = copy.deepcopy(crd["spec"]["versions"][0])
    beta["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["port"]["default"] = 80
    (tmp_path / "mcp/crd.yaml").write_text(yaml.safe_dump(crd))
    ended = instar(capsys, "prove", "-p", tmp_path / "mcp", "-o", form)
    assert ended.code == 1
    assert "properties.spec.properties.port.default" in ended.out
    assert "8080 at v1, 80 at v1beta1" in ended.out


def test_a_crd_without_a_conversion_beside_one_with(widget: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is judged for itself: the other's fault is no error of the first, in other processes too."""
    shutil.copy(EXAMPLES / "tenant/crd.yaml", widget / "tenants.yaml")
    with (widget / "instar.yaml").open("a") as file:
        file.write("- crd: tenants.yaml\n")
    ended = instar(capsys, "prove", "-p", widget, *FEW, "-o", "json")
    proved = {item["for"]: item["holds"] for item in json.loads(ended.out)["items"]}
    assert (ended.code, proved) == (1, {"Widget": True, "Tenant": False})


def test_without_a_conversion_where_one_is_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crd = yaml.safe_load((EXAMPLES / "tenant/crd.yaml").read_text())
    assert "24 findings" in instar(capsys, "prove", "--crd", EXAMPLES / "tenant/crd.yaml").out
    crd["spec"]["conversion"] = {"strategy": "Webhook"}
    (tmp_path / "crd.yaml").write_text(yaml.safe_dump(crd))
    ended = instar(capsys, "prove", "--crd", tmp_path / "crd.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert "tenants.platform.acme.io has the strategy Webhook: name its conversion" in ended.err


def test_wrong_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended = instar(capsys, "prove", "-p", tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("error: ")
