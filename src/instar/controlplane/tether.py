"""Runs one command that ends with its parent: the parent holds the other end of our standard input.

``python -m instar.controlplane.tether COMMAND...`` in a session of its own. When the input ends, however the parent
died, the whole group is killed: ``go build`` starts compilers of its own, which must not run on.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

__all__ = ["main"]


def main() -> None:
    """Run the command; leave with its exit code."""
    threading.Thread(target=_watch, daemon=True).start()
    code = subprocess.call(sys.argv[1:], stdin=subprocess.DEVNULL)
    sys.stdout.flush()
    os._exit(code if code >= 0 else 128 - code)


def _watch() -> None:
    while os.read(0, 1024):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
