"""What a person names on the command line is found, or the file, the line and the remedy are said."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from instar import errors, loading
from instar.cli import load

EXAMPLES = Path(__file__).parents[3] / "examples"
CRD = EXAMPLES / "tenant" / "crd.yaml"
GOOD = (EXAMPLES / "tenant" / "conversion.py").read_text()


@pytest.fixture(autouse=True)
def clean_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a loaded file adds to the path ends with the test."""
    monkeypatch.setattr(sys, "path", list(sys.path))


def write(folder: Path, text: str) -> Path:
    path = folder / "conversion.py"
    path.write_text(text)
    return path


def test_a_file_a_name_in_it_and_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, GOOD.replace("conversion = Conversion(", "tenants = conversion = Conversion("))
    shutil.copy(path, tmp_path / "named_by_module.py")
    monkeypatch.syspath_prepend(tmp_path)
    for spec in (str(path), f"{path}:tenants", "named_by_module:tenants", "named_by_module:conversion"):
        assert loading.conversion(spec).kind == "Tenant"


def test_two_files_of_one_name_are_two_files(tmp_path: Path) -> None:
    """Every operator has a conversion.py; the second is not the first one again."""
    kinds = [loading.conversion(str(EXAMPLES / name / "conversion.py")).kind for name in ("tenant", "widget")]
    assert kinds == ["Tenant", "Widget"]


def test_a_file_may_import_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "neighbour_of_conversion.py").write_text(GOOD)
    path = write(tmp_path, "from neighbour_of_conversion import conversion\n")
    assert loading.conversion(str(path)).kind == "Tenant"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1", "there is no conversion in it; define conversion = Conversion(...)"),
        ("conversion = 1", "conversion is a int, not a Conversion; define"),
        (GOOD.replace("\nconversion =", "\ntenants ="), "there is no conversion in it; name one of "),
        ("\n\ndef f(:\n", "conversion.py:3: cannot be imported: SyntaxError: "),
        ("\nimport not_there_at_all\n", "conversion.py:2: cannot be imported: ModuleNotFoundError: No module named"),
        ("\n1 / 0\n", "conversion.py:2: cannot be imported: ZeroDivisionError: division by zero"),
        ("\nraise SystemExit('bye')\n", "conversion.py:2: cannot be imported: SystemExit: bye"),
        (GOOD.replace('hub="v1"', 'hub="v1alpha1"'), "v1alpha1 is the hub; the hub is no spoke"),
        (GOOD.replace("to_hub=to_v1", "to_hub=None"), "the direction of v1alpha1 is missing"),
    ],
)
def test_what_is_wrong_with_a_conversion_file_is_said(tmp_path: Path, text: str, words: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(errors.UsageError) as caught:
        loading.conversion(str(path))
    assert words in caught.value.message
    assert str(path) in caught.value.message


def test_a_bad_definition_names_its_line(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD.replace('hub="v1"', 'hub="v1alpha1"'))
    line = next(at for at, text in enumerate(GOOD.splitlines(), 1) if text.startswith("conversion ="))
    with pytest.raises(errors.DefinitionError, match=rf"conversion\.py:{line}: ") as caught:
        loading.conversion(str(path))
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("/nowhere/conversion.py", "/nowhere/conversion.py: no such file"),
        ("nowhere_at_all:conversion", "no module 'nowhere_at_all'; a file is named path.py"),
        ("json:conversion", "json: there is no conversion in it"),
        ("conversion.py:", "expected path.yaml, path.py, path.py:name or module:name"),
        ("conversion.py:not a name", "expected path.yaml, path.py, path.py:name or module:name"),
        ("", "expected path.yaml, path.py, path.py:name or module:name"),
    ],
)
def test_a_bad_name_is_said(spec: str, words: str) -> None:
    with pytest.raises(errors.UsageError) as caught:
        loading.conversion(spec)
    assert words in caught.value.message


def test_crds_among_other_documents(tmp_path: Path) -> None:
    """A bundle holds more than CRDs, and kubectl writes lists."""
    path = tmp_path / "bundle.yaml"
    path.write_text(f"kind: Namespace\napiVersion: v1\n---\n{CRD.read_text()}\n---\n---\n[]\n")
    assert [crd.name for crd in load.crds(str(path))] == ["tenants.platform.acme.io"]
    indented = CRD.read_text().replace("\n", "\n    ")
    path.write_text(f"kind: List\napiVersion: v1\nitems:\n  - {indented}\n")
    assert [crd.kind for crd in load.crds(str(path))] == ["Tenant"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: [1\n", "crd.yaml:3: no YAML: "),
        ("a: 1\n\tb: 2\n", "crd.yaml:2: no YAML: "),
        ("kind: Namespace\n", "crd.yaml: no CustomResourceDefinition in it"),
        ("", "crd.yaml: no CustomResourceDefinition in it"),
        (
            CRD.read_text().replace("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"),
            "crd.yaml: tenants.platform",
        ),
        (CRD.read_text().replace("  scope: Namespaced\n", ""), "missing or wrong field: 'scope'"),
        (CRD.read_text().replace("storage: true", "storage: false"), "exactly one version must have storage: true"),
    ],
)
def test_what_is_wrong_with_a_manifest_is_said(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "crd.yaml"
    path.write_text(text)
    with pytest.raises(errors.UsageError) as caught:
        load.crds(str(path))
    assert words in caught.value.message


def test_a_missing_manifest_is_said() -> None:
    with pytest.raises(errors.UsageError, match=r"/nowhere\.yaml: No such file or directory; --crd takes"):
        load.crds("/nowhere.yaml")


def test_conversions_and_crds_are_matched_by_kind() -> None:
    """One for each, no matter in which order; what is missing or there twice is named."""
    tenant, widget = (loading.conversion(str(EXAMPLES / name / "conversion.py")) for name in ("tenant", "widget"))
    crds = [crd for name in ("widget", "tenant") for crd in load.crds(str(EXAMPLES / name / "crd.yaml"))]
    assert sorted(load.bounds([tenant, widget], crds)) == [
        ("platform.acme.io", "Tenant"),
        ("platform.acme.io", "Widget"),
    ]
    with pytest.raises(errors.DefinitionError, match=r"Tenant\.platform\.acme\.io has no CRD: .*given: Widget"):
        load.bounds([tenant], crds[:1])
    with pytest.raises(errors.DefinitionError, match="has two conversions"):
        load.bounds([tenant, tenant], crds)
    with pytest.raises(errors.DefinitionError, match="has two CRDs"):
        load.bounds([tenant], [*crds, *load.crds(str(CRD))])


def test_every_kind_is_reached_by_its_plural_and_its_crds_name() -> None:
    assert load.aliases(load.crds(str(CRD))) == dict.fromkeys(
        ("tenants", "tenants.platform.acme.io"), ("platform.acme.io", "Tenant")
    )
