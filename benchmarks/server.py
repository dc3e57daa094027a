"""A server that answers at once, in a process of its own: `python -m benchmarks.server`.

The first part of a path says what is asked for, so that a client's base URL chooses it:

/events/N/K     an answer of N events, K of them in each packet
/conversation/N/K  the same as a conversation
/large/N/K      an answer of one event with N bytes of text, in packets of K bytes
/paced/N/MS     an answer of N events, one every MS milliseconds, over `Connection: close`; the
                text of each is the time when it was sent
/page/N         a page of N documents
/discard        any body; it is read and thrown away
/document       the same, answered as a document
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Iterable, List

from . import wire

_BLOCK = 1024 * 1024


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # each write is a packet

    def do_GET(self) -> None:
        _, _, number = self._asked(2)
        self._send_json(_page(number))

    def do_POST(self) -> None:
        size = self._discard_body()
        kind = self.path.split("/")[1]
        if kind == "discard":
            self._send_json(wire.uploaded(size))
        elif kind == "document":
            self._send_json(wire.document(0))
        elif kind == "paced":
            self._send_paced(*self._asked(3)[2:])
        else:
            self._send_packets(_packets(*self._asked(3)[1:]))

    def log_message(self, *args: Any) -> None:
        """Nothing: it would cost time."""

    def _asked(self, count: int) -> List[Any]:
        parts = self.path.partition("?")[0].split("/")[: count + 1]
        return parts[:2] + [int(part) for part in parts[2:]]

    def _discard_body(self) -> int:
        size = left = int(self.headers["content-length"])
        buffer = memoryview(bytearray(min(_BLOCK, size)))
        while left:
            read = self.rfile.readinto(buffer[: min(len(buffer), left)])  # type: ignore[attr-defined]
            if not read:
                raise ConnectionError("the body ended early")
            left -= read
        return size

    def _send_json(self, body: bytes) -> None:
        self._send_head(("content-type", "application/json"), ("content-length", str(len(body))))
        self.wfile.write(body)

    def _send_packets(self, packets: Iterable[bytes]) -> None:
        stream = ("content-type", "text/event-stream"), ("transfer-encoding", "chunked")
        self._send_head(*stream)
        for packet in packets:
            self.wfile.write(packet)

    def _send_paced(self, events: int, milliseconds: int) -> None:
        self._send_head(("content-type", "text/event-stream"), ("connection", "close"))
        for _ in range(events):
            time.sleep(milliseconds / 1000)
            self.wfile.write(wire.chunk(repr(time.time()), 0))
        self.wfile.write(b"".join(wire.stream([])))

    def _send_head(self, *headers: Any) -> None:
        self.send_response(200)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()


class Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        # The official SDK drops its connection at `[DONE]`: no error worth a word.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


_ANSWERS = {"events": wire.stream, "conversation": wire.conversation}


@functools.lru_cache(maxsize=None)
def _page(items: int) -> bytes:
    return wire.page(items)


@functools.lru_cache(maxsize=None)
def _packets(kind: str, number: int, size: int) -> List[bytes]:
    """The chunks of a whole chunked body, made once."""
    if kind in _ANSWERS:
        events = _ANSWERS[kind](wire.words(number))
        pieces = [b"".join(group) for group in _cut(events, size)]
    else:
        pieces = list(_cut(b"".join(wire.stream(["x" * number])), size))
    return [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in [*pieces, b""]]


def _cut(whole: Any, size: int) -> List[Any]:
    return [whole[start : start + size] for start in range(0, len(whole), size)]


def main() -> None:
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()  # until whoever started it closes the pipe, or is gone


if __name__ == "__main__":
    main()
