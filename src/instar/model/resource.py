"""One resource of an API at one version, and the paths under which an API server answers for it.

Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
"""

from __future__ import annotations

import dataclasses
from urllib.parse import quote

__all__ = ["ObjectKey", "Resource", "path"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Resource:
    """A resource as discovery names it; ``group`` is empty for the core API."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        """``group/version``, or ``version`` alone in the core API."""
        return f"{self.group}/{self.version}" if self.group else self.version


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, order=True)
class ObjectKey:
    """Which object of a resource; ``namespace`` is empty for a cluster-scoped one."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def path(resource: Resource, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """The URL path of a collection (no name), an object, or a subresource of it.

    An empty namespace of a namespaced resource means all namespaces.
    """
    root = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    parts = [root]
    if namespace:
        parts.append(f"namespaces/{quote(namespace, safe='')}")
    parts.append(resource.plural)
    if name:
        parts.append(quote(name, safe=""))
    if subresource:
        parts.append(subresource)
    return "/".join(parts)
