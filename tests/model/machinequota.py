"""A MachineQuota as its two versions say it, by hand: the same words, some under another name; nothing is carried."""

from __future__ import annotations

from tests.model import example
from tests.model.relations import Field, Relation, Shell

NAMES = {
    "maxMachines": ("spec", "maxMachines", "maxMachines"),
    "maxCpu": ("spec", "maxTotalCpu", "maxCpu"),
    "maxMemory": ("spec", "maxTotalMemory", "maxMemory"),
    "usedMachines": ("status", "usedMachines", "usedMachines"),
    "usedCpu": ("status", "usedTotalCpu", "usedCpu"),
    "usedMemory": ("status", "usedTotalMemory", "usedMemory"),
}
"""By v1's name: the part, and the name at v1alpha1 and at v1."""

EXAMPLE = example.Example(
    name="machinequota",
    relations=(
        *(Relation(name=part, old=Shell((part,)), new=Shell((part,))) for part in ("spec", "status")),
        *(
            Relation(name=name, old=Field((part, old)), new=Field((part, new)))
            for name, (part, old, new) in NAMES.items()
        ),
    ),
    applied=("maxMachines", "maxCpu", "maxMemory"),
    most_carried={"v1alpha1": 0, "v1": 0},
)
