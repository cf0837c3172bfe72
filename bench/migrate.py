"""How fast `instar migrate` is, next to the limit and to what people run today, in one run on one server.

    python bench/migrate.py [--objects 6000] [--rounds 3] [--json FILE]
    python bench/migrate.py --memory 1000,6000,20000

Each contender takes all objects of one CRD (strategy None, identical schemas, 1 KiB each) from the old storage version
to the new one; before each, the storage version is flipped, and after each, raw etcd must hold every object at the new
one, or the run stops. *raw* is bench/raw, a Go program that lists and writes and does nothing else: the limit. Whole
processes are measured (CPU, peak memory), except the phases of instar, which are read at the boundaries of its pass.

With --memory instar alone migrates more and more objects: its peak memory must not grow with them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from instar.controlplane import plane, toolchain
from instar.kube import client as kube_client
from instar.kube import etcd as kube_etcd
from instar.kube import kubeconfig
from instar.model import crd as crd_model

GROUP, PLURAL, NAME = "bench.instar.dev", "gauges", "gauges.bench.instar.dev"
SCREEN = Console(stderr=True)
RAW = {"raw, 16 in flight": 16, "raw, 32 in flight": 32, "raw, 64 in flight": 64}
LOOP = "kubectl get, kubectl replace"


def crd(storage: str) -> dict[str, Any]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    versions = [
        {"name": name, "served": True, "storage": name == storage, "schema": {"openAPIV3Schema": schema}}
        for name in ("v1", "v2")
    ]
    names = {"kind": "Gauge", "listKind": "GaugeList", "plural": PLURAL, "singular": "gauge"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME},
        "spec": {"group": GROUP, "names": names, "scope": "Namespaced", "versions": versions},
    }


def gauge(number: int) -> dict[str, Any]:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Gauge",
        "metadata": {"name": f"gauge-{number:06}", "namespace": "default", "labels": {"shard": str(number % 16)}},
        "spec": {"number": number, "text": "x" * 480, "list": [{"name": f"item-{i}", "value": i} for i in range(8)]},
    }


async def install(client: kube_client.Client) -> None:
    await client.create(crd_model.RESOURCE, crd("v1"))
    while not crd_model.condition(crd_model.parse(await client.get(crd_model.RESOURCE, NAME)), "Established"):
        await asyncio.sleep(0.1)
    await asyncio.sleep(3)


async def seed(client: kube_client.Client, objects: int, *, there: int = 0) -> None:
    """Create objects until there are so many."""
    kind = crd_model.resource(crd_model.parse(await client.get(crd_model.RESOURCE, NAME)), "v1")
    turns = asyncio.Semaphore(32)
    with Progress(console=SCREEN, transient=True) as progress:
        task = progress.add_task("seeding", total=objects - there)

        async def one(number: int) -> None:
            async with turns:
                await client.create(kind, gauge(number), "default")
            progress.advance(task)

        await asyncio.gather(*(one(number) for number in range(there, objects)))


async def flip(client: kube_client.Client) -> str:
    """Make the other version the storage version; every object is old now."""
    found = crd_model.parse(await client.get(crd_model.RESOURCE, NAME))
    wanted = "v2" if crd_model.storage_version(found) == "v1" else "v1"
    versions = crd(wanted)["spec"]["versions"]
    await client.patch(crd_model.RESOURCE, NAME, {"spec": {"versions": versions}})
    # the server closes watches and fills its caches anew after a change of a CRD: not a part of what is measured
    await asyncio.sleep(5)
    return wanted


async def check(etcd: kube_etcd.Etcd, wanted: str, objects: int, contender: str) -> None:
    found = await etcd.versions(GROUP, PLURAL)
    if found != {wanted: objects}:
        raise SystemExit(f"{contender} left {found} in etcd, where {objects} at {wanted} should be")


# --- contenders -------------------------------------------------------------------------------------------------------


def measured(command: list[str], **options: Any) -> dict[str, float]:
    """A whole process: wall time, CPU of it and its children, its peak resident set."""
    began = time.perf_counter()
    process = subprocess.Popen(command, **options)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    if status != 0:
        raise SystemExit(f"{command[0]} ended with status {status}")
    return {
        "seconds": seconds,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "rss_mib": usage.ru_maxrss / 1024,
    }


def raw(program: Path, server: str, folder: Path, in_flight: int, version: str) -> dict[str, float]:
    flags = {
        "server": server,
        "ca": folder / "ca",
        "cert": folder / "cert",
        "key": folder / "key",
        "api": f"/apis/{GROUP}/{version}",
        "plural": PLURAL,
        "in-flight": in_flight,
        "write": "patch",
    }
    command = [str(program), *(f"--{name}={value}" for name, value in flags.items())]
    found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    if found["failures"]:
        raise SystemExit(f"raw: {found['failures']} writes failed")
    return {name: found[name] for name in ("seconds", "cpu_seconds", "rss_mib")}


def loop(kubectl: str, kube_file: Path, version: str) -> dict[str, float]:
    """What the seeds' project tells its users to run."""
    kind = f"{PLURAL}.{version}.{GROUP}"
    with tempfile.NamedTemporaryFile(suffix=".json") as listed:
        first = measured([kubectl, f"--kubeconfig={kube_file}", "get", kind, "-A", "-o", "json"], stdout=listed)
        second = measured(
            [kubectl, f"--kubeconfig={kube_file}", "replace", "-f", listed.name], stdout=subprocess.DEVNULL
        )
    return {
        "seconds": first["seconds"] + second["seconds"],
        "cpu_seconds": first["cpu_seconds"] + second["cpu_seconds"],
        "rss_mib": max(first["rss_mib"], second["rss_mib"]),
    }


