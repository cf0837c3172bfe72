"""Widget: v1alpha1 has two sizes, v1 any number of replicas. 3 replicas read as small, and stay 3."""

from instar.conversion import Conversion, Spoke, Unconvertible

REPLICAS = {"small": 1, "large": 5}


def to_v1(widget):
    spec = widget.get("spec")
    if spec is not None:
        size = spec.pop("size", None)
        if size is not None:
            if size not in REPLICAS:
                raise Unconvertible("spec.size", size, "is neither small nor large")
            spec["resources"] = {"replicas": REPLICAS[size]}
    return widget


def from_v1(widget):
    spec = widget.get("spec")
    if spec is not None:
        resources = spec.pop("resources", None) or {}
        if resources.get("replicas") is not None:
            spec["size"] = "large" if resources["replicas"] >= REPLICAS["large"] else "small"
    return widget


conversion = Conversion(
    group="platform.acme.io",
    kind="Widget",
    hub="v1",
    spokes=(Spoke(version="v1alpha1", to_hub=to_v1, from_hub=from_v1),),
)
