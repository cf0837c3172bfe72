"""Whatever is wrong with the input or the cluster: one clear line, the right exit code, a traceback only with -v."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.cluster import stage as stage_module
from tests.cluster.command import instar

from instar import errors
from instar.kube import client as kube_client
from instar.kube import etcd as kube_etcd
from instar.kube import kubeconfig
from instar.model import resource

pytestmark = pytest.mark.cluster

COMMANDS: dict[str, tuple[str, ...]] = {
    "status": ("status", "things.example.com"),
    "status of all": ("status",),
    "migrate": ("migrate", "things.example.com"),
}
each_command = pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS.keys())


@pytest.fixture
async def stage(cluster, etcd: kube_etcd.Etcd) -> AsyncIterator[stage_module.Stage]:
    here = stage_module.Stage(client=cluster.client, etcd=etcd, namespace=cluster.namespace)
    await here.install()
    yield here
    await here.remove()


def write(file: Path, server: str, user: dict[str, Any], **cluster: Any) -> Path:
    """A kubeconfig with one context `dev`."""
    document = {
        "current-context": "dev",
        "contexts": [{"name": "dev", "context": {"cluster": "c", "user": "me"}}],
        "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "me", "user": user}],
    }
    file.write_text(yaml.safe_dump(document))
    return file


# --- no way to a cluster ----------------------------------------------------------------------------------------------


@each_command
async def test_no_kubeconfig(words: tuple[str, ...], tmp_path: Path) -> None:
    """Neither flag nor variable nor a file at home: where was looked, and what to set."""
    ended = await instar(*words, environment={"HOME": str(tmp_path)})
    assert (ended.code, ended.out) == (3, "")
    assert ended.error.startswith(f"no kubeconfig: KUBECONFIG is not set and {tmp_path}/.kube/config does not exist")


@each_command
async def test_broken_kubeconfig(words: tuple[str, ...], tmp_path: Path) -> None:
    """A kubeconfig that is no YAML, is not there, or has no such context."""
    file = tmp_path / "config"
    file.write_text("clusters: [")
    ended = await instar(*words, "--kubeconfig", file)
    assert ended.code == 3
    assert ended.error.startswith(f"kubeconfig {file}: not valid YAML")
    ended = await instar(*words, "--kubeconfig", tmp_path / "none")
    assert (ended.code, ended.error) == (3, f"kubeconfig {tmp_path}/none: no such file; check --kubeconfig")
    write(file, "https://127.0.0.1:1", {})
    ended = await instar(*words, "--kubeconfig", file, "--context", "prod")
    assert (ended.code, ended.error) == (3, f"kubeconfig {file}: no context 'prod'; it has dev")


@each_command
async def test_nobody_listens(words: tuple[str, ...], tmp_path: Path) -> None:
    """An address where no API server is: server, context, and what to look at; with -v the traceback too."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        server = f"https://127.0.0.1:{taken.getsockname()[1]}"
        file = write(tmp_path / "config", server, {})
        ended = await instar(*words, "--kubeconfig", file, "--request-timeout", "5")
        assert ended.code == 3
        assert f"cannot reach {server} (context dev): connection refused" in ended.error
        verbose = await instar("-v", *words, "--kubeconfig", file, "--request-timeout", "5")
    assert verbose.code == 3
    assert "Traceback (most recent call last)" in verbose.err
    assert verbose.err.splitlines()[-1] == f"error: {ended.error}"


@each_command
async def test_silent_server(words: tuple[str, ...], tmp_path: Path) -> None:
    """A server that accepts and never answers: the command ends at --request-timeout and says how long it waited."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        file = write(tmp_path / "config", f"https://127.0.0.1:{silent.getsockname()[1]}", {})
        ended = await instar(*words, "--kubeconfig", file, "--request-timeout", "1")
    assert ended.code == 3
    assert "no answer within 1 s" in ended.error


@each_command
async def test_unknown_authority(words: tuple[str, ...], control_plane, tmp_path: Path) -> None:
    """An API server whose authority is not the cluster's in kubeconfig is not trusted, and which setting to look at."""
    file = write(tmp_path / "config", control_plane.apiservers[0], {})
    ended = await instar(*words, "--kubeconfig", file)
    assert ended.code == 3
    assert "signed by an unknown authority" in ended.error
    assert f"set the cluster's certificate-authority in kubeconfig {file}" in ended.error


