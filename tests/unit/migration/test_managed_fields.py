"""managedFields that name a version about to go."""

from typing import Any

from instar.migration import managed_fields


def entry(manager: str, version: str, fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    base = {"manager": manager, "operation": "Update", "apiVersion": f"x.io/{version}", "fieldsType": "FieldsV1"}
    return base | {"fieldsV1": fields} | more


def test_only_the_version_changes() -> None:
    """Order, paths, times and other groups' entries stay as they were."""
    entries = [
        entry("a", "v1", {"f:spec": {"f:x": {}}}, time="2026-01-01T00:00:00Z"),
        entry("b", "v2", {"f:spec": {"f:y": {}}}),
        {"manager": "c", "operation": "Update", "apiVersion": "other.io/v1", "fieldsV1": {}},
    ]
    expected = [{**entries[0], "apiVersion": "x.io/v2"}, *entries[1:]]
    assert managed_fields.rewrite(entries, "x.io", {"v1"}, "x.io/v2") == expected


def test_twins_are_joined() -> None:
    """One manager's entries at both versions become one that owns what both owned, with the later time."""
    entries = [
        entry("a", "v1", {"f:spec": {"f:x": {}, "f:deep": {"f:one": {}}}}, time="2026-01-01T00:00:00Z"),
        entry("a", "v2", {"f:spec": {"f:y": {}, "f:deep": {"f:two": {}}}}, time="2026-02-01T00:00:00Z"),
        entry("a", "v1", {"f:status": {}}, subresource="status"),
    ]
    first, status = managed_fields.rewrite(entries, "x.io", {"v1"}, "x.io/v2")
    assert first["fieldsV1"] == {"f:spec": {"f:x": {}, "f:y": {}, "f:deep": {"f:one": {}, "f:two": {}}}}
    assert first["time"] == "2026-02-01T00:00:00Z"
    assert status == {**entries[2], "apiVersion": "x.io/v2"}


def test_operations_are_not_joined() -> None:
    """What a manager applied and what it updated are two things."""
    entries = [entry("a", "v1", {"f:x": {}}, operation="Apply"), entry("a", "v2", {"f:y": {}})]
    assert len(managed_fields.rewrite(entries, "x.io", {"v1"}, "x.io/v2")) == 2
