"""A list that loses its revision midway goes on, and says from which revision on it may have missed something."""

from typing import Any

import pytest
from tests.cluster import stage as stage_module

from instar.controllers import listing
from instar.kube import client as kube_client
from instar.kube import etcd as kube_etcd
from instar.kube import kubeconfig

pytestmark = pytest.mark.cluster


async def test_an_expired_token_goes_on_at_a_newer_revision(make_control_plane: Any) -> None:
    """410 in the middle (etcd was compacted): every object that was there all along is listed, none is lost."""
    plane = make_control_plane(apiserver_flags=("--watch-cache=false",))
    config = kubeconfig.load(str(plane.kubeconfig))
    async with kube_client.Client(config) as client, kube_etcd.Etcd(plane.etcd) as etcd:
        stage = stage_module.Stage(client=client, etcd=etcd, namespace="default")
        await stage.install()
        names = [f"t{index:03}" for index in range(listing.FIRST + 80)]
        await stage.create(names)
        source = listing.Listing(client, stage.at("v1"))
        seen: list[str] = []
        refused = Refusals(client)
        async for batch in source.batches():
            if not seen:
                await stage.create(["zz-late"])
                await compact(etcd)
            seen += [item.name for item in batch]
    assert refused.codes == [410]
    assert set(names) <= set(seen)
    assert len(seen) == len(set(seen))
    assert "zz-late" in seen
    assert source.mark > 0
    assert not source.error


class Refusals:
    """The codes of refused pages, so that the test cannot pass without one."""

    def __init__(self, client: kube_client.Client) -> None:
        self.codes: list[int] = []
        self._ask = client.list_page
        client.list_page = self.list_page  # type: ignore[method-assign]

    async def list_page(self, *words: Any, **options: Any) -> kube_client.Page:
        try:
            return await self._ask(*words, **options)
        except listing.errors.ApiError as error:
            self.codes.append(error.code)
            raise


async def compact(etcd: kube_etcd.Etcd) -> None:
    """Forget every revision but the newest, as etcd does by itself after five minutes."""
    import json

    answer = json.loads(await etcd._post("/v3/kv/range", {"key": "AA=="}))
    await etcd._post("/v3/kv/compaction", {"revision": answer["header"]["revision"], "physical": True})
