"""One HTTP connection of the served API: reading requests, writing replies."""

from __future__ import annotations

import logging
import sqlite3
from http.server import BaseHTTPRequestHandler
from typing import Any, Iterator

from .._secrets import redact
from .exchange import ApiReply, ApiRequest, json_reply
from .http_body import BodyError, body_of

_log = logging.getLogger(__name__)
# A refused upload is read to its end up to here, so that the client gets to read why.
_MOST_DRAINED = 64 * 1024 * 1024


class HttpHandler(BaseHTTPRequestHandler):
    """Hands each request to `server.api` and writes what it says."""

    protocol_version = "HTTP/1.1"
    server_version = "mistral-knowledge-fake"
    sys_version = ""
    disable_nagle_algorithm = True
    server: Any

    def answer(self) -> None:
        """Answer one request."""
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = body_of(self.rfile, headers)
        try:
            reply = self.server.api.handle(ApiRequest(self.command, path, query, headers, body))
            self._drain(body)
        except BodyError as error:
            self.close_connection = True
            reply = json_reply({"detail": str(error)}, 400)
        except sqlite3.Error:
            _log.exception("the database failed")
            self.close_connection = True
            reply = json_reply({"detail": "Internal Server Error"}, 500)
        self._write(reply)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = answer

    def _drain(self, body: Iterator[bytes]) -> None:
        left = _MOST_DRAINED
        for block in body:
            left -= len(block)
            if left < 0:
                self.close_connection = True
                return

    def _write(self, reply: ApiReply) -> None:
        bodiless = self.command == "HEAD" or reply.status in (204, 304)
        sized = bodiless or "content-length" in reply.headers
        chunked = not sized and self.request_version != "HTTP/1.0"
        if not sized and not chunked:
            self.close_connection = True
        self._write_head(reply, chunked)
        if not bodiless:
            self._write_body(reply, chunked)

    def _write_head(self, reply: ApiReply, chunked: bool) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if chunked:
            self.send_header("transfer-encoding", "chunked")
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()

    def _write_body(self, reply: ApiReply, chunked: bool) -> None:
        # The socket file is unbuffered: each write is one packet on its way.
        for piece in reply.pieces:
            if chunked and piece:
                piece = b"%x\r\n%s\r\n" % (len(piece), piece)
            self.wfile.write(piece)
        if chunked:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:
        """To the log in place of stderr, without the signatures in URLs."""
        _log.info("%s", redact(format % args))
