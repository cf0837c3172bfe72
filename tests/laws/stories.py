"""Stories for a real control plane, drawn before it is asked: an object, what is to be read, an edit, what follows.

Every expected value comes from the hand-written model; the API server, the webhook and etcd only have to agree.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.laws import expected, model

from instar.model import crd as crd_model
from instar.testing import edits, objects

Document = dict[str, Any]
DOMAIN = "platform.acme.io"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Story:
    """Created at version ``here``, read at version ``there``, edited there, read at both."""

    here: str
    there: str
    created: Document
    seen: Document
    changed: Document
    after: Document
    edits: tuple[edits.Edit, ...]


def tell(name: str, crd: crd_model.Crd, count: int, seed: int) -> list[Story]:
    """So many different stories about objects of an example; the same for the same seed."""
    found: dict[str, Story] = {}

    @hypothesis.seed(seed)
    @settings(
        max_examples=count * 5 // 4,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def draw(data: st.DataObject) -> None:
        story = _draw(data, name, crd)
        found.setdefault(model.text([story.created, story.changed]), story)

    draw()
    assert len(found) >= count, f"only {len(found)} different stories of {count}"
    return [_named(story, f"story-{number}") for number, story in enumerate(list(found.values())[-count:])]


def _named(story: Story, name: str) -> Story:
    named = {
        field: {**value, "metadata": {**value["metadata"], "name": name}}
        for field in ("created", "seen", "changed", "after")
        for value in [getattr(story, field)]
    }
    return dataclasses.replace(story, **named)


def _draw(data: st.DataObject, name: str, crd: crd_model.Crd) -> Story:
    here, there = data.draw(st.sampled_from([("v1alpha1", "v1"), ("v1", "v1alpha1")]))
    anything = objects.custom_resources(crd, here)
    substantial = anything.filter(lambda document: len(document.get("spec", ())) > 1)
    created = model.settle(_schema(crd, here), data.draw(st.one_of(substantial, substantial, anything)))
    seen = model.pruned(_schema(crd, there), expected.READ[name](created))
    below = [name for name in ("spec", "status") if name in seen] or ["spec"]
    drawn = data.draw(edits.several(seen, _schema(crd, there), below=below))
    whole = any(edit.kind == "delete" and len(edit.path) == 1 for edit in drawn)
    made = [] if whole else drawn
    changed = model.settle(_schema(crd, there), edits.apply_all(seen, made))
    after = model.pruned(_schema(crd, here), expected.AFTER[name](created, seen, changed))
    return Story(here=here, there=there, created=created, seen=seen, changed=changed, after=after, edits=tuple(made))


def _schema(crd: crd_model.Crd, version: str) -> Any:
    return crd_model.version(crd, version).schema
