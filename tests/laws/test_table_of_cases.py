"""What becomes of carried values in each case that clients and operators can bring about, by hand, stored at either.

Values are written here, not computed. Two rows wait for what they are about: annotations that a guard puts back
(tests/cluster/test_guard.py), and entries that ``migrate`` strips when a version goes. The same on a real API server:
tests/cluster/test_table_of_cases.py.
"""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.laws import model, subject

import instar.conversion as conversion
from instar import errors
from instar.model import crd as crd_model

OLD, NEW = "v1alpha1", "v1"
BOTH = pytest.mark.parametrize("storage", [OLD, NEW])
GROUP = "platform.acme.io"
REPLICAS = f"carried.{GROUP}/v1.c7689d5969f27caa"
Document = dict[str, Any]
Edit = Callable[[Document], object]


class Stored:
    """One object as an API server stores it, read and written at any version."""

    def __init__(self, judged: subject.Subject, storage: str, document: Document) -> None:
        self.judged, self.storage = judged, storage
        self.bytes: Document = {}
        self.put(document)

    def get(self, version: str) -> Document:
        found = self.judged.settled(self.bytes)
        return found if subject.version_of(found) == version else self.judged.move(found, version)

    def put(self, document: Document) -> None:
        written = self.judged.write(document)
        here = subject.version_of(written) == self.storage
        self.bytes = written if here else self.judged.move(written, self.storage)

    def edit(self, version: str, change: Edit) -> None:
        """Read, change, replace: as kubectl edit does."""
        document = self.get(version)
        change(document)
        self.put(document)

    def spec(self, version: str) -> Document:
        found: Document = self.get(version)["spec"]
        return found


