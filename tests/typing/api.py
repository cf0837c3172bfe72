"""The public API as its users type it: checked by mypy, never run."""

from typing import assert_type

from instar import conversion, errors, loading, testing
from instar.model import crd


def to_hub(widget: dict[str, object]) -> dict[str, object]:
    return widget


definition = conversion.Conversion(
    group="example.com",
    kind="Widget",
    hub="v1",
    spokes=(conversion.Spoke(version="v1alpha1", to_hub=to_hub, from_hub=to_hub),),
)

bound = conversion.bind(definition, crd.parse({}))
assert_type(bound, conversion.Bound)
assert_type(loading.conversion("conversion.yaml"), conversion.Conversion)
assert_type(loading.digest(bound), str)
assert_type(testing.laws("conversion.yaml", "crd.yaml"), list[testing.Check])
assert_type(testing.laws(definition, {}), list[testing.Check])
assert_type(crd.storage_version(crd.parse({})), str)


def reason(error: errors.InstarError) -> str:
    return error.reason
