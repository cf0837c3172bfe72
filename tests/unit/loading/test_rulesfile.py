"""A conversion in YAML is the one that Python would make, and what is wrong in it is said with its line."""

from __future__ import annotations

from pathlib import Path

import pytest

import instar.conversion as conversion
from instar import errors, loading
from instar.cli import load
from instar.conversion import rules

EXAMPLE = Path(__file__).parents[3] / "examples" / "machinequota"
HEAD = """\
apiVersion: instar.dev/v1alpha1
kind: Conversion
group: acme.io
for: Thing
hub: v1
"""

WHOLE = (
    HEAD
    + """\
domain: things.acme.io
spokes:
- version: v1alpha1
  rules:
  - move: {spoke: /spec/a, hub: /spec/b}
  - map:
      spoke: /spec/class
      hub: /spec/tier
      values: {small: 1, large: 5}
      otherwise: {spoke: large}
  - map: {spoke: /spec/x, hub: /spec/y, values: [{spoke: true, hub: "yes"}, {spoke: false, hub: "no"}]}
  - only: {hub: /spec/mode, default: auto}
  - each:
      spoke: /spec/cs[]
      hub: /spec/pods[]
      rules:
      - move: {spoke: "", hub: /name}
  - template:
      spoke: /spec/quota
      hub: {cpu: /spec/cpu, mem: /spec/mem}
      text: cpu={cpu},mem={mem}
      separator: ","
  - duration: {spoke: /spec/s, hub: /spec/t, forms: {spoke: seconds, hub: go}}
  - scale: {spoke: /spec/ms, hub: /spec/sec, factor: 1/1000}
  - cel: {spoke: /spec/m, hub: /spec/n, toHub: self + 1, fromHub: self - 1}
  - python: {spoke: /spec/p, hub: /spec/q, toHub: functions.py:up, fromHub: functions.py:down}
- version: v1beta1
  rules: []
groups:
- {version: v1, paths: [/spec/b, /spec/tier]}
normalised:
- {version: v1alpha1, path: /spec/quota, by: functions.py:up}
sensitive:
- {version: v1, path: /spec/secret, loss: it is made anew}
droppable:
- {version: v1, path: /spec/mode, reason: a hint, expires: 2030-01-01}
"""
)


def write(folder: Path, text: str) -> str:
    (folder / "functions.py").write_text("def up(value):\n    return value\n\n\ndef down(value):\n    return value\n")
    (folder / "conversion.yaml").write_text(text)
    return str(folder / "conversion.yaml")


def test_a_file_is_the_python_value(tmp_path: Path) -> None:
    """One model: the file says nothing that Python could not, in the same words."""
    found = loading.conversion(write(tmp_path, WHOLE.replace("2030-01-01", '"2030-01-01"')))
    first, second = found.spokes
    assert (found.group, found.kind, found.hub, found.domain) == ("acme.io", "Thing", "v1", "things.acme.io")
    assert (first.version, second.version, second.rules) == ("v1alpha1", "v1beta1", ())
    assert first.rules is not None
    assert first.rules[:8] == (
        rules.Move(spoke="/spec/a", hub="/spec/b"),
        rules.Map(
            spoke="/spec/class",
            hub="/spec/tier",
            values={"small": 1, "large": 5},
            otherwise=rules.Pair(spoke="large"),
        ),
        rules.Map(spoke="/spec/x", hub="/spec/y", values={True: "yes", False: "no"}),
        rules.Only(hub="/spec/mode", default="auto"),
        rules.Each(spoke="/spec/cs[]", hub="/spec/pods[]", rules=(rules.Move(spoke="", hub="/name"),)),
        rules.Template(
            spoke="/spec/quota",
            hub={"cpu": "/spec/cpu", "mem": "/spec/mem"},
            text="cpu={cpu},mem={mem}",
            separator=",",
        ),
        rules.Duration(spoke="/spec/s", hub="/spec/t", forms=rules.Pair(spoke="seconds", hub="go")),
        rules.Scale(spoke="/spec/ms", hub="/spec/sec", factor="1/1000"),
    )
    assert first.rules[8] == rules.Cel(spoke="/spec/m", hub="/spec/n", to_hub="self + 1", from_hub="self - 1")
    python = first.rules[9]
    assert isinstance(python, rules.Python)
    assert (python.to_hub(3), python.from_hub.__name__) == (3, "down")
    assert found.groups == (conversion.Group(version="v1", paths=("/spec/b", "/spec/tier")),)
    assert found.normalised[0].by is python.to_hub
    assert found.sensitive == (conversion.Sensitive(version="v1", path="/spec/secret", loss="it is made anew"),)
    assert found.droppable[0].expires == "2030-01-01"


