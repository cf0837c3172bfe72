"""The laws as a user of pytest writes them: docs/prove.md's own lines, in a folder of an operator's own."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from instar import errors, testing

ROOT = Path(__file__).parents[3]
(SNIPPET,) = re.findall(r"## In pytest\n+```python\n(.*?)```", (ROOT / "docs/prove.md").read_text(), re.DOTALL)


def run(folder: Path) -> tuple[int, str]:
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", folder, folder]
    ended = subprocess.run(words, cwd=folder.parent, capture_output=True, text=True, timeout=300, check=False)
    return ended.returncode, ended.stdout


@pytest.mark.parametrize(("example", "file"), [("machinequota", "conversion.yaml"), ("widget", "conversion.py")])
def test_a_file_of_rules_or_of_python_is_named_by_its_path(example: str, file: str, tmp_path: Path) -> None:
    """Each law is one test, from whatever folder pytest is started."""
    folder = tmp_path / "operator"
    shutil.copytree(ROOT / "examples" / example, folder)
    (folder / "test_conversion.py").write_text(SNIPPET.replace("conversion.yaml", file))
    code, out = run(folder)
    assert (code, "15 passed" in out) == (0, True), out


def test_a_lost_rule_fails_with_the_object(tmp_path: Path) -> None:
    """Intent and the snapshot fail, with what `instar prove` would print, and the others hold: all is carried."""
    folder = tmp_path / "operator"
    shutil.copytree(ROOT / "examples/machinequota", folder)
    (folder / "test_conversion.py").write_text(SNIPPET)
    conversion = yaml.safe_load((folder / "conversion.yaml").read_text())
    lost = conversion["spokes"][0]["rules"].pop(0)["move"]
    conversion["spokes"][0]["rules"] += [{"only": {"spoke": lost["spoke"]}}, {"only": {"hub": lost["hub"]}}]
    (folder / "conversion.yaml").write_text(yaml.safe_dump(conversion))
    code, out = run(folder)
    assert (code, "2 failed, 13 passed" in out) == (1, True), out
    assert "test_conversion.py::test_conversion[L14_intent]" in out
    assert "kind: MachineQuota" in out


def test_a_name_that_leads_nowhere_is_said() -> None:
    with pytest.raises(errors.UsageError, match=r"nowhere\.yaml: No such file or directory; a conversion is"):
        testing.laws("nowhere.yaml", ROOT / "examples/machinequota/crd.yaml")
