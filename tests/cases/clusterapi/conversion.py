"""A reference gets a parent, a network its own object, and each version has port fields that the other lacks."""

from instar.conversion import Conversion, Spoke


def to_v1beta1(template):
    spec = template.get("spec", {})
    if "cloudName" in spec:
        spec["identityRef"] = {"cloudName": spec.pop("cloudName")}
    for port in spec.get("ports", ()):
        if "network" in port:
            port["network"] = {"id": port["network"]}
    return template


def from_v1beta1(template):
    spec = template.get("spec", {})
    cloud = spec.pop("identityRef", {}).get("cloudName")
    if cloud is not None:
        spec["cloudName"] = cloud
    for port in spec.get("ports", ()):
        network = port.pop("network", {})
        if "id" in network:
            port["network"] = network["id"]
    return template


conversion = Conversion(
    group="cases.instar.dev",
    kind="MachineTemplate",
    hub="v1beta1",
    spokes=(Spoke(version="v1alpha7", to_hub=to_v1beta1, from_hub=from_v1beta1),),
)
