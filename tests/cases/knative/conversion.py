"""A filter by source and type is a case of a filter by attributes; v1beta1 only has the latter.

The two are one filter: what v1alpha1 once said of it comes back whole or not at all.
"""

from instar.conversion import Conversion, Group, Spoke

FILTER = ("/spec/filter/sourceAndType/source", "/spec/filter/sourceAndType/type", "/spec/filter/attributes")


def to_v1beta1(trigger):
    spec = trigger.get("spec", {})
    chosen = spec.get("filter", {}).pop("sourceAndType", None)
    if chosen:
        spec["filter"].setdefault("attributes", {}).update(chosen)
    if "subscriberURI" in spec:
        spec["subscriber"] = {"uri": spec.pop("subscriberURI")}
    return trigger


def from_v1beta1(trigger):
    spec = trigger.get("spec", {})
    subscriber = spec.pop("subscriber", {})
    if "uri" in subscriber:
        spec["subscriberURI"] = subscriber["uri"]
    return trigger


conversion = Conversion(
    group="cases.instar.dev",
    kind="Trigger",
    hub="v1beta1",
    spokes=(Spoke(version="v1alpha1", to_hub=to_v1beta1, from_hub=from_v1beta1),),
    groups=(Group(version="v1alpha1", paths=FILTER),),
)
