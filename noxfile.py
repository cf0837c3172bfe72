"""The one list of what is checked; ``make`` runs it inside ``.venv``."""

import nox

nox.options.default_venv_backend = "none"

UNIT = (
    "tests/unit",
    "tests/golden",
    "tests/wire",
    "tests/cases",
    "tests/test_docs.py",
    "tests/test_tutorial.py",
)


@nox.session
def lint(session: nox.Session) -> None:
    session.run("ruff", "check", ".", external=True)
    session.run("ruff", "format", "--check", ".", external=True)
    session.run("lint-imports", external=True)


@nox.session
def types(session: nox.Session) -> None:
    session.run("mypy", external=True)


@nox.session
def unit(session: nox.Session) -> None:
    session.run("pytest", "-q", "-n", "2", "-m", "not soak", *UNIT, external=True)


@nox.session
def laws(session: nox.Session) -> None:
    session.run("pytest", "-q", "-n", "2", "-m", "not soak", "tests/laws", external=True)


@nox.session
def cluster(session: nox.Session) -> None:
    session.run("instar", "controlplane", "build", "--with-controller-manager", external=True)
    words = ("-n", "2", "--dist", "loadfile", "--durations=15")  # each worker has a control plane of its own
    session.run("pytest", "-q", *words, "-m", "not soak", "tests/cluster", external=True)


@nox.session
def soak(session: nox.Session) -> None:
    session.run("pytest", "-q", "-m", "soak", "tests", external=True)


@nox.session
def bench(session: nox.Session) -> None:
    for script in ("convert", "extremes", "migrate"):
        session.run("python", f"bench/{script}.py", external=True)
