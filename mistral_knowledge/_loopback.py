"""A small HTTP server on loopback that does exactly what a test says, mistakes included.

Each connection is a thread that runs `play(connection)`; what is sent are bytes, so that anything a
server can do wrong can be written down. Standard library only.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

import attr

if TYPE_CHECKING:
    import ssl

PATIENCE = 10.0  # seconds after which a test that hangs fails


@attr.s(auto_attribs=True, slots=True)
class Seen:
    """One request as it arrived; header names in lower case, the target with its query."""

    method: str
    target: str
    headers: Dict[str, str]
    body: bytes


class Connection:
    """One connection, from the server's side."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._file = sock.makefile("rb")

    def request(self) -> Optional[Seen]:
        """Read the next request; None when the client is gone."""
        line = self._file.readline()
        if not line:
            return None
        method, target, _ = line.decode("latin-1").split(" ", 2)
        headers = self._headers()
        return Seen(method, target, headers, self._body(headers))

    def send(self, data: bytes) -> None:
        """Send bytes, in a packet of their own as far as TCP allows."""
        self.sock.sendall(data)

    def wait_for_end(self) -> None:
        """Block until the client hangs up; what it still sends is dropped."""
        try:
            while self._file.read1(65536):
                pass
        except OSError:
            pass

    def reset(self) -> None:
        """End the connection with a TCP reset."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self) -> None:
        """End the connection."""
        self._file.close()
        self.sock.close()

    def _headers(self) -> Dict[str, str]:
        headers = {}
        for line in iter(self._file.readline, b"\r\n"):
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        return headers

    def _body(self, headers: Dict[str, str]) -> bytes:
        if headers.get("transfer-encoding") != "chunked":
            return self._exactly(int(headers.get("content-length", "0")))
        body = b""
        while True:
            size = int(self._file.readline(), 16)
            body += self._exactly(size + 2)[:-2]
            if not size:
                return body

    def _exactly(self, size: int) -> bytes:
        data = self._file.read(size)
        if len(data) < size:
            raise ConnectionError("the client hung up in the middle of its request")
        return data


class Server:
    """Listens on loopback while the `with` block runs; `play` is called for each connection.

    tls: an `ssl.SSLContext` for https. `host` and `url` say where it is; `connections` counts.
    """

    def __init__(
        self, play: Callable[[Connection], None], tls: Optional[ssl.SSLContext] = None
    ) -> None:
        self._play = play
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self._threads: List[threading.Thread] = []
        self._open: List[socket.socket] = []
        self.connections = 0
        self.host = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.url = f"{'https' if tls else 'http'}://{self.host}"

    def __enter__(self) -> Server:
        self._start(self._accept)
        return self

    def __exit__(self, *exc_info: Any) -> None:
        _end(self._listener)
        for sock in list(self._open):
            _end(sock)
        for thread in self._threads:
            thread.join(PATIENCE)
        alive = [thread for thread in self._threads if thread.is_alive()]
        assert not alive, "the server's script did not end"

    def stop_listening(self) -> None:
        """Refuse further connections."""
        _end(self._listener)

    def _start(self, target: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(sock)
            self._start(self._serve, sock)

    def _serve(self, sock: socket.socket) -> None:
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                sock = self._tls.wrap_socket(sock, server_side=True)
                self._open.append(sock)
            connection = Connection(sock)
            try:
                self._play(connection)
            finally:
                connection.close()
        except (OSError, ValueError):
            pass  # the client hung up, or the test is over
        finally:
            sock.close()


def _end(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        socket.socket.shutdown(sock, socket.SHUT_RDWR)
    sock.close()


def head(status: int = 200, **headers: Any) -> bytes:
    """The head of a response; `content_type="x"` is the header content-type."""
    lines = [f"HTTP/1.1 {status} Status"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def chunk(data: bytes) -> bytes:
    """`data` as one chunk of a chunked body; of nothing, its end."""
    return b"%x\r\n%b\r\n" % (len(data), data)
