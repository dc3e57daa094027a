"""What the servers in these tests do, byte by byte."""

import contextlib
import os
import queue
import socket
import threading
import time

from mistral_knowledge._loopback import PATIENCE, Server, chunk, head
from mistral_knowledge._scenarios import LONG, Outcome, pause, raised
from mistral_knowledge.testing import Gate
from mistral_knowledge.transports import Request, Timeout

__all__ = [
    "LONG",
    "PATIENCE",
    "Gate",
    "Outcome",
    "Request",
    "Server",
    "Timeout",
    "chunk",
    "fill_backlog",
    "get",
    "head",
    "open_sockets",
    "pause",
    "post",
    "raised",
    "serve",
    "until",
]

CHUNKED = head(transfer_encoding="chunked")
CLOSING = head(connection="close")


def serve(answer, tls=None):
    """A server that calls `answer(connection, seen)` for each request."""

    def play(connection):
        for seen in iter(connection.request, None):
            if answer(connection, seen) is not None:
                return

    return Server(play, tls)


def get(transport, url, **fields):
    fields.setdefault("timeout", LONG)
    return transport.send(Request("GET", url, **fields))


def post(transport, url, body, **fields):
    fields.setdefault("timeout", LONG)
    return transport.send(Request("POST", url, body=body, **fields))


def until(reached):
    end = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.001)


def open_sockets():
    """How many sockets this process has open."""
    count = 0
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            count += os.readlink(f"/proc/self/fd/{name}").startswith("socket:")
    return count


@contextlib.contextmanager
def fill_backlog():
    """The address of a server whose queue of connections is full: connecting to it hangs."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(16):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


class Letters:
    """Bodies that come piece by piece, each sent when the test says so."""

    def __init__(self):
        self._pieces = queue.SimpleQueue()

    def send(self, piece):
        self._pieces.put(piece)

    def __iter__(self):
        return iter(lambda: self._pieces.get(timeout=PATIENCE), None)

    def end(self):
        self._pieces.put(None)


def in_thread(function):
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread
