"""The digest is equal exactly when the same conversion with the same schemas is proved and served."""

from __future__ import annotations

import copy
import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.unit.cli.running import instar

from instar import conversion, loading
from instar.conversion import rules
from instar.model import crd as crd_model
from instar.serving import local

EXAMPLES = Path(__file__).parents[3] / "examples"
CRD: dict[str, Any] = yaml.safe_load((EXAMPLES / "widget/crd.yaml").read_text())
Change = Callable[[Path], object]


@pytest.fixture(autouse=True)
def clean_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a loaded file adds ends with the test."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))


def of_folder(folder: Path, spec: str = "conversion.py") -> str:
    """What a process of its own says of a folder, for modules are loaded once."""
    code = (
        "import sys, yaml; from instar import conversion, loading; from instar.model import crd;"
        "document = yaml.safe_load(open('crd.yaml'));"
        "print(loading.digest(conversion.bind(loading.conversion(sys.argv[1]), crd.parse(document))))"
    )
    words = [sys.executable, "-B", "-c", code, spec]
    ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    assert re.fullmatch(r"sha256:[0-9a-f]{64}\n", ended.stdout)
    return ended.stdout


def of(document: Any = CRD, **changes: Any) -> str:
    """Of a conversion of Widget in this process."""
    spoke = conversion.Spoke(version="v1alpha1", **{"to_hub": len, "from_hub": len, **changes.pop("spoke", {})})
    made = conversion.Conversion(group="platform.acme.io", kind="Widget", hub="v1", spokes=(spoke,), **changes)
    return loading.digest(conversion.bind(made, crd_model.parse(document)))


def copied(example: str, folder: Path) -> Path:
    shutil.copytree(EXAMPLES / example, folder)
    return folder


def replace(name: str, old: str, new: str) -> Change:
    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))

    return change


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("example", "file", "change"),
    [
        ("widget", "conversion.py", replace("conversion.py", '"large": 5', '"large": 6')),
        ("widget", "conversion.py", replace("conversion.py", "def to_v1", "\ndef to_v1")),
        ("widget", "conversion.py", replace("crd.yaml", "type: integer", "type: integer, maximum: 99")),
        ("machinequota", "conversion.yaml", replace("conversion.yaml", "hub: v1", "hub: v1\ndomain: acme.io")),
    ],
)
def test_a_changed_byte_gives_another_digest(example: str, file: str, change: Change, tmp_path: Path) -> None:
    """Of a converter, even an empty line; of a schema; of the domain."""
    folder = copied(example, tmp_path / "operator")
    before = of_folder(folder, file)
    change(folder)
    assert of_folder(folder, file) != before


@pytest.mark.parametrize(
    ("example", "file", "change"),
    [
        ("machinequota", "conversion.yaml", replace("conversion.yaml", "apiVersion", "# a word\n\napiVersion")),
        ("widget", "conversion.py", replace("instar.yaml", "conversion.py", "./conversion.py")),
        ("widget", "conversion.py", lambda folder: (folder / "unrelated.py").write_text("x = 1\n")),
    ],
)
def test_what_does_not_convert_gives_the_same(example: str, file: str, change: Change, tmp_path: Path) -> None:
    """A comment among rules, what judges, a file that nothing imports."""
    folder = copied(example, tmp_path / "operator")
    before = of_folder(folder, file)
    change(folder)
    assert of_folder(folder, file) == before


def test_it_is_the_same_in_another_folder_and_by_a_module_s_name(tmp_path: Path) -> None:
    """What CI proves in a checkout is what a container serves from its image."""
    one, other = copied("widget", tmp_path / "one"), copied("widget", tmp_path / "two" / "deep")
    assert len({of_folder(one), of_folder(other), of_folder(one, str(other / "conversion.py"))}) == 1
    assert of_folder(one, "conversion:conversion") == of_folder(one)


@pytest.mark.parametrize("helper", ["sizes.py", "acme/__init__.py", "acme/sizes.py", "acme/deep.py"])
def test_what_a_converter_imports_counts(helper: str, tmp_path: Path) -> None:
    """From its folder, from a package in it, relatively, and within a function, as deep as it goes."""
    folder = copied("widget", tmp_path / "operator")
    (folder / "acme").mkdir()
    (folder / "acme/__init__.py").write_text("from .sizes import SIZES\n")
    (folder / "acme/sizes.py").write_text("SIZES = {}\n\n\ndef late():\n    from . import deep\n    return deep\n")
    (folder / "acme/deep.py").write_text("FAR = 1\n")
    (folder / "sizes.py").write_text("import acme\n")
    replace("conversion.py", "from instar", "import sizes\nfrom instar")(folder)
    before = of_folder(folder)
    (folder / helper).write_text((folder / helper).read_text() + "# another byte\n")
    assert of_folder(folder) != before


def test_what_is_converted_is_what_the_file_says(tmp_path: Path) -> None:
    """Python takes bytecode for the file's where second and size are the same, as in an image of fixed times."""
    folder = copied("widget", tmp_path / "operator")
    code = "import sys; from instar import loading; print(loading.conversion('conversion.py').spokes[0].to_hub({}))"
    words = [sys.executable, "-c", code]
    writing = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for word in ("one", "two"):
        (folder / "conversion.py").write_text(
            "from instar.conversion import Conversion, Spoke\n"
            f"def to_v1(o): return {word!r}\n"
            "spoke = Spoke(version='v1alpha1', to_hub=to_v1, from_hub=to_v1)\n"
            "conversion = Conversion(group='platform.acme.io', kind='Widget', hub='v1', spokes=(spoke,))\n"
        )
        os.utime(folder / "conversion.py", (1_700_000_000, 1_700_000_000))
        ended = subprocess.run(words, cwd=folder, env=writing, capture_output=True, text=True, check=True)
        assert ended.stdout.strip() == word


