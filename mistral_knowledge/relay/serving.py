"""The relay on a port, by Werkzeug's threaded server: one thread a connection, chunks as they come.

Why not waitress: its pool of threads is fixed when it starts, and here every answer holds one.
"""

from __future__ import annotations

import logging
from typing import Any

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from ..errors import InvalidArgumentError
from .app import BODY, RelayApp
from .guard import is_loopback

_log = logging.getLogger("mistral_knowledge.relay")
_SILENT_CLIENT = 60


def relay_server(app: RelayApp, host: str, port: int, *, has_token: bool = False) -> BaseWSGIServer:
    """A server of `app`, listening: `serve_forever()`, and `shutdown()` from another thread.

    InvalidArgumentError for a host that others can reach without a token, and for an odd port.
    """
    if not has_token and not is_loopback(host):
        raise InvalidArgumentError(
            f"host {host!r} can be reached from outside, where anyone could ask with your key: "
            "set a token (MISTRAL_RELAY_TOKEN or --token)"
        )
    if not 0 <= port <= 65535:
        raise InvalidArgumentError(f"port {port}: a port is a number from 0 to 65535")
    server = make_server(host, port, app, threaded=True, request_handler=_Handler)
    server.log_startup = lambda: None  # type: ignore[method-assign]
    return server


class _Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    # A client that neither sends nor reads for so long has its thread taken away.
    timeout = _SILENT_CLIENT
    server_version = "mistral-knowledge-relay"
    sys_version = ""

    def connection_dropped(self, error: BaseException, environ: Any = None) -> None:
        """End the answer at once, even where the server did not get to close it."""
        body = (environ or {}).get(BODY)
        if body is not None:
            body.close()

    def version_string(self) -> str:
        """What the Server header says."""
        return self.server_version

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        """Method, path and status only: a query may hold anything."""
        path = self.path.partition("?")[0] if hasattr(self, "path") else "-"
        _log.info("%s %s %s", self.command, path.encode("unicode_escape").decode()[:200], code)

    def log(self, type: str, message: str, *args: Any) -> None:
        """To our log."""
        _log.log(logging.ERROR if type == "error" else logging.INFO, message, *args)
