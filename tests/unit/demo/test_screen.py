"""What a run shows of its steps, in a pipe and on a terminal."""

from __future__ import annotations

import io

import pytest

from instar.demo import recorder, screen


def told(where: screen.Screen, *, fail: bool = False) -> recorder.Recorder:
    clock = iter(range(100))
    steps = recorder.Recorder(where, lambda: float(next(clock)))
    with steps.step("create", "Create them") as step:
        step.progress("created", 1, 2)
        step.progress("created", 2, 2)
        step.proof("2 of 2 [seen]")
        if fail:
            raise ValueError
    return steps


def test_a_pipe_gets_plain_lines() -> None:
    """One line for each thing said, no control characters, nothing twice."""
    out = io.StringIO()
    steps = told(screen.fitting(out))
    assert out.getvalue() == " 1  Create them\n    ... created\n    2 of 2 [seen]\n    done in 1 s\n"
    assert [(step.name, step.seconds, step.proofs) for step in steps.steps] == [("create", 1.0, ("2 of 2 [seen]",))]


def test_a_terminal_gets_the_result_when_the_step_ends() -> None:
    """The title, how long it took and each proof, as it was said: brackets are no markup."""
    out = io.StringIO()
    told(screen.Terminal(out))
    assert "✓  1  Create them  1 s" in out.getvalue()
    assert "2 of 2 [seen]" in out.getvalue()


@pytest.mark.parametrize("make", [screen.Plain, screen.Terminal])
def test_a_step_that_fails_is_shown_and_not_recorded(make: type[screen.Plain] | type[screen.Terminal]) -> None:
    """No proof of a step that did not end well."""
    out = io.StringIO()
    with pytest.raises(ValueError):
        told(make(out), fail=True)
    assert "failed" in out.getvalue() or "✗" in out.getvalue()
    assert "2 of 2" not in out.getvalue()
