"""Free ports on loopback: taken all at once so that no two are the same, and given back just before they are used.

Another program may take one in between; whoever starts a control plane must be ready to try again.
"""

from __future__ import annotations

import contextlib
import socket

__all__ = ["free"]


def free(count: int) -> list[int]:
    """That many different ports that nobody listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
