"""What is there is documented, and what is documented is there."""

import pathlib
import re

import click
import pytest
import yaml

from instar import conversion, errors
from instar.cli import main
from instar.model import crd

ROOT = pathlib.Path(__file__).parent.parent
DOCS = ROOT / "docs"


def commands() -> list[tuple[str, click.Command]]:
    context = click.Context(main.program)
    found = []
    for name in main.COMMANDS:
        command = main.program.get_command(context, name)
        assert command is not None
        found.append((name, command))
        if isinstance(command, click.Group):
            found += [(f"{name} {child}", entry) for child, entry in command.commands.items()]
    return found


@pytest.mark.parametrize(("name", "command"), commands(), ids=[name for name, _ in commands()])
def test_every_option_of_a_command_is_on_its_page(name: str, command: click.Command) -> None:
    """docs/<command>.md names every long option that the command takes."""
    page = (DOCS / f"{name.split()[0]}.md").read_text()
    options = [flag for option in command.params for flag in option.opts if flag.startswith("--")]
    assert [flag for flag in options if f"`{flag}" not in page and f" {flag}" not in page] == []


@pytest.mark.parametrize(("name", "command"), commands(), ids=[name for name, _ in commands()])
def test_help_has_an_example(name: str, command: click.Command) -> None:
    """`--help` of every command has an example that works when pasted."""
    assert command.help
    assert re.search(rf"^\s*(Example|Examples):.*instar {name}|instar {name}", command.help, re.MULTILINE)


def test_every_command_is_in_the_readme() -> None:
    """The README's table names every command."""
    readme = (ROOT / "README.md").read_text()
    assert [name for name in main.COMMANDS if f"`instar {name}" not in readme] == []


def test_no_page_is_left_over() -> None:
    """Every page of docs/ is linked from the README or from another page."""
    texts = "".join(path.read_text() for path in [ROOT / "README.md", *DOCS.glob("*.md")])
    assert [page.name for page in DOCS.glob("*.md") if f"{page.name})" not in texts] == []


def test_links_in_documents_lead_somewhere() -> None:
    """A relative link in any of our pages names a file that exists."""
    pages = [*ROOT.glob("*.md"), *DOCS.glob("*.md")]
    links = [(page, target) for page in pages for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())]
    broken = [f"{page.name}: {target}" for page, target in links if not (page.parent / target).exists()]
    assert broken == []


def test_every_error_is_in_the_tree() -> None:
    """errors.py's docstring shows every class, and every class has a reason of its own to be told apart by."""
    classes = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    assert [entry.__name__ for entry in classes if entry.__name__ not in (errors.__doc__ or "")] == []
    assert sorted(errors.__all__) == sorted([*(entry.__name__ for entry in classes), "Cause", "raised"])


def test_dependencies_have_their_reasons() -> None:
    """Every runtime dependency stands in ARCHITECTURE.md."""
    text = (ROOT / "pyproject.toml").read_text()
    block = text.split("dependencies = [", 1)[1].split("[project.scripts]", 1)[0]
    names = re.findall(r'"([a-z-]+)>=', block)
    architecture = (ROOT / "ARCHITECTURE.md").read_text()
    assert [name for name in names if name not in architecture] == []


def test_the_readme_s_converter_does_what_the_readme_says() -> None:
    """Three replicas read as small, are still three after a label from v1alpha1, and large from there is five."""
    namespace: dict[str, object] = {}
    source = (ROOT / "README.md").read_text().split("```python\n", 1)[1].split("```", 1)[0]
    exec(compile(source, "README.md", "exec"), namespace)
    widget_crd = crd.parse(yaml.safe_load((ROOT / "examples/widget/crd.yaml").read_text()))
    bound = conversion.bind(namespace["conversion"], widget_crd)
    widget = {
        "apiVersion": "platform.acme.io/v1",
        "kind": "Widget",
        "metadata": {"name": "demo", "namespace": "default", "uid": "1"},
        "spec": {"resources": {"replicas": 3}, "tier": "bronze"},
    }
    old = bound.convert(widget, "v1alpha1")
    assert old["spec"]["size"] == "small"
    old["metadata"]["labels"] = {"seen": "yes"}
    assert bound.convert(old, "v1")["spec"]["resources"] == {"replicas": 3}
    old["spec"]["size"] = "large"
    assert bound.convert(old, "v1")["spec"]["resources"] == {"replicas": 5}
