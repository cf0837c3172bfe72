"""Fixtures of the tests that need a webhook as it is really run: `serve_conversion`, and `kubectl` as users have it."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from instar import errors
from instar.model import crd as crd_model
from instar.model import resource as resource_model
from instar.serving import local

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Conversion:
    """A CRD in the cluster whose conversion is served by an `instar serve` of this test's own."""

    client: Any
    crd: crd_model.Crd
    webhook: local.Webhook

    def at(self, version: str) -> resource_model.Resource:
        return crd_model.resource(self.crd, version)

    async def remove(self) -> None:
        """Delete the CRD with its objects, and wait until it is gone; the webhook has to serve until then."""
        await remove(self.client, self.crd.name)

    def named(self, version: str) -> str:
        """The resource as kubectl takes it, with its version."""
        return f"{self.crd.plural}.{version}.{self.crd.group}"


def conversion_file(name: str) -> Path:
    """The conversion of an example, in Python or as rules."""
    return next(path for path in (EXAMPLES / name).glob("conversion.*") if path.suffix in (".py", ".yaml"))


@pytest_asyncio.fixture
async def serve_conversion(cluster) -> AsyncIterator[Callable[..., Awaitable[Conversion]]]:
    """Serves `examples/<name>` (or another conversion file of its CRD) and installs the CRD that points at it."""
    async with contextlib.AsyncExitStack() as stack:

        async def serve(
            name: str = "tenant",
            *,
            conversion: Path | None = None,
            storage: str = "v1alpha1",
            review_versions: tuple[str, ...] = ("v1",),
            **options: Any,
        ) -> Conversion:
            manifest = EXAMPLES / name / "crd.yaml"
            file = conversion or conversion_file(name)
            webhook = await stack.enter_async_context(local.start(file, manifest, **options))
            body = yaml.safe_load(manifest.read_text())
            body["spec"]["conversion"] = webhook.conversion
            body["spec"]["conversion"]["webhook"]["conversionReviewVersions"] = list(review_versions)
            for version in body["spec"]["versions"]:
                version["storage"] = version["name"] == storage
            crd = await install(cluster.client, body)
            stack.push_async_callback(remove, cluster.client, crd.name)
            return Conversion(client=cluster.client, crd=crd, webhook=webhook)

        yield serve


async def install(client, body: dict[str, Any]) -> crd_model.Crd:
    """Create a CRD, and wait until every version of it can be listed."""
    await client.create(crd_model.RESOURCE, body)
    while not crd_model.condition(
        crd := crd_model.parse(await client.get(crd_model.RESOURCE, body["metadata"]["name"])), "Established"
    ):
        await asyncio.sleep(0.1)
    for version in crd_model.served_versions(crd):
        while True:
            try:
                await client.list_page(crd_model.resource(crd, version), limit=1)
                break
            except errors.ApiError:
                await asyncio.sleep(0.1)
    return crd


async def remove(client, name: str) -> None:
    """Delete a CRD with its objects, and wait until it is gone; one that is gone already is fine."""
    for _ in range(200):
        try:
            await client.delete(crd_model.RESOURCE, name)
        except errors.ApiError as error:
            if error.code == 404:
                return
            raise
        await asyncio.sleep(0.1)
    pytest.fail(f"{name} is still there 20 s after its deletion")


class Kubectl:
    """The unmodified kubectl of the machine, in this test's namespace."""

    def __init__(self, control_plane, namespace: str) -> None:
        self.words = [str(control_plane.kubectl), "--kubeconfig", str(control_plane.kubeconfig), "-n", namespace]

    async def try_(self, *words: str, stdin: Any = None, env: dict[str, str] | None = None) -> tuple[int, str, str]:
        """Exit code, stdout, stderr; `stdin` is a manifest."""
        process = await asyncio.create_subprocess_exec(
            *self.words,
            *words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=env,
        )
        text = yaml.safe_dump(stdin).encode() if isinstance(stdin, dict) else (stdin or "").encode()
        async with asyncio.timeout(60):
            out, err = await process.communicate(text)
        return process.returncode or 0, out.decode(), err.decode()

    async def __call__(self, *words: str, **options: Any) -> str:
        code, out, err = await self.try_(*words, **options)
        assert code == 0, f"kubectl {' '.join(words)}: {err or out}"
        return out

    async def get(self, resource: str, name: str) -> dict[str, Any]:
        """One object as kubectl shows it."""
        return yaml.safe_load(await self("get", resource, name, "-o", "yaml"))

    async def spec(self, resource: str, name: str) -> dict[str, Any]:
        return (await self.get(resource, name)).get("spec", {})


@pytest.fixture
def kubectl(cluster) -> Kubectl:
    """`await kubectl("get", ...)`: its output, or a failure of the test with what it said."""
    return Kubectl(cluster.control_plane, cluster.namespace)
