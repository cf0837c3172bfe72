"""How long the extremes take: the tests of deep, wide, huge and malformed input, and of proofs, on a clock.

    python bench/extremes.py [--json FILE]

The tests say what is right; here the same calls are timed, in CPU seconds of this process, so that other processes on
the machine count little. A wide object is converted once in one test and then back: two calls, two limits.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console
from rich.markup import escape
from rich.table import Table

ROOT = Path(__file__).parents[1]
EXTREMES, PROOFS = "tests/unit/conversion/test_extremes.py", "tests/unit/testing/test_proving.py"
LIMITS = {EXTREMES: 2.0, PROOFS: 10.0}
PROOFS_TIMED = "thousand_objects or mutant_of_tenant"


class Clock:
    """A pytest plugin: CPU seconds by test."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        gc.collect()
        begun = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.process_time() - begun


def limit(test: str) -> float:
    calls = 2 if "test_wide_objects" in test else 1
    return calls * LIMITS[test.partition("::")[0]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    clock = Clock()
    for words in ([EXTREMES], [PROOFS, "-k", PROOFS_TIMED]):
        code = pytest.main(["-q", "--rootdir", str(ROOT), "-p", "no:cacheprovider", *words], plugins=[clock])
        if code:
            raise SystemExit(f"{words[0]} fails: no figures")
    table = Table(title="extremes, CPU seconds")
    for heading in ("test", "seconds", "limit"):
        table.add_column(heading, justify="left" if heading == "test" else "right")
    for test, seconds in sorted(clock.seconds.items(), key=lambda one: -one[1] / limit(one[0])):
        missed = "" if seconds <= limit(test) else " MISSED"
        table.add_row(escape(test.partition("::")[2]), f"{seconds:.2f}", f"{limit(test):g}{missed}")
    Console(width=120).print(table)
    if options.json:
        options.json.write_text(json.dumps(clock.seconds, indent=2) + "\n")


if __name__ == "__main__":
    main()