def test_a_rule_knows_its_line(tmp_path: Path) -> None:
    """Nested ones too, so that a check can say where."""
    path = write(tmp_path, WHOLE.replace("2030-01-01", '"2030-01-01"'))
    first = loading.conversion(path).spokes[0].rules
    assert first is not None
    assert [rule.origin.removeprefix(path) for rule in first] == [
        f":{line}" for line in (10, 11, 16, 17, 18, 23, 28, 29, 30, 31)
    ]
    assert isinstance(first[4], rules.Each)
    assert first[4].rules[0].origin == f"{path}:22"


SPOKE = HEAD + "spokes:\n- version: v1alpha1\n  rules:\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ":1: must be a mapping of apiVersion, kind, group, for"),
        ("a: [", ":2: no YAML"),
        (
            SPOKE + "  - move: {spoke: /a[], hub: /b}\n",
            "expected ',' or '}'; within {...} a path with [] stands in quotes",
        ),
        (HEAD, ":1: spokes is missing"),
        (HEAD.replace("v1alpha1", "v9") + "spokes: []\n", ":1: apiVersion is 'instar.dev/v9', not instar.dev/v1alpha1"),
        (HEAD.replace("Conversion", "Project") + "spokes: []\n", ":2: kind is 'Project', not Conversion"),
        (HEAD + "hub: v2\nspokes: []\n", ":6: the key hub is there twice"),
        (HEAD + "spoke: []\n", ":6: there is no member 'spoke'; did you mean spokes?"),
        (HEAD + "spokes: 3\n", ":6: spokes must be a list, not 3"),
        (HEAD + "spokes: []\n", ": conversion of Thing.acme.io: spokes: is empty"),
        (HEAD + "spokes:\n- version: v1\n  rules: []\n", "spokes[0].version: v1 is the hub"),
        (HEAD + "spokes:\n- version: v2\n", ":7: spokes[0]: rules is missing"),
        (SPOKE + "  - mov: {spoke: /a, hub: /b}\n", ":9: there is no rule of kind 'mov'; did you mean move?"),
        (SPOKE + "  - move\n", ":9: a rule is a mapping with one key, its kind"),
        (SPOKE + "  - {move: {}, map: {}}\n", ":9: a rule is a mapping with one key, its kind"),
        (SPOKE + "  - move:\n      spoke: /a\n", ":9: spokes[0].rules[0].move: hub is missing"),
        (
            SPOKE + "  - move:\n      spoke: /a\n      hubb: /b\n",
            ":11: spokes[0].rules[0].move: there is no member 'hubb'; did you",
        ),
        (
            SPOKE + "  - move:\n      spoke: /a\n      hub: 3\n",
            ":11: spokes[0].rules[0].move.hub: Expected `str`, got `int`",
        ),
        (SPOKE + "  - move: {spoke: /a, hub: /b, origin: x}\n", "there is no member 'origin'"),
        (
            SPOKE + "  - python: {spoke: /a, hub: /b, toHub: x, fromHub: y}\n",
            ":9: spokes[0].rules[0].python: 'x' names no function",
        ),
        (
            SPOKE + "  - python: {spoke: /a, hub: /b, toHub: functions.py:no, fromHub: y}\n",
            "functions.py has no function no",
        ),
        (SPOKE + "  - python: {spoke: /a, hub: /b, toHub: none.py:no, fromHub: y}\n", "none.py: no such file"),
        (SPOKE + "  - python: {spoke: /a, hub: /b, toHub: 3, fromHub: y}\n", "3 names no function"),
        (
            SPOKE + "  - each:\n      spoke: /a[]\n      hub: /b[]\n      rules:\n      - moves: {}\n",
            ":13: there is no rule of kind 'moves'",
        ),
        (SPOKE + "  - map: {spoke: /a, hub: /b, values: {x: [1]}}\n", ":9: spokes[0].rules[0].map.values"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    """The file, the line, the member, what is wrong, and the name that may have been meant."""
    path = write(tmp_path, text)
    with pytest.raises(errors.UsageError) as caught:
        loading.conversion(path)
    assert words in caught.value.message
    assert caught.value.message.startswith(path)


def test_a_check_against_the_schemas_names_the_line(tmp_path: Path) -> None:
    """A wrong path is found at bind, and said with file, line and rule."""
    path = write(tmp_path, (EXAMPLE / "conversion.yaml").read_text().replace("/spec/maxCpu", "/spec/cpu"))
    found = loading.conversion(path)
    with pytest.raises(conversion.DefinitionError) as caught:
        load.bounds([found], load.crds(str(EXAMPLE / "crd.yaml")))
    assert f"{path}:11: spokes[0].rules[0] (move): hub: version v1 has no /spec/cpu" in caught.value.message


def test_a_file_that_is_not_there() -> None:
    """One line, no traceback."""
    with pytest.raises(errors.UsageError, match=r"nowhere.yaml: No such file or directory"):
        loading.conversion("nowhere.yaml")
