"""What each refusal of the API server means; the messages are as kube-apiserver 1.37.2 words them."""

import pytest

from instar.migration import refusal

RBAC = 'things.x.io "a" is forbidden: User "u" cannot patch resource "things" in API group "x.io" in the namespace "n"'
POLICY = (
    "things.x.io \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: "
    "failed expression: false"
)


def refused(code: int, message: str) -> refusal.Refused:
    return refusal.Refused(code=code, reason="R", message=message)


@pytest.mark.parametrize(
    ("code", "message", "sort"),
    [
        (404, 'things.x.io "a" not found', refusal.Sort.GONE),
        (404, 'things.x.io "b" not found', refusal.Sort.AGAIN),
        (404, "404 page not found", refusal.Sort.AGAIN),
        (404, "the server could not find the requested resource", refusal.Sort.AGAIN),
        (409, "the object has been modified", refusal.Sort.CONFLICT),
        (429, "storage is (re)initializing", refusal.Sort.WAIT),
        (503, "apiserver is shutting down", refusal.Sort.WAIT),
        (504, "Timeout: request did not complete within requested timeout", refusal.Sort.AGAIN),
        (500, "conversion webhook for x.io/v1, Kind=Thing failed: no", refusal.Sort.AGAIN),
        (0, "connection reset", refusal.Sort.AGAIN),
        (401, "Unauthorized", refusal.Sort.STOP),
        (403, RBAC, refusal.Sort.STOP),
        (403, 'admission webhook "w.x.io" denied the request: no', refusal.Sort.PERMANENT),
        (403, POLICY, refusal.Sort.PERMANENT),
        (
            422,
            'Thing.x.io "a" is invalid: spec: Invalid value: failed rule: self.n > oldSelf.n',
            refusal.Sort.PERMANENT,
        ),
        (405, "the server does not allow this method", refusal.Sort.PERMANENT),
    ],
)
def test_sort(code: int, message: str, sort: refusal.Sort) -> None:
    """Deleted only where the object is named; stopped only by RBAC; an admission plugin's no concerns one object."""
    assert refusal.sort(refused(code, message), "a") is sort


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("conversion webhook for x.io/v1, Kind=Thing failed: spec.size: no", "ConversionFailed"),
        ("request to convert CR from an invalid group/version: x.io/v1", "VersionRemoved"),
        (POLICY, "AdmissionPolicy"),
        ('admission webhook "w" denied the request', "AdmissionWebhook"),
        ("is invalid: spec: Invalid value: failed rule: self.n > oldSelf.n", "TransitionRule"),
        ('Thing.x.io "a" is invalid: size: Required value', "Invalid"),
        ("etcdserver: request is too large", "TooLarge"),
    ],
)
def test_classify_says_what_to_change(message: str, word: str) -> None:
    """Each kind of permanent refusal has a stable word and a remedy."""
    assert refusal.classify(refused(422, message)) == word
    assert refusal.describe(refused(422, message))


def test_an_unknown_refusal_keeps_the_servers_reason() -> None:
    """What no rule explains is still a finding, under Kubernetes' own reason."""
    assert refusal.classify(refused(418, "tea")) == "R"
    assert refusal.describe(refused(418, "tea")) == ""


def test_corrupt_keys() -> None:
    """The keys in a failed list, each once, in order."""
    message = (
        "failed to read one or more things.x.io from the storage: StorageError: corrupt object, Code: 7, Key: "
        "/registry/x.io/things/n/a, ResourceVersion: 0, AdditionalErrorMsg: bad StorageError: corrupt object, Code: 7, "
        "Key: /registry/x.io/things/n/b, ResourceVersion: 0"
    )
    assert refusal.corrupt_keys(message) == ("/registry/x.io/things/n/a", "/registry/x.io/things/n/b")
