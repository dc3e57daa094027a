"""A server that answers each request well, but for the faults that it is told of; and the calls."""

from __future__ import annotations

import contextlib
import json
import threading
from typing import Any, Callable, Dict, Iterator, List, Optional

import attr

from mistral_knowledge import KnowledgeClient, Retry, Timeout
from mistral_knowledge._loopback import Connection, Seen, Server, chunk, head
from mistral_knowledge._scenarios import LONG, until
from tests.answers import wire
from tests.transports.scripts import open_sockets

ID = "11111111-1111-4111-8111-111111111111"
END = "the connection is over"
SHORT = Timeout(connect=5, write=5, first_byte=0.05, idle=0.05)
AT_ONCE = Retry(2, backoff=0)

CHAT = wire.sse(wire.chunk("one "), wire.chunk("two"), wire.chunk("", "stop", usage=wire.USAGE))
CHAT += wire.sse(done=True)
CONVERSATION = wire.sse(
    {"type": "conversation.response.started", "conversation_id": "conv_1"},
    {"type": "message.output.delta", "id": "m", "content": "one two"},
    {"type": "conversation.response.done", "usage": wire.USAGE},
)
FILE = {"id": ID, "object": "file", "filename": "a.txt", "bytes": 3}
LIBRARY = {"id": ID, "name": "x"}


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Good:
    """A good reply: what a fault spoils."""

    kind: str
    body: bytes

    def length(self, **more: Any) -> bytes:
        """With its length."""
        return head(content_type=self.kind, content_length=len(self.body), **more) + self.body

    def chunked(self, **more: Any) -> bytes:
        """In two chunks."""
        start = head(content_type=self.kind, transfer_encoding="chunked", **more)
        half = len(self.body) // 2
        return start + chunk(self.body[:half]) + chunk(self.body[half:]) + chunk(b"")

    def closing(self) -> bytes:
        """Ended by the end of the connection."""
        return head(content_type=self.kind, connection="close") + self.body


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Operation:
    """A call, what it gives when all is well, and whether it may be sent twice."""

    call: Callable[[KnowledgeClient], Any]
    value: Any
    safe: bool
    good: Good
    answer: bool = False  # it is read by a reader of answers: a cut is a truncation


def _json(value: Any) -> Good:
    return Good("application/json", json.dumps(value).encode())


OPERATIONS: Dict[str, Operation] = {
    "get": Operation(lambda c: c.files.get(ID).filename, "a.txt", True, _json(FILE)),
    "create": Operation(lambda c: c.libraries.create("x").name, "x", False, _json(LIBRARY)),
    "download": Operation(
        lambda c: c.files.download(ID), b"0123456789", True, Good("text/plain", b"0123456789")
    ),
    "chat": Operation(
        lambda c: c.rag.query("Why?", libraries=ID).text,
        "one two",
        False,
        Good("text/event-stream", CHAT),
        True,
    ),
    "one-shot": Operation(
        lambda c: c.rag.query("Why?", libraries=ID, streaming=False).text,
        "one two",
        False,
        _json(wire.completion("one two")),
        True,
    ),
    "conversation": Operation(
        lambda c: c.rag.agent.query("Why?", libraries=ID).text,
        "one two",
        False,
        Good("text/event-stream", CONVERSATION),
        True,
    ),
}

Fault = Callable[[Connection, Good], Optional[str]]


def well(connection: Connection, good: Good) -> None:
    """No fault."""
    connection.send(good.length())


class Faulty(Server):
    """Has `faults` happen to the first requests, one each; `seen` are all that came."""

    def __init__(self, good: Good, *faults: Fault, tls: Any = None) -> None:
        super().__init__(self._serve_all, tls)
        self.good = good
        self.seen: List[Seen] = []
        self.faults = list(faults)
        self.hung_up = 0

    def _serve_all(self, connection: Connection) -> None:
        for seen in iter(connection.request, None):
            self.seen.append(seen)
            fault = self.faults.pop(0) if self.faults else well
            if fault(connection, self.good) == END:
                return
        self.hung_up += 1


@contextlib.contextmanager
def balanced() -> Iterator[None]:
    """Fails where the block leaves a thread or a socket behind."""
    sockets, threads = open_sockets(), threading.active_count()
    yield
    until(lambda: threading.active_count() <= threads and open_sockets() <= sockets)


@contextlib.contextmanager
def stage(good: Good, *faults: Fault, tls: Any = None, **options: Any) -> Iterator[Any]:
    """(server, client); afterwards no thread and no socket is left."""
    options = {"retries": 0, "timeout": LONG, **options}
    with balanced(), Faulty(good, *faults, tls=tls) as server:
        client = KnowledgeClient("key-of-the-test", base_url=server.url, **options)
        with client:
            yield server, client


def sends(made: Callable[[Good], bytes], then: Optional[str] = END) -> Fault:
    """A fault that sends what `made` makes of the good reply, and hangs up unless told not to."""

    def fault(connection: Connection, good: Good) -> Optional[str]:
        connection.send(made(good))
        return then

    return fault
