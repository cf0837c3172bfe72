"""Tenant: v1alpha1 says the quota in one string, v1 in fields, and v1 can say more.

Two functions and nothing else: what v1alpha1 cannot say (storage, owners' roles, ...) and what v1 cannot (the spelling
of the string, the cost centre) is carried by the framework.
"""

from instar.conversion import Conversion, Spoke, Unconvertible

QUOTA = {"cpu": "cpu", "mem": "memory"}
TIERS = {"standard": "standard", "premium": "premium", "dedicated": "premium"}


def to_v1(tenant):
    spec, status = tenant.get("spec"), tenant.get("status")
    if spec is not None:
        rename(spec, "title", "displayName")
        rename(spec, "class", "tier")
        replace(spec, "quota", lambda text: split(text, "spec.quota"))
        replace(spec, "owners", lambda names: [{"name": name} for name in names])
    if status is not None:
        replace(status, "used", lambda text: split(text, "status.used"))
    return tenant


def from_v1(tenant):
    spec, status = tenant.get("spec"), tenant.get("status")
    if spec is not None:
        rename(spec, "displayName", "title")
        rename(spec, "tier", "class")
        replace(spec, "class", lambda tier: TIERS.get(tier, "standard"))
        replace(spec, "quota", join)
        replace(spec, "owners", lambda owners: [owner["name"] for owner in owners if "name" in owner])
    if status is not None:
        replace(status, "used", join)
    return tenant


def split(text, field):
    """`cpu=8,mem=32Gi` as {"cpu": "8", "memory": "32Gi"}; order and spaces do not matter."""
    if not isinstance(text, str):
        raise Unconvertible(field, text, "is no text")
    quota = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if name not in QUOTA or not equals:
            raise Unconvertible(field, text, f"{part.strip()!r} is neither cpu=... nor mem=...")
        if QUOTA[name] in quota:
            raise Unconvertible(field, text, f"{name} is there twice")
        if not value:
            raise Unconvertible(field, text, f"{name} is empty")
        quota[QUOTA[name]] = value
    return quota


def join(quota):
    """The string for what v1alpha1 can say of a quota; None if that is nothing."""
    said = [f"{name}={quota[field]}" for name, field in QUOTA.items() if field in quota]
    return ",".join(said) or None


def rename(holder, old, new):
    if old in holder:
        holder[new] = holder.pop(old)


def replace(holder, field, convert):
    """The field converted where it is there; a null, and what converts to nothing, is dropped."""
    value = holder.pop(field, None)
    converted = None if value is None else convert(value)
    if converted is not None:
        holder[field] = converted


conversion = Conversion(
    group="platform.acme.io",
    kind="Tenant",
    hub="v1",
    spokes=(Spoke(version="v1alpha1", to_hub=to_v1, from_hub=from_v1),),
)