# --- may not ----------------------------------------------------------------------------------------------------------

Account = Callable[..., Awaitable[Path]]


@pytest.fixture
async def account(cluster, tmp_path: Path) -> AsyncIterator[Account]:
    """Makes a service account that may do what the rules say, in the whole cluster; its kubeconfig."""
    client, space = cluster.client, cluster.namespace
    made: list[tuple[resource.Resource, str]] = []

    async def make(*rules: dict[str, list[str]]) -> Path:
        await client.create(_core("serviceaccounts", "ServiceAccount"), _named("v1", "ServiceAccount", "bot"), space)
        role = _named("rbac.authorization.k8s.io/v1", "ClusterRole", space) | {"rules": list(rules)}
        binding = _named("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", space) | {
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": space},
            "subjects": [{"kind": "ServiceAccount", "name": "bot", "namespace": space}],
        }
        for plural, body in (("clusterroles", role), ("clusterrolebindings", binding)):
            kind = _rbac(plural, body["kind"])
            await client.create(kind, body)
            made.append((kind, space))
        path = resource.path(_core("serviceaccounts", "ServiceAccount"), space, "bot", "token")
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        answer = await client.request("POST", path, body=orjson.dumps(request))
        (tmp_path / "ca.crt").write_bytes(client.config.certificate_authority)
        token = orjson.loads(answer.body)["status"]["token"]
        return write(tmp_path / "bot", client.servers[0], {"token": token}, **{"certificate-authority": "ca.crt"})

    yield make
    for kind, name in made:
        await client.delete(kind, name)


def _core(plural: str, kind: str) -> resource.Resource:
    return resource.Resource(group="", version="v1", plural=plural, kind=kind, namespaced=True)


def _rbac(plural: str, kind: str) -> resource.Resource:
    return resource.Resource(
        group="rbac.authorization.k8s.io", version="v1", plural=plural, kind=kind, namespaced=False
    )


def _named(api_version: str, kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}}


@each_command
async def test_no_permission_at_all(words: tuple[str, ...], account: Account, cluster) -> None:
    """An account without rights: who may not do what, in one line."""
    ended = await instar(*words, "--kubeconfig", await account())
    assert (ended.code, ended.out) == (3, "")
    assert f'User "system:serviceaccount:{cluster.namespace}:bot" cannot' in ended.error
    assert "403 Forbidden" in ended.error