def instar(kube_file: Path, settle_seconds: float) -> dict[str, float]:
    program = Path(__file__).parent / "one_migration.py"
    command = [sys.executable, str(program), str(kube_file), NAME, str(settle_seconds)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


# --- the run ----------------------------------------------------------------------------------------------------------


def build_raw(folder: Path) -> Path:
    go = toolchain.find((1, 26))
    if go is None:
        raise SystemExit(
            "the raw generator needs Go 1.26 or later: install it, or run `instar controlplane build` once"
        )
    program = folder / "raw"
    subprocess.run([str(go), "build", "-o", str(program), "."], check=True, cwd=Path(__file__).parent / "raw")
    return program


def credentials(kube_file: Path, folder: Path) -> None:
    """The kubeconfig's account as files, so that raw writes as the same account."""
    import base64

    document = yaml.safe_load(kube_file.read_text())
    cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
    for name, entry, field in (
        ("ca", cluster, "certificate-authority"),
        ("cert", user, "client-certificate"),
        ("key", user, "client-key"),
    ):
        data = entry.get(f"{field}-data")
        (folder / name).write_bytes(base64.b64decode(data) if data else Path(entry[field]).read_bytes())


async def bench(objects: int, rounds: int, settle_seconds: float) -> dict[str, list[dict[str, float]]]:
    results: dict[str, list[dict[str, float]]] = {name: [] for name in (*RAW, "instar", LOOP)}
    kubectl = shutil.which("kubectl")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build_raw(folder)
        async with plane.start(plane.Settings()) as control_plane:
            credentials(control_plane.kubeconfig, folder)
            config = kubeconfig.load(str(control_plane.kubeconfig))
            async with kube_client.Client(config) as client, kube_etcd.Etcd(control_plane.etcd) as etcd:
                await install(client)
                await seed(client, objects)
                for number in range(1, rounds + 1):
                    for contender in results:
                        version = await flip(client)
                        SCREEN.print(f"round {number} of {rounds}: {contender}")
                        server = control_plane.apiservers[0]
                        if contender in RAW:
                            run = await asyncio.to_thread(raw, program, server, folder, RAW[contender], version)
                        elif contender == "instar":
                            run = await asyncio.to_thread(instar, control_plane.kubeconfig, settle_seconds)
                        elif kubectl is None:
                            continue
                        else:
                            run = await asyncio.to_thread(loop, kubectl, control_plane.kubeconfig, version)
                        await check(etcd, version, objects, contender)
                        results[contender].append(run)
    return results


async def memory(sizes: list[int], settle_seconds: float) -> list[dict[str, float]]:
    """Peak memory of instar at each number of objects, on one server that is filled step by step."""
    runs: list[dict[str, float]] = []
    async with plane.start(plane.Settings()) as control_plane:
        config = kubeconfig.load(str(control_plane.kubeconfig))
        async with kube_client.Client(config) as client, kube_etcd.Etcd(control_plane.etcd) as etcd:
            await install(client)
            for there, objects in zip([0, *sizes], sizes, strict=False):
                await seed(client, objects, there=there)
                version = await flip(client)
                run = await asyncio.to_thread(instar, control_plane.kubeconfig, settle_seconds)
                await check(etcd, version, objects, "instar")
                runs.append({"objects": objects, **run})
                SCREEN.print(f"{objects:,} objects: {_memory_numbers(runs[-1])[0]} MiB")
    return runs


def show_memory(runs: list[dict[str, float]]) -> None:
    table = Table(title="instar alone, strategy None, objects of 1 KiB")
    for column in ("objects", "peak RSS MiB", "client CPU ms/object", "rewrite: objects/s"):
        table.add_column(column, justify="right")
    for run in runs:
        table.add_row(f"{run['objects']:,}", *_memory_numbers(run))
    Console().print(table)


def _memory_numbers(run: dict[str, float]) -> tuple[str, str, str]:
    rate, cpu = run["objects"] / run["seconds"], run["cpu_seconds"] * 1000 / run["objects"]
    return f"{run['rss_mib']:.0f}", f"{cpu:.2f}", f"{rate:.0f}"


def summary(results: dict[str, list[dict[str, float]]], objects: int) -> dict[str, dict[str, float]]:
    """Medians; ``ratio`` is against the best raw run's median in this same run."""
    medians = {
        name: {field: statistics.median(run[field] for run in runs) for field in runs[0]}
        for name, runs in results.items()
        if runs
    }
    limit = min(medians[name]["seconds"] for name in RAW)
    for found in medians.values():
        found["objects_per_second"] = objects / found["seconds"]
        found["ratio"] = limit / found["seconds"]
        found["cpu_ms_per_object"] = found["cpu_seconds"] * 1000 / objects
    return medians


def show(medians: dict[str, dict[str, float]], objects: int, rounds: int, settle_seconds: float) -> None:
    table = Table(title=f"{objects:,} objects of 1 KiB, strategy None, medians of {rounds} rounds in one run")
    columns = ("rewrite: objects/s", "of the limit", "client CPU ms/object", "peak RSS MiB", "proof s", "total s")
    table.add_column("client")
    for column in columns:
        table.add_column(column, justify="right")
    for name, found in medians.items():
        table.add_row(
            name,
            f"{found['objects_per_second']:.0f}",
            f"{found['ratio']:.2f}",
            f"{found['cpu_ms_per_object']:.2f}",
            f"{found['rss_mib']:.0f}",
            f"{found['proof_seconds']:.1f}" if "proof_seconds" in found else "",
            f"{found['total_seconds']:.1f}" if "total_seconds" in found else f"{found['seconds']:.1f}",
        )
    page = Console(width=110) if not sys.stdout.isatty() else Console()
    page.print(table)
    page.print(f"instar's total includes a settle time of {settle_seconds:.0f} s; the others prove nothing")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--settle", type=float, default=10.0)
    parser.add_argument("--json", type=Path, help="also write every run there")
    parser.add_argument("--memory", metavar="N,N,...", help="only instar's peak memory at so many objects")
    chosen = parser.parse_args()
    import uvloop

    if chosen.memory:
        runs = uvloop.run(memory(sorted(int(size) for size in chosen.memory.split(",")), chosen.settle))
        show_memory(runs)
        if chosen.json:
            chosen.json.write_text(json.dumps({"memory": runs}, indent=2) + "\n")
        return
    results = uvloop.run(bench(chosen.objects, chosen.rounds, chosen.settle))
    medians = summary(results, chosen.objects)
    show(medians, chosen.objects, chosen.rounds, chosen.settle)
    if chosen.json:
        chosen.json.write_text(json.dumps({"runs": results, "medians": medians}, indent=2) + "\n")


if __name__ == "__main__":
    main()
