"""Reading a response body piece by piece as it arrives, on every urllib3 from 1.26 on."""

from __future__ import annotations

from http.client import HTTPResponse as Plain, IncompleteRead
from typing import Any, Callable, List, Optional

from urllib3.response import HTTPResponse

from ._inflating import ENCODINGS, Inflater

PIECE = 64 * 1024
DECODES = hasattr(HTTPResponse, "read1")  # from urllib3 2.2 on

Reader = Callable[[], bytes]


def reader_of(response: Any) -> Reader:
    """A function that returns the next piece of a requests response, and b"" at its end."""
    raw = response.raw
    if isinstance(getattr(response, "_content", None), bytes):
        return _reader_of_bytes(response.content)  # a hook of the user's session has read it
    if not isinstance(raw, HTTPResponse):
        return lambda: raw.read(PIECE) or b""
    encoding = raw.headers.get("content-encoding", "identity").strip().lower()
    if encoding in ENCODINGS:
        return Inflater(encoding, _PlainReader(raw._fp).read).read
    packed = encoding != "identity"
    if DECODES and (packed or not isinstance(raw._fp, Plain)):
        return lambda: raw.read1(PIECE, decode_content=True) or b""
    # A third of the time that urllib3's own `read1` takes for a piece.
    plain = _PlainReader(raw._fp).read
    return _Unpacker(raw, plain).read if packed else plain


def _reader_of_bytes(content: bytes) -> Reader:
    pieces: List[bytes] = [content]
    return lambda: pieces.pop() if pieces else b""


class _PlainReader:
    """http.client's `read1`, with a look at the length, which it does not take."""

    def __init__(self, fp: Any) -> None:
        self._fp = fp
        self._read1 = getattr(fp, "read1", None) or fp.read
        # http.client's own count is not kept by `read1` on every Python.
        self._left: Optional[int] = getattr(fp, "length", None)

    def read(self) -> bytes:
        left = self._left
        if left is None:
            return self._unmeasured()
        if left == 0:
            return b""
        data: bytes = self._read1(min(PIECE, left))
        if not data:
            raise IncompleteRead(b"", left)
        self._left = left - len(data)
        return data

    def _unmeasured(self) -> bytes:
        data: bytes = b"" if self._fp.closed else self._read1(PIECE)
        # http.client takes a chunk size below zero for leave to read whatever comes.
        left = getattr(self._fp, "chunk_left", None)
        if isinstance(left, int) and left < 0:
            raise IncompleteRead(b"")
        return data


class _Unpacker:
    """Rarer encodings, on a urllib3 before 2.2, which has no `read1` of its own."""

    def __init__(self, raw: Any, read: Reader) -> None:
        self._raw = raw
        self._read = read
        self._ended = False
        raw._init_decoder()

    def read(self) -> bytes:
        while not self._ended:
            data = self._read()
            self._ended = not data
            piece = self._raw._decode(data, decode_content=True, flush_decoder=not data)
            if piece:
                return piece  # type: ignore[no-any-return]
        return b""


def socket_of(raw: Any) -> Any:
    """The socket under a response that a connection of ours did not make, or None."""
    connection = getattr(raw, "_connection", None)
    sock = getattr(connection, "sock", None)
    if sock is not None:
        return sock
    fp: Any = getattr(getattr(raw, "_fp", None), "fp", None)
    return getattr(getattr(fp, "raw", None), "_sock", None)


def take_connection(raw: Any) -> Any:
    """Take the connection from urllib3, which would put it back into its pool by itself."""
    connection = getattr(raw, "_connection", None)
    if connection is not None:
        raw._connection = None
    return connection


def close_response(raw: Any, connection: Any) -> bool:
    """Close the response; returns whether TLS holds bytes behind it, which no `select` sees."""
    if connection is None:
        return False
    raw._fp.close()
    sock = getattr(connection, "sock", None)
    pending = getattr(getattr(sock, "sslobj", sock), "pending", None)
    return pending is not None and pending() > 0


def hand_back(raw: Any, connection: Any) -> None:
    """Put the connection into its pool, as it is."""
    if connection is not None:
        raw._fp.close()  # or http.client waits for the end of this response
        raw._connection = connection
        raw.release_conn()


def close_both(raw: Any, connection: Any) -> None:
    """Close the socket of a response, wherever it is held."""
    close = getattr(raw, "close", None)
    if close is not None:
        close()
    if connection is not None:
        connection.close()
