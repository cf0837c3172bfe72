"""A CustomResourceDefinition as every part of Instar reads it: parsed once, frozen, with the document beside it.

*storage version* is the one flagged in spec (where new writes go); *stored versions* is what ``status`` says was ever
persisted. The API server appends to the latter and never takes away, and checks nothing when somebody else does.
Source: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
from collections.abc import Mapping
from typing import Any, Literal

from instar import errors
from instar.model import resource as resource_model

__all__ = [
    "Crd",
    "Version",
    "condition",
    "parse",
    "resource",
    "served_versions",
    "storage_version",
    "storage_version_hash",
    "version",
]

GROUP = "apiextensions.k8s.io"
RESOURCE = resource_model.Resource(
    group=GROUP, version="v1", plural="customresourcedefinitions", kind="CustomResourceDefinition", namespaced=False
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """One entry of ``spec.versions``."""

    name: str
    served: bool
    storage: bool
    schema: Mapping[str, Any]
    status_subresource: bool
    scale_subresource: bool
    deprecated: bool


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Crd:
    """A CRD; ``document`` is the whole object as it was read, and not to be changed."""

    name: str
    uid: str
    generation: int
    resource_version: str
    group: str
    kind: str
    plural: str
    singular: str
    list_kind: str
    namespaced: bool
    versions: tuple[Version, ...]
    stored_versions: tuple[str, ...]
    strategy: Literal["None", "Webhook"]
    conditions: Mapping[str, Mapping[str, Any]]
    labels: Mapping[str, str]
    terminating: bool
    document: Mapping[str, Any]


def parse(document: Mapping[str, Any]) -> Crd:
    """A frozen Crd from a decoded ``apiextensions.k8s.io/v1`` document.

    Raises UsageError naming the CRD and the missing or wrong field.
    """
    name = str((document.get("metadata") or {}).get("name") or "<unnamed>")
    if document.get("kind") != "CustomResourceDefinition" or document.get("apiVersion") != f"{GROUP}/v1":
        raise errors.UsageError(
            f"{name}: not a CustomResourceDefinition of {GROUP}/v1 but "
            f"{document.get('apiVersion')!r} {document.get('kind')!r}"
        )
    try:
        return _parse(document)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise errors.UsageError(f"CRD {name}: missing or wrong field: {error}") from error


def _parse(document: Mapping[str, Any]) -> Crd:
    metadata, spec, status = document["metadata"], document["spec"], document.get("status") or {}
    names = spec["names"]
    versions = tuple(_parse_version(entry) for entry in spec["versions"])
    if sum(entry.storage for entry in versions) != 1:
        raise ValueError("spec.versions: exactly one version must have storage: true")
    return Crd(
        name=metadata["name"],
        uid=metadata.get("uid", ""),
        generation=metadata.get("generation", 0),
        resource_version=metadata.get("resourceVersion", ""),
        group=spec["group"],
        kind=names["kind"],
        plural=names["plural"],
        singular=names.get("singular") or names["kind"].lower(),
        list_kind=names.get("listKind") or names["kind"] + "List",
        namespaced=spec["scope"] == "Namespaced",
        versions=versions,
        stored_versions=tuple(status.get("storedVersions") or ()),
        strategy="Webhook" if (spec.get("conversion") or {}).get("strategy") == "Webhook" else "None",
        conditions={entry["type"]: entry for entry in status.get("conditions") or ()},
        labels=metadata.get("labels") or {},
        terminating=bool(metadata.get("deletionTimestamp")),
        document=document,
    )


def _parse_version(entry: Mapping[str, Any]) -> Version:
    subresources = entry.get("subresources") or {}
    return Version(
        name=entry["name"],
        served=bool(entry["served"]),
        storage=bool(entry["storage"]),
        schema=(entry.get("schema") or {}).get("openAPIV3Schema") or {},
        status_subresource="status" in subresources,
        scale_subresource="scale" in subresources,
        deprecated=bool(entry.get("deprecated")),
    )


def storage_version(crd: Crd) -> str:
    """The version flagged ``storage: true`` in spec: where every new write is encoded."""
    return next(entry.name for entry in crd.versions if entry.storage)


def served_versions(crd: Crd) -> tuple[str, ...]:
    """The names of the versions that clients can use, in the order of spec."""
    return tuple(entry.name for entry in crd.versions if entry.served)


def version(crd: Crd, name: str) -> Version:
    """The entry of ``spec.versions`` with that name; UsageError names those that there are."""
    for entry in crd.versions:
        if entry.name == name:
            return entry
    known = ", ".join(entry.name for entry in crd.versions)
    raise errors.UsageError(f"CRD {crd.name} has no version {name!r}; it has {known}")


def resource(crd: Crd, version_name: str) -> resource_model.Resource:
    """The custom resource at one version."""
    return resource_model.Resource(
        group=crd.group, version=version_name, plural=crd.plural, kind=crd.kind, namespaced=crd.namespaced
    )


def condition(crd: Crd, name: str) -> bool:
    """Whether ``status.conditions`` says True for it."""
    return crd.conditions.get(name, {}).get("status") == "True"


def storage_version_hash(crd: Crd) -> str:
    """What discovery shows as ``storageVersionHash`` once an API server encodes at the present storage version.

    base64 of the first 8 bytes of sha256("group/version/Kind"); the same under every served version (measured).
    """
    text = f"{crd.group}/{storage_version(crd)}/{crd.kind}"
    return base64.b64encode(hashlib.sha256(text.encode()).digest()[:8]).decode()
