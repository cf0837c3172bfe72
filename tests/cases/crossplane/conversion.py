"""Lists of at most one item at v1beta1 (where a list was all that the generator knew) are objects at v1beta2."""

from instar.conversion import Conversion, Spoke


def first(holder, name, inner=()):
    """The first item in place of the list; none where the list is empty. Further items are what v1beta2 cannot say."""
    if isinstance(holder.get(name), list):
        items = holder.pop(name)
        if items:
            holder[name] = items[0]
            for below in inner:
                first(holder[name], below)


def only(holder, name, inner=()):
    if isinstance(holder.get(name), dict):
        for below in inner:
            only(holder[name], below)
        holder[name] = [holder[name]]


ADDONS = ("httpLoadBalancing", "networkPolicyConfig")


def to_v1beta2(cluster):
    first(cluster.get("spec", {}).get("forProvider", {}), "addonsConfig", ADDONS)
    first(cluster.get("status", {}).get("atProvider", {}), "versioning")
    return cluster


def from_v1beta2(cluster):
    only(cluster.get("spec", {}).get("forProvider", {}), "addonsConfig", ADDONS)
    only(cluster.get("status", {}).get("atProvider", {}), "versioning")
    return cluster


conversion = Conversion(
    group="cases.instar.dev",
    kind="ManagedCluster",
    hub="v1beta2",
    spokes=(Spoke(version="v1beta1", to_hub=to_v1beta2, from_hub=from_v1beta2),),
)
