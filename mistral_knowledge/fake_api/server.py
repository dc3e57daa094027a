"""The in-memory API on a port, for clients in any language.

    with serve(KnowledgeApi()) as server:
        print(server.url)

HTTP/1.1 with keep-alive; each piece of a stream is written as it comes. It asks for no key unless
the API was given one, so it stays on this machine unless `allow_remote=True`.
"""

from __future__ import annotations

import ipaddress
import logging
import socket
import socketserver
import sys
import threading
from http.server import ThreadingHTTPServer
from typing import Any, Set

from ..errors import InvalidArgumentError
from .api import KnowledgeApi
from .http_handler import HttpHandler

_log = logging.getLogger(__name__)
_PATIENCE = 5.0


class KnowledgeServer:
    """A running server; `serve` makes it. A context manager, which closes it at the end."""

    def __init__(self, server: _Server) -> None:
        self._server = server
        self._thread = threading.Thread(
            target=server.serve_forever,
            kwargs={"poll_interval": 0.02},
            name="mistral_knowledge-fake-server",
            daemon=True,
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it is, such as `http://127.0.0.1:40123`."""
        return self._server.url

    @property
    def port(self) -> int:
        """Its port."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Stop it: no new connections, and the open ones are ended. Safe to call again."""
        self._server.shutdown()
        self._thread.join(_PATIENCE)
        self._server.server_close()
        self._server.end_connections()

    def __enter__(self) -> KnowledgeServer:
        return self

    def __exit__(self, *exc_info: Any) -> None:
        self.close()


def serve(
    api: KnowledgeApi, host: str = "127.0.0.1", port: int = 0, *, allow_remote: bool = False
) -> KnowledgeServer:
    """Serve `api` over HTTP in threads of its own; port 0 takes a free one.

    Signed URLs point at the server from then on. InvalidArgumentError for a host that others can
    reach, unless `allow_remote`.
    """
    if not allow_remote and not _is_loopback(host):
        raise InvalidArgumentError(
            f"host {host!r} can be reached from outside: give allow_remote=True if that is meant"
        )
    server = _Server(api, host, port)
    api.base_url = server.url
    return KnowledgeServer(server)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # Its own list of threads only grows; ours is below.
    block_on_close = False
    request_queue_size = 128

    def __init__(self, api: KnowledgeApi, host: str, port: int) -> None:
        self.api = api
        self._host = host
        self._lock = threading.Lock()
        self._connections: Set[socket.socket] = set()
        self._busy: Set[threading.Thread] = set()
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), HttpHandler)

    @property
    def url(self) -> str:
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.server_address[1]}"

    def server_bind(self) -> None:
        # HTTPServer would look up the host's name, which can take seconds.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self._host, self.server_address[1]

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._connections.add(request)
            self._busy.add(threading.current_thread())
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._lock:
                self._connections.discard(request)
                self._busy.discard(threading.current_thread())

    def end_connections(self) -> None:
        with self._lock:
            threads = list(self._busy)
            for connection in self._connections:
                _shut_down(connection)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(_PATIENCE)

    def handle_error(self, request: Any, client_address: Any) -> None:
        kind = sys.exc_info()[0]
        gone = kind is not None and issubclass(kind, ConnectionError)
        _log.log(logging.DEBUG if gone else logging.ERROR, "a request failed", exc_info=True)


def _shut_down(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        _log.debug("a connection was closed already")
