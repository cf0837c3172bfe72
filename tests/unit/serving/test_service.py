"""What is counted and what is logged: enough to act on, nothing that a stranger or an object put there."""

from __future__ import annotations

import logging

import pytest
from tests.unit.serving import converters

from instar.serving import service


def ask(served: service.Service, body: bytes, path: str = "/convert") -> service.Response:
    intake = service.Intake(served)
    intake.feed(body, served.limits.body_bytes)
    return served.convert(path, intake)


def sample(served: service.Service, name: str, **labels: str) -> float | None:
    return served.metrics.registry.get_sample_value(f"instar_webhook_{name}", labels)


def test_requests_and_objects_are_counted_by_result() -> None:
    served = service.Service(converters.BOUNDS)
    ask(served, converters.body(count=3))
    ask(served, converters.body(fail="x"))
    ask(served, b"")
    assert [sample(served, "requests_total", result=result) for result in ("success", "failed", "unreadable")] == [
        1,
        1,
        1,
    ]
    labels = {"kind": "Tenant", "from_version": "v1alpha1", "to_version": "v1"}
    assert sample(served, "objects_total", **labels, result="success") == 3
    assert sample(served, "objects_total", **labels, result="ConversionFailed") == 1
    assert sample(served, "request_seconds_count") == 3
    assert sample(served, "requests_in_flight") == 0


def test_strangers_cannot_make_labels() -> None:
    """The endpoint is open to all: a thousand kinds of a stranger are one time series."""
    served = service.Service(converters.BOUNDS)
    for index in range(1000):
        ask(served, converters.body().replace(b'"Tenant"', b'"Kind%d"' % index))
    names = {
        found.labels["kind"]
        for metric in served.metrics.registry.collect()
        for found in metric.samples
        if "kind" in found.labels
    }
    assert names == {"unknown"}


def test_logs_hold_no_contents_at_the_default_level(caplog: pytest.LogCaptureFixture) -> None:
    """A message quotes values, and values may be secrets: who and where is logged, what is not."""
    served = service.Service(converters.BOUNDS)
    with caplog.at_level(logging.INFO, "instar"):
        ask(served, converters.body(fail="hunter2"))
    (record,) = caplog.records
    assert (record.fields["name"], record.fields["path"]) == ("acme", "/spec/fail")
    assert "hunter2" not in f"{record.__dict__}"


def test_each_kind_has_a_path_of_its_own() -> None:
    served = service.Service(converters.BOUNDS, aliases={"tenants": (converters.GROUP, "Tenant")})
    for path in ("/convert", "/convert/tenants", "/convert/"):
        assert converters.response(ask(served, converters.body(), path).body)["result"] == {"status": "Success"}
    found = converters.response(ask(served, converters.body(), "/convert/widgets").body)
    assert found["uid"] == "7f3"
    assert found["result"]["message"] == "nothing is served at /convert/widgets, only /convert, /convert/tenants"
