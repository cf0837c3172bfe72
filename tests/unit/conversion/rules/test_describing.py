"""Every kind of rule is documented, and the schema for editors is the one that the model gives."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from tests.unit.loading import test_rulesfile

from instar.conversion import rules
from instar.conversion.rules import decoding, describing

DOCS = Path(__file__).parents[4] / "docs"
PAGE = (DOCS / "rules.md").read_text()


def test_the_schema_in_docs_is_the_models() -> None:
    """Regenerate with: python -m instar.conversion.rules > docs/conversion.schema.json"""
    assert json.loads((DOCS / "conversion.schema.json").read_text()) == describing.schema()


@pytest.mark.parametrize("kind", rules.KINDS, ids=lambda kind: kind.kind)
def test_every_kind_is_documented_with_examples_that_are_read(kind: type[rules.Rule]) -> None:
    """A kind without a section, or an example with a member that is none, fails."""
    (section,) = re.findall(rf"(?ms)^### {kind.kind}\n(.*?)(?=^##|\Z)", PAGE)
    blocks = re.findall(r"(?s)```yaml\n(.*?)```", section)
    assert blocks
    source = decoding.Source(file="rules.md", line=lambda _: 1, function=lambda _: len)
    head = yaml.safe_load(test_rulesfile.HEAD)
    for block in blocks:
        found = yaml.safe_load(block)
        made = decoding.decode({**head, "spokes": [{"version": "v1alpha1", "rules": found}]}, source)
        assert made.spokes[0].rules is not None
        assert {rule.kind for rule in made.spokes[0].rules} == {kind.kind}


def test_the_schema_knows_every_member_that_is_decoded() -> None:
    """A member of a kind that editors do not know would be marked as wrong."""
    found = describing.schema()["$defs"]
    assert {kind.kind for kind in rules.KINDS} == set(found["Rule"]["properties"])
    for kind in rules.KINDS:
        assert set(found[kind.__name__]["properties"]) == set(decoding.members(kind))
        assert found[kind.__name__]["additionalProperties"] is False
