"""What carrying costs: whole webhook calls, bytes in and bytes out, beside the bare converter in the same run.

    python bench/convert.py [--rounds 7] [--sizes 2,20,200] [--json FILE] [--profile CASE]

*bare* decodes the same review, calls the same function on the same object and encodes the answer, all with orjson: no
pruning, no defaults, no check, nothing carried. The object is a fleet: items with an identity, each with fields, a map
and a list without identity; half of the metadata is managedFields, as in real objects. The functions rename a field of
the object and one of each item, and lose what the other version cannot say.

==================  ===================================================================================================
case                the call
==================  ===================================================================================================
nothing carried     an object that survives
3 unedited          it brings 3 entries and the view that was put with them
3 edited            the same after a client changed one field beside them
50 edited           50 entries, after such an edit
==================  ===================================================================================================

The contenders take turns, and the least of their rounds counts: what is slower than that was somebody else's work.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import json
import pstats
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table

import instar.conversion as conversion
from instar.model import crd as crd_model

GROUP, KIND = "bench.instar.dev", "Fleet"
CASES = {"nothing carried": 0, "3 unedited": 3, "3 edited": 3, "50 edited": 50}
TARGETS = {"nothing carried": 4.0, "3 unedited": 4.0, "50 edited": 8.0}
Document = dict[str, Any]


def schema(size: str, image: str, *, more: bool) -> Document:
    text = {"type": "string"}
    item = {
        "name": text,
        image: text,
        "replicas": {"type": "integer", "format": "int32"},
        "enabled": {"type": "boolean"},
        "limits": {"type": "object", "additionalProperties": text},
        "command": {"type": "array", "items": text},
    }
    spec: Document = {size: text, "paused": {"type": "boolean", "default": False}}
    if more:
        item["policy"] = text
        spec["note"] = text
    spec["members"] = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {"type": "object", "required": ["name"], "properties": item},
    }
    status = {"type": "object", "properties": {"phase": text, "ready": {"type": "integer"}}}
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}, "status": status}}


def crd() -> crd_model.Crd:
    versions = [
        {"name": name, "served": True, "storage": name == "v1", "schema": {"openAPIV3Schema": of}}
        for name, of in (
            ("v1alpha1", schema("size", "img", more=False)),
            ("v1", schema("flavour", "image", more=True)),
        )
    ]
    names = {"kind": KIND, "listKind": "FleetList", "plural": "fleets", "singular": "fleet"}
    return crd_model.parse(
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"fleets.{GROUP}"},
            "spec": {"group": GROUP, "names": names, "scope": "Namespaced", "versions": versions},
        }
    )


def to_v1(fleet: Document) -> Document:
    spec = fleet["spec"]
    spec["flavour"] = spec.pop("size")
    for member in spec["members"]:
        member["image"] = member.pop("img")
    return fleet


def from_v1(fleet: Document) -> Document:
    spec = fleet["spec"]
    spec["size"] = spec.pop("flavour")
    spec.pop("note", None)
    for member in spec["members"]:
        member["img"] = member.pop("image")
        member.pop("policy", None)
    return fleet


def member(index: int) -> Document:
    return {
        "name": f"member-{index}",
        "image": f"registry.example.com/team/image-{index}:1.{index}.0",
        "replicas": index % 7,
        "enabled": index % 2 == 0,
        "limits": {"cpu": f"{index % 9}", "memory": f"{index % 64}Gi", "example.com/gpu": "0"},
        "command": ["/bin/run", "--verbose", f"--port={8000 + index}"],
    }


def whole(kib: int, entries: int) -> Document:
    """A stored object at v1 of about this size, which loses so many leaves at v1alpha1."""
    fleet: Document = {
        "apiVersion": f"{GROUP}/v1",
        "kind": KIND,
        "metadata": {
            "name": "north",
            "namespace": "default",
            "uid": "6f3c1c0a-5f64-4c1e-9a53-0d3d0c5e9a11",
            "generation": 3,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app.kubernetes.io/name": "fleet", "team": "north"},
            "annotations": {"example.com/owner": "north"},
        },
        "spec": {"flavour": "large", "paused": True, "members": []},
        "status": {"phase": "Ready", "ready": 3},
    }
    members = fleet["spec"]["members"]
    while len(orjson.dumps(fleet)) < kib * 1024 * 2 // 3 or len(members) < entries:
        members.append(member(len(members)))
    for index in range(entries):
        members[index]["policy"] = f"policy-{index}"
    fields = {f'k:{{"name":"{one["name"]}"}}': {".": {}, "f:image": {}, "f:replicas": {}} for one in members}
    fleet["metadata"]["managedFields"] = [
        {"manager": "kubectl", "operation": "Apply", "apiVersion": f"{GROUP}/v1", "fieldsV1": {"f:spec": fields}}
    ]
    return fleet


def review(fleet: Document, desired: str) -> bytes:
    request = {"uid": "3b6d2b3c-8c9d-4e2f-8f0a-111111111111", "desiredAPIVersion": desired, "objects": [fleet]}
    return orjson.dumps({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request})


def bare(body: bytes, function: conversion.Converter, desired: str) -> bytes:
    """The review answered with the function alone."""
    request = orjson.loads(body)["request"]
    converted = []
    for fleet in request["objects"]:
        answer = function(fleet)
        answer["apiVersion"] = desired
        converted.append(answer)
    response = {"uid": request["uid"], "result": {"status": "Success"}, "convertedObjects": converted}
    return orjson.dumps({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response})


def calls(bound: conversion.Bound, kib: int, case: str) -> dict[str, Callable[[], bytes]]:
    """The same call by both contenders: v1alpha1 to v1, with what v1alpha1 was given to carry."""
    old = bound.convert(whole(kib, CASES[case]), "v1alpha1")
    notes = [key for key in old["metadata"]["annotations"] if key.startswith("carried.")]
    expected = CASES[case] + 1 if CASES[case] else 0
    if len(notes) != expected:
        raise SystemExit(f"{case}: {len(notes)} annotations of ours instead of {expected}")
    if case.endswith(" edited"):
        old["spec"]["members"][0]["replicas"] += 1
    body, desired = review(old, f"{GROUP}/v1"), f"{GROUP}/v1"
    bounds: Mapping[tuple[str, str], Any] = {(GROUP, KIND): bound}
    _judge(conversion.review(bounds, body), CASES[case])
    return {"bare": lambda: bare(body, to_v1, desired), "instar": lambda: conversion.review(bounds, body)}


def _judge(answer: bytes, entries: int) -> None:
    """The answer is right: everything carried is back."""
    response = orjson.loads(answer)["response"]
    if response["result"]["status"] != "Success":
        raise SystemExit(response["result"]["message"])
    members = response["convertedObjects"][0]["spec"]["members"]
    found = [one["policy"] for one in members if "policy" in one]
    if found != [f"policy-{index}" for index in range(entries)]:
        raise SystemExit(f"not restored: {found}")


def least(contenders: Mapping[str, Callable[[], bytes]], rounds: int) -> dict[str, float]:
    """Seconds of CPU a call: the least of the rounds, the contenders in turns."""
    counts = {}
    for name, call in contenders.items():
        begun = time.process_time()
        for _ in range(20):
            call()
        counts[name] = max(20, int(20 * 0.05 / max(time.process_time() - begun, 1e-6)))
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            begun = time.process_time()
            for _ in range(counts[name]):
                call()
            found[name].append((time.process_time() - begun) / counts[name])
    return {name: min(times) for name, times in found.items()}


def measured(sizes: list[int], rounds: int) -> list[Document]:
    bound = conversion.bind(
        conversion.Conversion(
            group=GROUP,
            kind=KIND,
            hub="v1",
            spokes=(conversion.Spoke(version="v1alpha1", to_hub=to_v1, from_hub=from_v1),),
        ),
        crd(),
    )
    rows = []
    for kib in sizes:
        for case in CASES:
            contenders = calls(bound, kib, case)
            size = len(contenders["bare"]())
            times = least(contenders, rounds)
            rows.append({"kib": kib, "case": case, "bytes": size, **times, "ratio": times["instar"] / times["bare"]})
    return rows


def show(rows: list[Document]) -> None:
    table = Table("object", "case", "bytes", "bare", "instar", "ratio", "target")
    for row in rows:
        target = TARGETS.get(row["case"])
        table.add_row(
            f"{row['kib']} KiB",
            row["case"],
            f"{row['bytes']:,}",
            f"{row['bare'] * 1e6:,.0f} us",
            f"{row['instar'] * 1e6:,.0f} us",
            f"{row['ratio']:.1f}",
            f"<= {target:.0f}{'' if row['ratio'] <= target else ' MISSED'}" if target else "",
        )
    Console().print(table)


def profile(kib: int, case: str) -> None:
    bound = conversion.bind(
        conversion.Conversion(
            group=GROUP,
            kind=KIND,
            hub="v1",
            spokes=(conversion.Spoke(version="v1alpha1", to_hub=to_v1, from_hub=from_v1),),
        ),
        crd(),
    )
    call = calls(bound, kib, case)["instar"]
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(200):
        call()
    profiler.disable()
    pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(25)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--sizes", default="2,20,200", help="KiB of the objects")
    parser.add_argument("--json", type=Path, help="write the rows here")
    parser.add_argument("--profile", metavar="CASE", help="profile one case at the first size instead")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    if options.profile:
        return profile(sizes[0], options.profile)
    gc.disable()
    rows = measured(sizes, options.rounds)
    show(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return None


if __name__ == "__main__":
    main()
