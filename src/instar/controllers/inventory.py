"""Finds CRDs, counts their objects, and reads each object at each served version.

Counting is one cheap request: a page of one and the number that remains. Reading is by name, because a GET without a
resourceVersion always reads etcd, where a list from the watch cache shows what was converted long ago (measured on
1.37.2: a warm list stays 200 while an object in it can no longer be converted).
"""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import Callable, Sequence

import orjson

from instar import errors
from instar.controllers import listing
from instar.kube import client as kube_client
from instar.model import crd as crd_model
from instar.model import resource as resource_model
from instar.rollout import observed

__all__ = ["Progress", "crds", "observe"]

CRDS_PER_PAGE = 50
CRDS_AT_ONCE = 8
_BEHIND = re.compile(r"object not decodable revision=\d+: (.*)")

Progress = Callable[[crd_model.Crd, int], None]
"""Told of a CRD and of how many more of its objects were read."""


async def crds(client: kube_client.Client, names: Sequence[str] = ()) -> tuple[crd_model.Crd, ...]:
    """The CRDs of those names in that order, or every CRD of several versions, by name.

    Raises UsageError for a name that there is not, with the nearest one that there is.
    """
    if names:
        return tuple([await _crd(client, name) for name in dict.fromkeys(names)])
    found = [crd for crd in await _all(client) if len(crd.versions) > 1]
    return tuple(sorted(found, key=lambda crd: crd.name))


async def _all(client: kube_client.Client) -> list[crd_model.Crd]:
    pages = client.pages(crd_model.RESOURCE, limit=CRDS_PER_PAGE)
    raws = [raw async for page in pages for raw in page.items]
    kind = {"apiVersion": crd_model.RESOURCE.api_version, "kind": crd_model.RESOURCE.kind}
    return [crd_model.parse(orjson.loads(bytes(raw)) | kind) for raw in raws]


async def _crd(client: kube_client.Client, name: str) -> crd_model.Crd:
    try:
        return crd_model.parse(await client.get(crd_model.RESOURCE, name))
    except errors.ApiError as error:
        if error.code != 404:
            raise
        raise errors.UsageError(f"there is no CRD {name!r}{await _hint(client, name)}", reason="NotFound") from error


async def _hint(client: kube_client.Client, name: str) -> str:
    try:
        known = await _all(client)
    except errors.ApiError:
        return "; its name is <plural>.<group>, as kubectl get crd shows it"
    short = {word: crd.name for crd in known for word in (crd.plural, crd.singular, crd.kind.lower(), crd.name)}
    nearest = difflib.get_close_matches(name.lower(), short, n=1, cutoff=0.7)
    return f"; did you mean {short[nearest[0]]}?" if nearest else "; kubectl get crd lists those that there are"


async def observe(
    client: kube_client.Client,
    chosen: Sequence[crd_model.Crd],
    *,
    check: bool = False,
    progress: Progress = lambda crd, read: None,
) -> tuple[tuple[observed.Observed, ...], tuple[errors.ApiError, ...]]:
    """What there is to see of each CRD, in order, and what the account may not see."""
    refused: list[errors.ApiError] = []
    turns = asyncio.Semaphore(CRDS_AT_ONCE)

    async def one(crd: crd_model.Crd) -> observed.Observed:
        async with turns:
            try:
                return await _observe(client, crd, check, progress)
            except errors.ApiError as error:
                if error.code not in (401, 403):
                    raise
                refused.append(error)
                return observed.Observed(crd=crd, objects=None, forbidden=True)

    return tuple(await asyncio.gather(*(one(crd) for crd in chosen))), tuple(refused)


async def _observe(
    client: kube_client.Client, crd: crd_model.Crd, check: bool, progress: Progress
) -> observed.Observed:
    served, storage = crd_model.served_versions(crd), crd_model.storage_version(crd)
    order = sorted(served, key=lambda version: version != storage)  # what is stored at it needs no conversion
    reading = await _read(client, crd, crd_model.resource(crd, order[0]), progress) if check and order else None
    if reading is not None and not reading.incomplete:
        return observed.Observed(crd=crd, objects=reading.objects, reading=reading)
    unlisted: list[tuple[str, str]] = []
    for version in order:
        try:
            objects = await listing.count(client, crd_model.resource(crd, version))
            return observed.Observed(crd=crd, objects=objects, unlisted=tuple(unlisted), reading=reading)
        except errors.ApiError as error:
            if error.code in (401, 403):
                raise
            unlisted.append((version, _reason(error)))
    return observed.Observed(crd=crd, objects=None, unlisted=tuple(unlisted), reading=reading)


async def _read(
    client: kube_client.Client, crd: crd_model.Crd, best: resource_model.Resource, progress: Progress
) -> observed.Reading:
    served = crd_model.served_versions(crd)
    resources = [crd_model.resource(crd, version) for version in served]
    objects, unreadable = 0, list[observed.Unreadable]()
    names = listing.Listing(client, best)
    async for batch in names.batches():
        keys = [resource_model.ObjectKey(namespace=item.namespace, name=item.name) for item in batch]
        found = await asyncio.gather(*(_get(client, resource, key) for key in keys for resource in resources))
        unreadable += [entry for entry in found if entry is not None]
        objects += len(keys)
        progress(crd, len(keys))
    unreadable.sort(key=lambda entry: (entry.namespace, entry.name, entry.version))
    return observed.Reading(objects=objects, versions=served, unreadable=tuple(unreadable), incomplete=names.error)


async def _get(
    client: kube_client.Client, resource: resource_model.Resource, key: resource_model.ObjectKey
) -> observed.Unreadable | None:
    """None for an object that can be read, or is gone by now."""
    try:
        await client.get(resource, key.name, key.namespace, metadata_only=True)
    except errors.ApiError as error:
        if error.code == 404:
            return None
        if error.code != 500:
            raise
        return observed.Unreadable(
            version=resource.version, namespace=key.namespace, name=key.name, reason=_reason(error)
        )
    return None


def _reason(error: errors.ApiError) -> str:
    """What the converter or the storage said, without the API server's wrapping."""
    behind = _BEHIND.search(error.detail)
    return behind.group(1) if behind else error.detail