def test_functions_of_rules_count(tmp_path: Path) -> None:
    """A rule of kind python is its file."""
    folder = copied("machinequota", tmp_path / "operator")
    pair = "{spoke: /spec/maxTotalCpu, hub: /spec/maxCpu, toHub: pair.py:same, fromHub: pair.py:same}"
    replace("conversion.yaml", "move: {spoke: /spec/maxTotalCpu, hub: /spec/maxCpu}", f"python: {pair}")(folder)
    (folder / "pair.py").write_text("def same(value):\n    return value\n")
    before = of_folder(folder, "conversion.yaml")
    (folder / "pair.py").write_text("def same(value):\n    return value  \n")
    assert of_folder(folder, "conversion.yaml") != before


# --- values -----------------------------------------------------------------------------------------------------------


def test_rules_are_their_values() -> None:
    """In YAML or in Python, on whatever line."""
    bound = conversion.bind(
        loading.conversion(EXAMPLES / "machinequota/conversion.yaml"),
        crd_model.parse(yaml.safe_load((EXAMPLES / "machinequota/crd.yaml").read_text())),
    )
    spoke = bound.conversion.spokes[0]
    again = tuple(type(rule)(**{name: getattr(rule, name) for name in ("spoke", "hub")}) for rule in spoke.rules or ())
    assert all(isinstance(rule, rules.Move) for rule in again)

    def digest(*found: rules.Rule) -> str:
        spokes = (conversion.Spoke(version=spoke.version, rules=found),)
        whole = conversion.Conversion(group=bound.conversion.group, kind="MachineQuota", hub="v1", spokes=spokes)
        return loading.digest(conversion.bind(whole, bound.crd))

    assert digest(*again) == loading.digest(bound)
    assert digest(*again[::-1]) != loading.digest(bound)


def scaled(factor: Any) -> Callable[[Any], Any]:
    return lambda widget: widget * factor


def written(text: str) -> Any:
    """A function that stands in no file."""
    space: dict[str, Any] = {}
    exec(f"def made(widget):\n    return {text}\n", space)
    return space["made"]


class Scaling:
    __slots__ = ("factor",)

    def __init__(self, factor: Any) -> None:
        self.factor = factor

    def __call__(self, widget: Any) -> Any:
        return widget * self.factor

    def method(self, widget: Any) -> Any:
        return self(widget)


@pytest.mark.parametrize(
    "make",
    [
        scaled,
        lambda value: lambda widget, factor=value: widget * factor,
        lambda value: functools.partial(scaled, value),
        Scaling,
        lambda value: Scaling(value).method,
        lambda value: scaled({"a": [value, {1, 2, value}, re.compile(str(value))]}),
        lambda value: written(str(value)),
    ],
    ids=["closure", "default", "partial", "object", "method", "within", "no file"],
)
def test_what_a_function_is_bound_to_counts(make: Callable[[Any], Any]) -> None:
    """One source and two values are two converters; the same value is the same one."""
    one, other, again = (of(spoke={"to_hub": make(value)}) for value in (3, 4, 3))
    assert one == again
    assert one != other


def test_a_function_that_knows_itself_has_an_end() -> None:
    def there(widget: Any) -> Any:
        return there(widget)

    assert of(spoke={"to_hub": there}) == of(spoke={"to_hub": there})


def test_directions_and_categories_count() -> None:
    def one(widget: Any) -> Any:
        return widget

    def other(widget: Any) -> Any:
        return widget

    normalised = conversion.Normalised(version="v1alpha1", path="/spec/size", by=str)
    group = conversion.Group(version="v1", paths=("/spec/tier", "/spec/resources"))
    found = [
        of(spoke={"to_hub": one, "from_hub": other}),
        of(spoke={"to_hub": other, "from_hub": one}),
        of(spoke={"to_hub": one, "from_hub": other}, domain="acme.io"),
        of(spoke={"to_hub": one, "from_hub": other}, normalised=(normalised,)),
        of(spoke={"to_hub": one, "from_hub": other}, groups=(group,)),
    ]
    assert len(set(found)) == len(found)


def test_of_a_crd_its_versions_and_schemas_count() -> None:
    """The storage version and the order of keys do not: a flip in the middle of a migration changes no conversion."""
    flipped, described = copy.deepcopy(CRD), copy.deepcopy(CRD)
    for version in flipped["spec"]["versions"]:
        version["storage"] = not version["storage"]
    described["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["nullable"] = True
    assert of(json.loads(json.dumps(CRD, sort_keys=True))) == of(flipped) == of()
    assert of(described) != of()


# --- prove and serve --------------------------------------------------------------------------------------------------


async def test_what_is_proved_is_what_is_served(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`prove` prints the digest in every form; `serve` logs it at its start and shows it in /metrics."""
    folder = copied("widget", tmp_path / "operator")
    prove = ("prove", "-p", folder, "--examples", "0")
    (item,) = json.loads(instar(capsys, *prove, "-o", "json").out)["items"]
    digest = item["digest"]
    assert digest == of_folder(folder).strip()
    assert f"\ndigest: {digest}\n" in instar(capsys, *prove).out
    assert f'<property name="digest" value="{digest}" />' in instar(capsys, *prove, "-o", "junit").out
    assert digest in instar(capsys, *prove, "-o", "github").out.splitlines()[-1]
    async with local.start(str(folder / "conversion.py"), str(folder / "crd.yaml")) as webhook:
        labels = f'digest="{digest}",group="platform.acme.io",kind="Widget"'
        assert f"instar_webhook_conversion_info{{{labels}}} 1.0" in await webhook.metrics()
        assert any('"conversion"' in line and digest in line for line in webhook.log)
