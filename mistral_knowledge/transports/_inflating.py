"""Undoing gzip and deflate piece by piece, and noticing when their end is missing.

urllib3's decoders do not tell: a compressed body that was cut where the wire cannot show it would
come out as a whole one.
"""

from __future__ import annotations

import zlib
from http.client import IncompleteRead
from typing import Any, Callable

from urllib3.exceptions import DecodeError

_GZIP, _ZLIB, _RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS

ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})


class Inflater:
    """Reads what `read` gives, without its encoding.

    Raises IncompleteRead where the compressed data has no end, DecodeError where it is none.
    """

    def __init__(self, encoding: str, read: Callable[[], bytes]) -> None:
        self._read = read
        self._gzip = encoding != "deflate"
        self._head = b""
        self._decoder: Any = None

    def read(self) -> bytes:
        """The next piece, or b"" at the end."""
        while True:
            data = self._read()
            if not data:
                self._check_end()
                return b""
            piece = self._inflate(data)
            if piece:
                return piece

    def _check_end(self) -> None:
        if self._head and (self._decoder is None or not self._decoder.eof):
            raise IncompleteRead(b"")

    def _inflate(self, data: bytes) -> bytes:
        if self._decoder is None:
            self._head = data = self._head + data
            if len(data) < 2:
                return b""  # the format shows in two bytes
            self._decoder = zlib.decompressobj(_GZIP if self._gzip else _deflate_format(data))
        pieces = b""
        while data and (not self._decoder.eof or self._next_member(data)):
            try:
                pieces += self._decoder.decompress(data)
            except zlib.error as error:
                raise DecodeError("the body is not in its content-encoding") from error
            data = self._decoder.unused_data
        return pieces

    def _next_member(self, data: bytes) -> bool:
        """Whether another gzip member follows; what else stands behind the end is padding."""
        if not self._gzip or not data.startswith(b"\x1f"):
            return False
        self._decoder = zlib.decompressobj(_GZIP)
        return True


def _deflate_format(head: bytes) -> int:
    # Some servers mean the bare format by "deflate"; zlib's own begins with a checked header.
    is_zlib = head[0] & 0x0F == 8 and (head[0] * 256 + head[1]) % 31 == 0
    return _ZLIB if is_zlib else _RAW