CRDS = {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": ["get", "list"]}


async def test_objects_may_not_be_counted(stage: stage_module.Stage, account: Account) -> None:
    """An account that sees CRDs but not their objects gets what it may see, a line about the rest, exit code 3."""
    ended = await instar("status", stage.name, "--kubeconfig", await account(CRDS))
    assert ended.code == 3
    assert "cannot list resource" in ended.error
    assert ended.out.splitlines()[1].split()[:5] == [stage.name, "v1,v2", "v1", "v1", "forbidden"]


# --- nothing to work on -----------------------------------------------------------------------------------------------


async def test_unknown_crd(stage: stage_module.Stage, control_plane) -> None:
    """A CRD that does not exist is wrong use: its name, and the nearest one that there is."""
    file = control_plane.kubeconfig
    for wrong in (f"thing.{stage.group}", f"things.{stage.group}x"):
        for command in ("status", "migrate"):
            ended = await instar(command, wrong, "--kubeconfig", file)
            assert (ended.code, ended.error) == (2, f"there is no CRD {wrong!r}; did you mean {stage.name}?")


async def test_names_as_they_are_printed(stage: stage_module.Stage, control_plane) -> None:
    """What ``-o name`` prints is taken where a CRD is named."""
    file = control_plane.kubeconfig
    name = (await instar("status", stage.name, "-o", "name", "--kubeconfig", file)).out.strip()
    assert name == f"customresourcedefinition.apiextensions.k8s.io/{stage.name}"
    for words in (("status", name), ("status", f"crd/{stage.name}", name), ("migrate", name)):
        ended = await instar(*words, "--kubeconfig", file)
        assert ended.code == 0, ended.err
        assert stage.name in ended.out


async def test_one_version(stage: stage_module.Stage, control_plane) -> None:
    """A CRD with one version needs nothing: said so, exit code 0, nothing written."""
    await stage.change("v1", without=["v2"])
    file = control_plane.kubeconfig
    revision = (await stage.crd()).resource_version
    ended = await instar("status", stage.name, "--kubeconfig", file)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[1].endswith("nothing to do")
    ended = await instar("migrate", stage.name, "--kubeconfig", file)
    assert ended.code == 0
    assert "nothing to do" in ended.out
    assert (await stage.crd()).resource_version == revision


@pytest.mark.parametrize(
    "words",
    [("status", "-o", "html"), ("status", "--nope"), ("migrate",), ("nope",), ("status", "--request-timeout", "x")],
)
async def test_wrong_use(words: tuple[str, ...]) -> None:
    """Flags and commands that do not exist are exit code 2 and no traceback."""
    ended = await instar(*words)
    assert ended.code == 2
    assert "Traceback" not in ended.err
    assert ended.err.splitlines()[-1].startswith("Error: ")


# --- expired ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def issuer() -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    return _certificate("another authority", key, None), key


def _certificate(name: str, key: Any, issued_by: Any, *, ended: bool = False) -> x509.Certificate:
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issued_by[0].subject if issued_by else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 9 * day)
        .not_valid_after(now - day if ended else now + day)
        .add_extension(x509.BasicConstraints(ca=not issued_by, path_length=None), critical=True)
    )
    if issued_by:
        usage = x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.CLIENT_AUTH])
        builder = builder.add_extension(usage, critical=False)
    return builder.sign(issued_by[1] if issued_by else key, hashes.SHA256())


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


async def test_expired_client_certificate(make_control_plane, issuer, tmp_path: Path) -> None:
    """A client certificate that the API server would trust, had it not run out: said so, with when and what to do."""
    plane = make_control_plane()
    authority = plane.folder / "pki" / "ca.crt"
    trusted = authority.read_bytes()
    authority.write_bytes(trusted + _pem(issuer[0]))  # the API server reads it again by itself
    key = ec.generate_private_key(ec.SECP256R1())
    key_pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    known = kubeconfig.load(str(plane.kubeconfig))
    good = dataclasses.replace(known, client_certificate=_pem(_certificate("jane", key, issuer)), client_key=key_pem)
    await _accepted(good)
    (tmp_path / "ca.crt").write_bytes(trusted)
    (tmp_path / "me.crt").write_bytes(_pem(_certificate("jane", key, issuer, ended=True)))
    (tmp_path / "me.key").write_bytes(key_pem)
    user = {"client-certificate": "me.crt", "client-key": "me.key"}
    file = write(tmp_path / "config", known.server, user, **{"certificate-authority": "ca.crt"})
    for words in COMMANDS.values():
        ended = await instar(*words, "--kubeconfig", file)
        assert (ended.code, ended.out) == (3, "")
        assert "the client certificate of user 'me' of context 'dev'" in ended.error
        assert "expired at" in ended.error
        assert f"renew it in kubeconfig {file}" in ended.error


async def _accepted(good: kubeconfig.Config) -> None:
    """Wait until the API server takes the new authority's certificates: jane is known, if not allowed anything."""
    async with asyncio.timeout(90):
        while True:
            async with kube_client.Client(good) as client:
                try:
                    await client.request("GET", "/api/v1/configmaps")
                except errors.ApiError as error:
                    if error.code == 403 and "jane" in error.message:
                        return
            await asyncio.sleep(0.5)
