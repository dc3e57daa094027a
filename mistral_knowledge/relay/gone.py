"""Whether a client hung up, where the server lets us look at its socket."""

from __future__ import annotations

import selectors
import socket
from typing import Any, Mapping


def has_gone(environ: Mapping[str, Any]) -> bool:
    """True if it did; False if it did not, or nobody can say."""
    line = environ.get("werkzeug.socket") or environ.get("gunicorn.socket")
    if not isinstance(line, socket.socket):
        return False
    try:
        # Not `select`: it cannot look at a socket whose number is above 1023.
        with selectors.DefaultSelector() as selector:
            selector.register(line, selectors.EVENT_READ)
            readable = selector.select(0)
        return bool(readable) and line.recv(1, socket.MSG_PEEK) == b""
    except (OSError, ValueError):
        return True
