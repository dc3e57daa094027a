"""Connections that tell the call which uses them what they do, so that it can be ended and timed.

urllib3 stays in charge; only the four moments at which a connection can block are ours: making it,
TLS included, sending a block, waiting for the head, reading.
"""

from __future__ import annotations

import http.client
import io
import socket
from typing import Any, Iterator

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, LocationParseError, NewConnectionError

from ._call import CURRENT, Call
from ._connecting import open_socket

BLOCK = 256 * 1024
_INTERIM = (102, 103)


class _TimedReader(io.RawIOBase):
    """Reads a socket's file within the limits of the call: dripping bytes do not extend them."""

    # Set on the class too: a Ctrl-C may strike before `__init__` is over, and then `close` runs.
    _raw: Any = None
    over = False

    def __init__(self, raw: Any, sock: Any, call: Call) -> None:
        self._raw = raw
        self._sock = sock
        self._call = call

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Any:
        if self.over:
            return 0
        self._call.limit(self._sock)
        count = self._raw.readinto(buffer)
        if not count and self._call.phase == "first_byte":
            # http.client would take half a head for a whole one.
            raise http.client.RemoteDisconnected("the connection ended before its head did")
        return count

    def close(self) -> None:
        super().close()
        if self._raw is not None:
            self._raw.close()


class _Buffer(io.BufferedReader):
    """The buffer of one response: it tells the call when bytes of no response are left in it."""

    _call: Any = None  # as above

    def __init__(self, raw: _TimedReader, call: Call) -> None:
        super().__init__(raw)
        self._call = call

    def close(self) -> None:
        if self._call is not None and not self.closed:
            self.raw.over = True  # type: ignore[attr-defined]
            self._call.left_over = self._call.left_over or bool(self.peek(1))
        super().close()


class _TimedSocket:
    """Stands for the socket where http.client makes its file from it."""

    def __init__(self, sock: Any) -> None:
        self._sock = sock

    def makefile(self, mode: str) -> Any:
        raw = self._sock.makefile(mode, 0)
        call = CURRENT.get()
        return _Buffer(_TimedReader(raw, self._sock, call), call)


class _Response(http.client.HTTPResponse):
    fp: Any = None  # as above

    def __init__(self, sock: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(_TimedSocket(sock), *args, **kwargs)  # type: ignore[arg-type]

    def begin(self) -> None:
        super().begin()
        while self.status in _INTERIM:  # http.client skips 100 only
            self.headers = self.msg = None  # type: ignore[assignment]
            super().begin()


class Tracked(HTTPConnection):
    """A connection of urllib3 that reports to the call it is used by."""

    response_class = _Response

    def _new_conn(self) -> Any:
        call = CURRENT.get()
        try:
            return open_socket(
                call, (self._dns_host, self.port), self.source_address, self.socket_options
            )
        except UnicodeError:
            raise LocationParseError(self.host) from None
        except socket.timeout as error:
            raise ConnectTimeoutError(self, "timed out") from error
        except OSError as error:
            raise NewConnectionError(self, str(error)) from error

    def connect(self) -> None:
        call = CURRENT.get()
        call.tracked, call.connection = True, self
        call.enter("connect")
        try:
            super().connect()
            call.note(self.sock)
        finally:
            call.release_spare()

    def send(self, data: Any) -> None:
        call = CURRENT.get()
        if self.sock is None and self.auto_open:
            self.connect()
        if not call.connecting:  # else it speaks to a proxy, and the limit is that of connecting
            call.tracked, call.connection, call.phase = True, self, "write"
            call.note(self.sock)
        for block in _blocks(data):
            if not call.connecting:
                self.sock.settimeout(call.timeout.write)
            super().send(block)

    def getresponse(self) -> Any:
        call = CURRENT.get()
        call.check()
        call.enter("first_byte")
        return super().getresponse()


class TrackedTLS(Tracked, HTTPSConnection):
    """The same over TLS."""


def _blocks(data: Any) -> Iterator[Any]:
    if len(data) <= BLOCK:
        return iter((data,))
    view = memoryview(data)
    return (view[start : start + BLOCK] for start in range(0, len(view), BLOCK))
