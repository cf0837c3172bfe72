"""Long lives of objects, each step against the model: nothing lost, no edit overwritten, at both versions.

``INSTAR_SEQUENCES`` tells more of them, ``INSTAR_SEED`` others. Stories of the same kind, with server-side apply among
them, are told to a real API server in tests/cluster/test_sequences.py.
"""

from __future__ import annotations

import collections
import json
import os

import pytest
from tests.laws import sequences
from tests.model import examples, telling

import instar.conversion as conversion
from instar.testing import acts, edits

SEED = os.environ.get("INSTAR_SEED", "1")
COUNT = int(os.environ.get("INSTAR_SEQUENCES", "200"))
STORED = (("v1alpha1", ""), ("v1", ""), ("v1alpha1", "v1"), ("v1", "v1alpha1"))
"""The version stored at first, and the one from the middle of the story on."""
EACH = pytest.mark.parametrize("name", sorted(examples.ALL))


@EACH
@pytest.mark.parametrize(("storage", "flip"), STORED)
def test_what_every_step_leaves_is_what_the_model_says(name: str, storage: str, flip: str) -> None:
    """PUT, merge and JSON patches at both versions, replaces, copies, manifests from Git, deleted entries, flips."""
    example, judged = examples.ALL[name], sequences.judged(name)
    for number in range(COUNT // len(STORED)):
        story = telling.tell(example, f"{SEED} {name} {storage} {flip} {number}", storage=storage, length=6, flip=flip)
        if sequences.told(judged, story):
            less = sequences.reduced(story, lambda one: sequences.told(judged, one))
            lines = [f"{story.seed}:", *(str(step.act) for step in less.steps), *sequences.told(judged, less)]
            pytest.fail("\n".join(lines))


@EACH
def test_stories_have_something_to_lose(name: str) -> None:
    """Most objects carry leaves in both directions, and writes hit causes, siblings and neither, each often.

    Of MachineQuota nothing is carried.
    """
    example = examples.ALL[name]
    told = [telling.tell(example, f"{SEED} {name} {number}", storage="v1", length=6) for number in range(100)]
    rich = [all(story.carried[at] >= wanted for at, wanted in example.most_carried.items()) for story in told]
    assert sum(rich) >= len(told) // 2
    if not any(example.most_carried.values()):
        assert not any(story.carried[at] for story in told for at in story.carried)
        return
    hits = collections.Counter(step.hit for story in told for step in story.steps if step.hit)
    shares = {hit: hits[hit] / hits.total() for hit in telling.HITS}
    assert all(share > 0.1 for share in shares.values()), shares


@EACH
def test_a_story_follows_from_its_seed(name: str) -> None:
    """The same seed, the same acts and values."""
    one, two = (telling.tell(examples.ALL[name], "7", storage="v1", length=8) for _ in range(2))
    assert repr(one) == repr(two)


def test_a_failing_story_is_reduced() -> None:
    """A framework that forgot replicas of 2 would be shown by a story of two acts: the object, and who wrote it."""
    widget = examples.ALL["widget"]
    create = acts.Create(version="v1alpha1", body={"spec": {"size": "small", "image": "i"}})
    two = edits.Edit(kind="set", path=("spec", "resources", "replicas"), value=2)
    write = acts.Write(
        version="v1", verb="put", edits=(two, edits.Edit(kind="set", path=("spec", "tier"), value="gold"))
    )
    touch = acts.Touch(version="v1alpha1", verb="put")
    story = telling.retold(telling.tell(widget, "7", storage="v1alpha1", length=1), [create, touch, write, touch])

    def fails(story: telling.Story) -> bool:
        return any(step.reads["v1"]["spec"]["resources"] == {"replicas": 2} for step in story.steps)

    reduced = sequences.reduced(story, fails)
    assert [step.act for step in reduced.steps] == [
        acts.Create(version="v1alpha1", body={"spec": {}}),
        acts.Write(version="v1", verb="put", edits=(two,)),
    ]


def test_a_webhook_at_the_other_version_leaves_what_it_did_not_touch() -> None:
    """A widget without a size, created under a webhook that sets its tier at v1, still has no size.

    The API server gives what the webhook saw the defaults of v1, replicas among them, and these read as small.
    """
    server = sequences.Server(sequences.judged("widget"), "v1alpha1")
    gold = edits.Edit(kind="set", path=("spec", "tier"), value="gold")
    server.take(acts.Create(version="v1alpha1", body={"spec": {"image": "i"}}, admitted=(gold,)))
    assert server.read("v1alpha1")["spec"] == {"image": "i"}
    assert server.read("v1")["spec"] == {"image": "i", "tier": "gold", "resources": {"replicas": 3}}


@pytest.mark.parametrize(("managed", "carried"), [('[{"manager": "kubectl"}]', True), ("[{}]", False), ("[]", False)])
def test_a_review_of_what_admission_sees_carries_what_is_absent(managed: str, carried: bool) -> None:
    """As the API server sends it: with managedFields, which nobody decodes; those of calculations say nothing."""
    judged = sequences.judged("widget")
    head = {"apiVersion": "platform.acme.io/v1alpha1", "kind": "Widget"}
    widget = {**head, "metadata": {"name": "one", "managedFields": json.loads(managed)}, "spec": {}}
    request = {"uid": "1", "desiredAPIVersion": "platform.acme.io/v1", "objects": [widget]}
    review = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}
    body = json.dumps(review, separators=(",", ":")).encode()
    answer = json.loads(conversion.review({(judged.crd.group, "Widget"): judged.bound}, body))
    metadata = answer["response"]["convertedObjects"][0]["metadata"]
    assert ("carried.platform.acme.io/v1alpha1.view" in metadata.get("annotations", {})) == carried
    assert metadata["managedFields"] == json.loads(managed)


def test_a_saved_manifest_applied_again_wins() -> None:
    """Its values are seen at both versions, though entries that it does not know have come since.

    Server-side apply lays its annotations over those that are there, its view too: that fits what is now said at v1,
    and says nothing of the entry for the spelling, which somebody's later edit at v1alpha1 left behind.
    """
    judged = sequences.judged("tenant")
    server = sequences.Server(judged, "v1alpha1")
    server.take(acts.Create(version="v1alpha1", body={"spec": {"quota": "cpu=8", "costCentre": "1"}}))
    saved = server.read("v1")
    nine = edits.Edit(kind="set", path=("spec", "quota"), value="cpu = 9")
    server.take(acts.Write(version="v1alpha1", verb="put", edits=(nine,)))
    live = server.read("v1")
    notes = {**live["metadata"]["annotations"], **saved["metadata"]["annotations"]}
    assert len(notes) == len(saved["metadata"]["annotations"]) + 1
    eight = edits.Edit(kind="set", path=("spec", "quota", "cpu"), value="8")
    laid = edits.Edit(kind="set", path=("metadata", "annotations"), value=notes)
    server.take(acts.Write(version="v1", verb="put", edits=(eight, laid)))
    assert server.read("v1")["spec"]["quota"] == {"cpu": "8"}
    assert server.read("v1alpha1")["spec"]["quota"] == "cpu=8"
