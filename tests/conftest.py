"""What holds for all tests: an example that is drawn depends on its test alone, and Ctrl-C reaches what tests start."""

from __future__ import annotations

import signal

from hypothesis.internal.conjecture import providers

# Hypothesis also draws constants that it finds in whatever modules of the project are imported: then an edit anywhere,
# or another choice of tests, draws other examples, and no failure could be repeated.
assert callable(providers._get_local_constants)
providers._get_local_constants = lambda: providers._local_constants

# A shell ignores SIGINT for what it runs in the background, and children inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
