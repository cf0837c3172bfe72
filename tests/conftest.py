"""What holds for all tests: a drawn example depends on its test, and on nothing else."""

from __future__ import annotations

from hypothesis.internal.conjecture import providers

# Hypothesis also draws constants that it finds in whatever modules of the project are imported: then an edit anywhere,
# or another choice of tests, draws other examples, and no failure could be repeated.
assert callable(providers._get_local_constants)
providers._get_local_constants = lambda: providers._local_constants
