"""Replies that are right, in forms that clients stumble over: each gives the same value."""

from __future__ import annotations

import gzip
import zlib
from typing import Any, Iterable

import pytest

from mistral_knowledge._loopback import Connection, chunk, head

from .serving import END, OPERATIONS, Good, sends, stage


def one_byte_pieces(made: Any) -> Any:
    def fault(connection: Connection, good: Good) -> None:
        data = made(good)
        for place in range(len(data)):
            connection.send(data[place : place + 1])

    return fault


def packed(good: Good, body: bytes, encoding: str = "gzip") -> bytes:
    return Good(good.kind, body).length(content_encoding=encoding)


def flushed(good: Good) -> Iterable[bytes]:
    """gzip that is flushed behind each eight bytes."""
    packer = zlib.compressobj(wbits=31)
    for place in range(0, len(good.body), 8):
        yield packer.compress(good.body[place : place + 8]) + packer.flush(zlib.Z_SYNC_FLUSH)
    yield packer.flush()


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


def two_members(body: bytes) -> bytes:
    return gzip.compress(body[:9]) + gzip.compress(body[9:])


def chunks(good: Good, pieces: Iterable[bytes], **more: Any) -> bytes:
    start = head(content_type=good.kind, transfer_encoding="chunked", **more)
    return start + b"".join(map(chunk, pieces)) + chunk(b"")


def bare_line_feeds(good: Good) -> bytes:
    start, _, body = good.length().partition(b"\r\n\r\n")
    return start.replace(b"\r\n", b"\n") + b"\n\n" + body


def chunk_extensions(good: Good) -> bytes:
    size = b"%X;name=value\r\n" % len(good.body)
    start = head(content_type=good.kind, transfer_encoding="chunked")
    return start + size + good.body + b"\r\n0\r\nx-trailer: yes\r\n\r\n"


KEPT = {
    "with a length": lambda good: good.length(),
    "in chunks": lambda good: good.chunked(),
    "in chunks of one byte": lambda good: chunks(good, [bytes([byte]) for byte in good.body]),
    "chunk extensions and trailers": chunk_extensions,
    "bare line feeds in the head": bare_line_feeds,
    "a status without words": lambda good: good.length().replace(b" Status", b"", 1),
    "headers folded and in capitals": lambda good: good.length().replace(
        b"content-type: ", b"CONTENT-TYPE:\r\n  ", 1
    ),
    "the same length twice": lambda good: good.length().replace(
        b"content-length:", b"content-length: %d\r\ncontent-length:" % len(good.body), 1
    ),
    "interim replies first": lambda good: head(100) + head(103, link="</a>") + good.length(),
    "gzip in one": lambda good: packed(good, gzip.compress(good.body)),
    "gzip in two members": lambda good: packed(good, two_members(good.body)),
    "gzip with padding behind it": lambda good: packed(good, gzip.compress(good.body) + b"\0\0"),
    "gzip in capitals": lambda good: packed(good, gzip.compress(good.body), "GZIP"),
    "gzip, flushed": lambda good: chunks(good, flushed(good), content_encoding="gzip"),
    "zlib": lambda good: packed(good, zlib.compress(good.body), "deflate"),
    "deflate without its head": lambda good: packed(good, raw_deflate(good.body), "deflate"),
}
CLOSED = {
    "ended by the connection": lambda good: good.closing(),
    "of HTTP/1.0": lambda good: good.length().replace(b"HTTP/1.1", b"HTTP/1.0", 1),
    "a length that is no number": lambda good: good.closing().replace(
        b"connection: close", b"content-length: many", 1
    ),
}


@pytest.fixture(params=["http", "tls"])
def secure(request: Any) -> Any:
    return request.getfixturevalue("tls") if request.param == "tls" else None


def given(fault: Any, secure: Any, connections: int) -> None:
    for operation in OPERATIONS.values():
        with stage(operation.good, fault, tls=secure) as (server, client):
            assert operation.call(client) == operation.value
            assert operation.call(client) == operation.value
            assert server.connections == connections


@pytest.mark.parametrize("form", KEPT)
def test_the_value_is_the_same_and_the_connection_serves_again(form: str, secure: Any) -> None:
    given(sends(KEPT[form], None), secure, 1)


@pytest.mark.parametrize("form", CLOSED)
def test_the_value_is_the_same_although_the_connection_ends(form: str, secure: Any) -> None:
    given(sends(CLOSED[form], END), secure, 2)


@pytest.mark.parametrize("form", ["with a length", "in chunks", "gzip, flushed", "zlib"])
def test_the_value_is_the_same_in_pieces_of_one_byte(form: str, secure: Any) -> None:
    given(one_byte_pieces(KEPT[form]), secure, 1)
