"""The body of an HTTP request, with a length or in chunks, as blocks."""

from __future__ import annotations

from typing import Iterator, Mapping, Protocol

BLOCK = 256 * 1024
_LONGEST_LINE = 8 * 1024


class Readable(Protocol):
    """What a body is read from."""

    def read(self, size: int) -> bytes:
        """Up to `size` bytes."""
        ...

    def readline(self, size: int) -> bytes:
        """Up to the end of a line."""
        ...


class BodyError(ConnectionError):
    """The body is not framed as HTTP says, or it ended early."""


def body_of(stream: Readable, headers: Mapping[str, str]) -> Iterator[bytes]:
    """The blocks of the body behind the headers; none if there is no body."""
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return _chunks(stream)
    length = headers.get("content-length", "0").strip()
    return _sized(stream, length)


def _sized(stream: Readable, length: str) -> Iterator[bytes]:
    if not (length.isascii() and length.isdigit()):
        raise BodyError("Bad Content-Length")
    yield from _exactly(stream, int(length))


def _chunks(stream: Readable) -> Iterator[bytes]:
    while True:
        size = _chunk_size(_line(stream))
        if not size:
            break
        yield from _exactly(stream, size)
        if _line(stream):
            raise BodyError("A chunk is longer than it says")
    while _line(stream):
        pass


def _exactly(stream: Readable, size: int) -> Iterator[bytes]:
    while size:
        block = stream.read(min(size, BLOCK))
        if not block:
            raise BodyError("The body ended early")
        size -= len(block)
        yield block


def _line(stream: Readable) -> bytes:
    line = stream.readline(_LONGEST_LINE)
    if not line.endswith(b"\n"):
        raise BodyError("The body ended early")
    return line.rstrip(b"\r\n")


def _chunk_size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    try:
        size = int(digits, 16)
    except ValueError:
        raise BodyError("Bad chunk size") from None
    if size < 0:
        raise BodyError("Bad chunk size")
    return size
