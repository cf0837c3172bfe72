"""The dialogue about one object against a model of an API server that fails in every way there is."""

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st

from instar.migration import object as dialogue
from instar.migration import refusal

FAULTS = ("none", "conflict", "busy", "again", "lost answer", "no answer", "deleted", "starting", "rbac", "denied")


@dataclasses.dataclass
class Server:
    """One object in etcd; ``faults`` is what befalls each request in turn."""

    faults: list[str]
    version: str = "old"
    revision: int = 10
    there: bool = True
    requests: int = 0

    def others_write(self) -> None:
        """Another client, through a server that has caught up."""
        self.version, self.revision = "new", self.revision + 3

    def act(self, action: dialogue.Action) -> dialogue.Outcome:
        if isinstance(action, dialogue.Pause):
            return None
        self.requests += 1
        fault = self.faults.pop(0) if self.faults else "none"
        if fault == "deleted":
            self.there = False
        refused = {
            "busy": (429, "TooManyRequests", "storage is (re)initializing"),
            "again": (500, "InternalError", "context canceled"),
            "no answer": (0, "NoAnswer", "connection reset"),
            "starting": (404, "NotFound", "404 page not found"),
            "rbac": (403, "Forbidden", 'things.x "a" is forbidden: User "u" cannot patch resource "things" in API'),
            "denied": (403, "Forbidden", 'admission webhook "w" denied the request: no'),
        }
        if fault in refused:
            code, reason, message = refused[fault]
            return refusal.Refused(code=code, reason=reason, message=message, retry_after_seconds=1)
        if not self.there:
            return refusal.Refused(code=404, reason="NotFound", message='things.x "a" not found')
        if fault == "conflict":
            self.others_write()
        return self.get() if isinstance(action, dialogue.Get) else self.patch(action, fault)

    def get(self) -> dialogue.Outcome:
        return dialogue.Item(namespace="n", name="a", uid="u", resource_version=str(self.revision))

    def patch(self, action: dialogue.Patch, fault: str) -> dialogue.Outcome:
        if action.body != b"{}" and action.body != b'{"metadata":{"resourceVersion":"%d"}}' % self.revision:
            return refusal.Refused(code=409, reason="Conflict", message="the object has been modified")
        if self.version == "old":
            self.version, self.revision = "new", self.revision + 1
        if fault == "lost answer":
            return refusal.Refused(code=0, reason="NoAnswer", message="connection reset")
        return dialogue.Answered(resource_version=str(self.revision))


def converse(server: Server, attempts: int, revision: str, *, insist: bool = False) -> dialogue.Result:
    item = dialogue.Item(namespace="n", name="a", uid="u", resource_version=revision)
    talk = dialogue.touch(item, attempts=attempts, insist=insist)
    action = next(talk)
    try:
        while True:
            action = talk.send(server.act(action))
    except StopIteration as end:
        return end.value


@settings(max_examples=400)
@given(
    faults=st.lists(st.sampled_from(FAULTS), max_size=12),
    attempts=st.integers(1, 5),
    version=st.sampled_from(["old", "new"]),
    listed=st.sampled_from(["10", "7", ""]),
    insist=st.booleans(),
)
def test_what_the_dialogue_claims_is_true(
    faults: list[str], attempts: int, version: str, listed: str, insist: bool
) -> None:
    """UNCHANGED, MOVED and CONTENDED only if the object is stored at the new version; GONE only if it is not there."""
    server = Server(faults=list(faults), version=version)
    result = converse(server, attempts, listed, insist=insist)
    if result.kind in (dialogue.Kind.UNCHANGED, dialogue.Kind.MOVED, dialogue.Kind.CONTENDED):
        assert server.version == "new"
        assert result.revision == str(server.revision)
    if result.kind is dialogue.Kind.GONE:
        assert not server.there
    if result.kind is dialogue.Kind.STOPPED:
        assert "rbac" in faults
    if result.kind is dialogue.Kind.QUARANTINED:
        assert result.refused is not None
        assert result.refused.code in (403, 500)


@given(faults=st.lists(st.sampled_from(FAULTS), max_size=40), attempts=st.integers(1, 5), insist=st.booleans())
def test_the_dialogue_is_bounded(faults: list[str], attempts: int, insist: bool) -> None:
    """At most ``attempts`` writes, one read after each conflict, one last way; pauses asked for do not count."""
    server = Server(faults=list(faults))
    busy = faults.count("busy")
    converse(server, attempts, "10", insist=insist)
    assert server.requests <= 2 * attempts + busy + insist


@given(attempts=st.integers(1, 5), version=st.sampled_from(["old", "new"]))
def test_an_object_in_conflict_each_time_is_insisted_on(attempts: int, version: str) -> None:
    """Somebody writes before each attempt: unknown without the last way, current and contended with it."""
    faults = ["conflict", "none"] * (attempts - 1) + ["conflict"]
    assert converse(Server(faults=list(faults), version=version), attempts, "10").out_of_turns
    result = converse(Server(faults=list(faults), version=version), attempts, "10", insist=True)
    assert (result.kind, result.conflicts) == (dialogue.Kind.CONTENDED, attempts)


@given(version=st.sampled_from(["old", "new"]))
def test_a_quiet_object_takes_one_request(version: str) -> None:
    """Without trouble one request tells which it was: moved if it was old, unchanged if it was current."""
    server = Server(faults=[], version=version)
    result = converse(server, 3, "10")
    assert server.requests == 1
    assert result.kind is (dialogue.Kind.MOVED if version == "old" else dialogue.Kind.UNCHANGED)
