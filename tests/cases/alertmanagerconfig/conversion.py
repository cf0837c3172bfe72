"""A matcher says how it matches once at v1beta1, in two fields at v1alpha1; the list of intervals has a new name."""

from instar.conversion import Conversion, Spoke


def to_v1beta1(route):
    spec = route.get("spec", {})
    if "muteTimeIntervals" in spec:
        spec["timeIntervals"] = spec.pop("muteTimeIntervals")
    for matcher in spec.get("inhibit", ()):
        regex = matcher.pop("regex", False)
        matcher["matchType"] = matcher.get("matchType") or ("=~" if regex else "=")
    spec.get("password", {}).pop("optional", None)
    return route


def from_v1beta1(route):
    spec = route.get("spec", {})
    if "timeIntervals" in spec:
        spec["muteTimeIntervals"] = spec.pop("timeIntervals")
    return route


conversion = Conversion(
    group="cases.instar.dev",
    kind="AlertRoute",
    hub="v1beta1",
    spokes=(Spoke(version="v1alpha1", to_hub=to_v1beta1, from_hub=from_v1beta1),),
)