def thing(kind: str, version: str, name: str = "one", **spec: Any) -> Document:
    return {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": {"name": name}, "spec": spec}


def widget(storage: str, replicas: int = 3, **spec: Any) -> Stored:
    """A widget that v1alpha1 cannot say: 3 replicas read as small."""
    document = thing("Widget", NEW, resources={"replicas": replicas}, **spec)
    return Stored(subject.of_example("widget"), storage, document)


def size(value: str) -> Edit:
    return lambda document: document["spec"].update(size=value)


def test_edited_away_and_back_while_the_old_version_is_stored() -> None:
    """No edit is visible in what is stored, so the 3 replicas are there again."""
    one = widget(OLD)
    one.edit(OLD, size("large"))
    assert one.spec(NEW)["resources"] == {"replicas": 5}
    one.edit(OLD, size("small"))
    assert one.spec(NEW)["resources"] == {"replicas": 3}


def test_edited_away_and_back_while_the_new_version_is_stored() -> None:
    """Two edits, and each wins in its turn: small is 1 replica."""
    one = widget(NEW)
    one.edit(OLD, size("large"))
    assert one.spec(NEW)["resources"] == {"replicas": 5}
    one.edit(OLD, size("small"))
    assert one.spec(NEW)["resources"] == {"replicas": 1}


@BOTH
def test_replaced_without_our_annotations(storage: str) -> None:
    """A client that replaces what it never read says small and no tier: 1 replica, and v1's default tier."""
    one = widget(storage, tier="gold")
    one.put(thing("Widget", OLD, size="small"))
    assert one.spec(NEW) == {"tier": "bronze", "resources": {"replicas": 1}}


@BOTH
def test_a_client_deletes_an_entry(storage: str) -> None:
    """That leaf is dropped, and nothing else."""
    one = widget(storage, tier="gold")
    one.edit(OLD, lambda document: document["metadata"]["annotations"].pop(REPLICAS))
    assert one.spec(NEW) == {"tier": "gold", "resources": {"replicas": 1}}


@BOTH
def test_an_old_manifest_with_entries_is_applied_from_git(storage: str) -> None:
    """It was saved when there were 3 replicas: what it says wins over the 4 of today, carried values too."""
    one = widget(storage, tier="gold")
    saved = one.get(OLD)
    one.edit(NEW, lambda document: document["spec"].update(resources={"replicas": 4}, tier="silver"))
    one.edit(OLD, lambda document: document["metadata"]["annotations"].update(saved["metadata"]["annotations"]))
    assert one.spec(NEW) == {"tier": "gold", "resources": {"replicas": 3}}


@BOTH
def test_copied_as_a_template_of_the_same_kind(storage: str) -> None:
    """The copy has the carried values too, and the two are apart from then on."""
    one = widget(storage, tier="gold")
    copied = copy.deepcopy(one.get(OLD))
    copied["metadata"] = {"name": "two", "annotations": copied["metadata"]["annotations"]}
    copied["spec"]["image"] = "b"
    two = Stored(one.judged, storage, copied)
    assert two.spec(NEW) == {"tier": "gold", "image": "b", "resources": {"replicas": 3}}
    two.edit(OLD, size("large"))
    assert two.spec(NEW)["resources"] == {"replicas": 5}
    assert one.spec(NEW)["resources"] == {"replicas": 3}


@BOTH
def test_copied_as_a_template_of_another_kind(storage: str) -> None:
    """A widget's annotations say nothing to a tenant: dropped, and no error."""
    document = thing("Tenant", OLD, title="Acme")
    document["metadata"]["annotations"] = widget(storage, tier="gold").get(OLD)["metadata"]["annotations"]
    tenant = Stored(subject.of_example("tenant"), storage, document)
    assert tenant.spec(NEW) == {"displayName": "Acme", "tier": "standard", "suspended": False}
    tenant.edit(NEW, lambda document: None)
    assert model.carried(tenant.get(NEW), GROUP) == {}


def three_versions() -> subject.Subject:
    """``a`` is the old spoke's alone, ``b`` the hub's, ``c`` the new spoke's; all three say ``x``."""
    only = {"v1alpha1": "a", "v1beta1": "b", "v1": "c"}
    fields = {version: {name: {"type": "string"} for name in ("x", own)} for version, own in only.items()}
    versions = [
        {
            "name": version,
            "served": True,
            "storage": version == "v1",
            "schema": {
                "openAPIV3Schema": {
                    "type": "object",
                    "properties": {"spec": {"type": "object", "properties": properties}},
                }
            },
        }
        for version, properties in fields.items()
    ]
    names = {"plural": "gauges", "singular": "gauge", "kind": "Gauge", "listKind": "GaugeList"}
    spec = {"group": GROUP, "scope": "Namespaced", "names": names, "versions": versions}
    document = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec}
    crd = crd_model.parse({**document, "metadata": {"name": f"gauges.{GROUP}"}})

    def of_x(gauge: Document) -> Document:
        return {**gauge, "spec": {name: value for name, value in gauge["spec"].items() if name == "x"}}

    spokes = tuple(conversion.Spoke(version=version, to_hub=of_x, from_hub=of_x) for version in ("v1alpha1", "v1"))
    whole = conversion.Conversion(group=GROUP, kind="Gauge", hub="v1beta1", spokes=spokes)
    return subject.Subject(crd=crd, bound=conversion.bind(whole, crd), domain=GROUP, functions={})


@pytest.mark.parametrize("storage", ["v1alpha1", "v1beta1", "v1"])
def test_spoke_to_spoke(storage: str) -> None:
    """Through the hub, with what the hub and the source alone can say: after an edit at each end all three say it."""
    one = Stored(three_versions(), storage, thing("Gauge", "v1alpha1", x="1", a="A"))
    one.edit("v1beta1", lambda document: document["spec"].update(b="B"))
    one.edit("v1", lambda document: document["spec"].update(c="C", x="2"))
    assert one.spec("v1alpha1") == {"x": "2", "a": "A"}
    assert one.spec("v1beta1") == {"x": "2", "b": "B"}
    one.edit("v1alpha1", lambda document: document["spec"].update(x="3"))
    assert one.spec("v1") == {"x": "3", "c": "C"}
    assert one.spec("v1beta1") == {"x": "3", "b": "B"}
    assert one.spec("v1alpha1") == {"x": "3", "a": "A"}


