"""Every story of every project, at every storage version, on the model of an API server."""

from __future__ import annotations

import pytest
import yaml
from tests.cases import stories
from tests.laws import subject


def versions(project: str) -> list[str]:
    document = yaml.safe_load((stories.HERE / project / "crd.yaml").read_text())
    return [version["name"] for version in document["spec"]["versions"]]


PLAYED = [
    pytest.param(story, name, id=f"{story}-{name}") for story in stories.EVERY for name in versions(story.project)
]


@pytest.mark.parametrize(("story", "storage"), PLAYED)
async def test_the_right_value_is_seen(story: stories.Story, storage: str) -> None:
    """The fault that was reported does not happen: what each version reads as is the value written by hand."""
    of = subject.of_folder(stories.HERE / story.project)
    assert await story.play(stories.Modelled(of, storage)) > 0


def test_every_story_names_its_source() -> None:
    """A story is a fact that somebody met: it says where."""
    assert all(story.source.startswith("https://") and story.fault for story in stories.EVERY)
