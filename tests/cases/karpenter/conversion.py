"""v1 has no kubelet, refers to a group instead of an apiVersion, and gives another name to a policy."""

from instar.conversion import Conversion, Spoke

POLICY = {"WhenEmpty": "WhenEmpty", "WhenUnderutilized": "WhenEmptyOrUnderutilized"}
BACK = {new: old for old, new in POLICY.items()}


def to_v1(pool):
    spec = pool.get("spec", {})
    spec.pop("kubelet", None)
    reference = spec.get("nodeClassRef", {})
    if "apiVersion" in reference:
        reference["group"] = reference.pop("apiVersion").partition("/")[0]
    policy(spec, POLICY)
    return pool


def from_v1(pool):
    spec = pool.get("spec", {})
    reference = spec.get("nodeClassRef", {})
    if "group" in reference:
        reference["apiVersion"] = reference.pop("group") + "/v1"
    policy(spec, BACK)
    return pool


def policy(spec, names):
    disruption = spec.get("disruption", {})
    if "consolidationPolicy" in disruption:
        disruption["consolidationPolicy"] = names[disruption["consolidationPolicy"]]


conversion = Conversion(
    group="cases.instar.dev",
    kind="Pool",
    hub="v1",
    spokes=(Spoke(version="v1beta1", to_hub=to_v1, from_hub=from_v1),),
)