def _name_image(document: Document, name: str) -> None:
    document["spec"]["image"] = name


@pytest.mark.parametrize("flips", [(OLD, NEW, OLD), (NEW, OLD, NEW)])
def test_storage_flipped_back(flips: tuple[str, ...]) -> None:
    """Nothing special: written at each storage version in turn, 3 stay 3; an edit wins whatever is stored."""
    one = widget(flips[0], tier="gold")
    for storage in flips:
        one.storage = storage
        one.edit(OLD, functools.partial(_name_image, name=storage))
        assert one.spec(NEW) == {"tier": "gold", "image": storage, "resources": {"replicas": 3}}
    one.edit(OLD, size("large"))
    assert one.spec(NEW) == {"tier": "gold", "image": flips[-1], "resources": {"replicas": 5}}


def of_release(small: int, large: int) -> subject.Subject:
    """A release of the widget's converter: what the sizes mean, and from how many replicas a widget is large."""
    released = subject.of_example("widget")

    def to_v1(document: Document) -> Document:
        spec = document["spec"]
        if "size" in spec:
            spec["resources"] = {"replicas": {"small": small, "large": large}[spec.pop("size")]}
        return document

    def from_v1(document: Document) -> Document:
        spec = document["spec"]
        replicas = spec.pop("resources")["replicas"]
        spec["size"] = "large" if replicas >= large else "small"
        return document

    spoke = conversion.Spoke(version=OLD, to_hub=to_v1, from_hub=from_v1)
    whole = conversion.Conversion(group=GROUP, kind="Widget", hub=NEW, spokes=(spoke,))
    bound = conversion.bind(whole, released.crd)
    functions = {(OLD, NEW): to_v1, (NEW, OLD): from_v1}
    return subject.Subject(crd=released.crd, bound=bound, domain=GROUP, functions=functions)


def test_a_new_converter_release_and_an_object_not_written_since() -> None:
    """Small means 2 now: the 3 replicas that were carried as small are 3."""
    one = widget(OLD, tier="gold")
    one.judged = of_release(2, 5)
    assert one.spec(NEW) == {"tier": "gold", "resources": {"replicas": 3}}


def test_a_new_converter_release_and_an_object_written_since() -> None:
    """An edit of the image: the entry was based on 1 replica, which nobody shows any more; the tier's base stands."""
    one = widget(OLD, tier="gold")
    one.judged = of_release(2, 5)
    one.edit(OLD, lambda document: document["spec"].update(image="b"))
    assert one.spec(NEW) == {"tier": "gold", "image": "b", "resources": {"replicas": 2}}


@BOTH
def test_an_older_release_passes_entries_of_versions_that_it_does_not_know(storage: str) -> None:
    """What a newer release carried for its v2 is there, letter by letter, after reads and writes at both versions."""
    newer = {f"carried.{GROUP}/v2.0123456789abcdef": '["Widget","/spec/x",[1]]', f"carried.{GROUP}/v2.view": "0" * 32}
    one = widget(storage)
    one.edit(storage, lambda document: document["metadata"].setdefault("annotations", {}).update(newer))
    one.edit(OLD, lambda document: document["spec"].update(image="b"))
    one.edit(NEW, lambda document: document["spec"].update(image="c"))
    for version in (OLD, NEW):
        assert newer.items() <= one.get(version)["metadata"]["annotations"].items()
    assert one.spec(NEW) == {"tier": "bronze", "image": "c", "resources": {"replicas": 3}}


def test_an_older_release_says_that_it_cannot_read_a_newer_format() -> None:
    """An error that names object, path and remedy; to drop the entry would be loss."""
    one = widget(OLD)
    one.bytes["metadata"]["annotations"][REPLICAS] = json.dumps([999, "Widget", "/spec/resources/replicas", 3])
    with pytest.raises(errors.ConversionError, match=r"/spec/resources/replicas has format 999.*release that wrote it"):
        one.get(NEW)
    assert one.spec(OLD) == {"size": "small"}
