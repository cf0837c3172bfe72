"""Small conversions to try things on: schemas and functions are arguments, nothing is clever."""

from __future__ import annotations

import copy
import importlib.util
import pathlib
from typing import Any

import yaml

import instar.conversion as conversion
from instar.model import crd as crd_model

ROOT = pathlib.Path(__file__).parents[3]
GROUP = "acme.io"
Document = dict[str, Any]


def example(name: str) -> conversion.Bound:
    """An example of the repository, bound."""
    folder = ROOT / "examples" / name
    spec = importlib.util.spec_from_file_location(f"example_{name}", folder / "conversion.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return conversion.bind(module.conversion, crd_model.parse(yaml.safe_load((folder / "crd.yaml").read_text())))


def crd(schemas: dict[str, Document], *, kind: str = "Thing", stored: tuple[str, ...] = ()) -> crd_model.Crd:
    """A CRD of these versions; each schema is that of ``spec``."""
    versions = [
        {
            "name": name,
            "served": True,
            "storage": index == 0,
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": schema}}},
        }
        for index, (name, schema) in enumerate(schemas.items())
    ]
    return crd_model.parse(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"things.{GROUP}"},
            "spec": {
                "group": GROUP,
                "scope": "Namespaced",
                "names": {"kind": kind, "plural": "things"},
                "versions": versions,
            },
            "status": {"storedVersions": list(stored)},
        }
    )


def bound(schemas: dict[str, Document], to_hub: Any, from_hub: Any, *, kind: str = "Thing", **declared: Any) -> Any:
    """``old`` and ``new`` (the hub) with these functions of the object."""
    whole = conversion.Conversion(
        group=GROUP,
        kind=kind,
        hub="new",
        spokes=(conversion.Spoke(version="old", to_hub=to_hub, from_hub=from_hub),),
        **declared,
    )
    return conversion.bind(whole, crd(schemas, kind=kind))


def losing(schema: Document, *names: str, **declared: Any) -> Any:
    """The same schema on both sides; going to ``old`` loses these fields of spec, at any depth."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without(item) for key, item in value.items() if key not in names}
        return [without(item) for item in value] if isinstance(value, list) else value

    def from_hub(obj: Document) -> Document:
        return {**obj, "spec": without(obj["spec"])} if "spec" in obj else obj

    return bound({"old": schema, "new": schema}, lambda obj: obj, from_hub, **declared)


def thing(version: str, spec: Any, annotations: dict[str, str] | None = None, kind: str = "Thing") -> Document:
    """An object of the group as it comes from etcd and goes there: with a uid and no resourceVersion."""
    metadata: Document = {"name": "x", "namespace": "default", "uid": "1"}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": metadata, "spec": copy.deepcopy(spec)}


def notes(obj: Document) -> dict[str, str]:
    """The annotations."""
    found: dict[str, str] = obj["metadata"].get("annotations", {})
    return found


def entries(obj: Document) -> list[str]:
    """The entries' texts, without the view, in order."""
    return sorted(text for key, text in notes(obj).items() if key.startswith("carried.") and not key.endswith(".view"))


def edited(obj: Document, **spec: Any) -> Document:
    """A client's write of these fields of spec; None takes one away."""
    changed = copy.deepcopy(obj)
    for name, value in spec.items():
        changed["spec"].pop(name, None)
        if value is not None:
            changed["spec"][name] = value
    return changed
