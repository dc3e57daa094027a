"""Each fault of a network or server, in each kind of call, over HTTP and TLS.

For each: the error and what it carries, how often it was sent, whether the connection serves
again. `stage` adds: no thread and no socket is left.
"""

from __future__ import annotations

import time
from typing import Any

import pytest

from mistral_knowledge import (
    AnswerTruncatedError,
    ConnectionLostError,
    KnowledgeError,
    RequestTimeoutError,
)
from mistral_knowledge._loopback import Connection, chunk, head
from mistral_knowledge._scenarios import raised

from .serving import AT_ONCE, END, OPERATIONS, SHORT, Good, Operation, sends, stage

LOST, FIRST_BYTE, IDLE = "lost", "first_byte", "idle"


def reset(connection: Connection, good: Good) -> str:
    connection.reset()
    return END


def reset_in_body(connection: Connection, good: Good) -> str:
    connection.send(half_of(good))
    return reset(connection, good)


def half_of(good: Good) -> bytes:
    """All of the head, and a third of the body: no end mark is in it."""
    return start_of(good.length(), len(good.body) // 3)


def start_of(made: bytes, body_bytes: int = 0) -> bytes:
    return made[: made.index(b"\r\n\r\n") + 4 + body_bytes]


def silent_behind(made: Any) -> Any:
    def fault(connection: Connection, good: Good) -> str:
        connection.send(made(good))
        connection.wait_for_end()
        return END

    return fault


def dripping(connection: Connection, good: Good) -> str:
    """A head that never ends, byte by byte: no single wait is long."""
    connection.send(b"HTTP/1.1 200 OK\r\nx: ")
    while True:
        connection.send(b"x")
        time.sleep(0.01)


CUTS = {
    "no answer at all": (sends(lambda good: b""), LOST),
    "reset before the head": (reset, LOST),
    "half a status line": (sends(lambda good: b"HTTP/1.1 20"), LOST),
    "half a header": (sends(lambda good: b"HTTP/1.1 200 OK\r\ncontent-le"), LOST),
    "a head without its blank line": (
        sends(lambda good: good.length().split(b"\r\n\r\n")[0]),
        LOST,
    ),
    "a head and no body": (sends(lambda good: start_of(good.length())), LOST),
    "half a body": (sends(half_of), LOST),
    "reset in the body": (reset_in_body, LOST),
    "a chunked head and no body": (sends(lambda good: start_of(good.chunked())), LOST),
    "half a chunk size": (sends(lambda good: start_of(good.chunked(), 1)), LOST),
    "a chunk size and no chunk": (sends(lambda good: start_of(good.chunked(), 4)), LOST),
    "half a chunk": (sends(lambda good: start_of(good.chunked(), 8)), LOST),
    "chunks and no last chunk": (
        sends(lambda good: start_of(good.chunked()) + chunk(good.body[:4])),
        LOST,
    ),
    "a chunk size that is no number": (
        sends(lambda good: start_of(good.chunked()) + b"zz\r\n" + good.body),
        LOST,
    ),
    "a chunk size below zero": (
        sends(lambda good: start_of(good.chunked()) + b"-5\r\n" + good.body),
        LOST,
    ),
    "another protocol": (sends(lambda good: b"SSH-2.0 hello\r\n\r\n"), LOST),
    "a status that is no number": (sends(lambda good: b"HTTP/1.1 abc OK\r\n\r\n"), LOST),
    "bytes at random": (sends(lambda good: bytes(range(256)) * 8), LOST),
    "a header line without end": (
        sends(lambda good: b"HTTP/1.1 200 OK\r\nx: " + b"x" * 70_000 + b"\r\n\r\n"),
        LOST,
    ),
    "more headers than anyone has": (
        sends(lambda good: b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 300 + b"\r\n"),
        LOST,
    ),
    "two lengths that differ": (
        sends(
            lambda good: (
                b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n" + good.length().partition(b"\r\n")[2]
            )
        ),
        LOST,
    ),
    "compressed and cut": (
        sends(lambda good: head(content_encoding="gzip", content_type=good.kind) + b"\x1f\x8b\x08"),
        LOST,
    ),
    "said to be compressed": (
        sends(lambda good: good.length(content_encoding="gzip")),
        LOST,
    ),
    "silence before the head": (silent_behind(lambda good: b""), FIRST_BYTE),
    "silence in the head": (silent_behind(lambda good: good.length()[:9]), FIRST_BYTE),
    "a head that drips": (dripping, FIRST_BYTE),
    "silence behind the head": (silent_behind(lambda good: start_of(good.length())), IDLE),
    "silence in the body": (silent_behind(half_of), IDLE),
    "silence in a chunk size": (silent_behind(lambda good: start_of(good.chunked(), 1)), IDLE),
    "silence in a chunk": (silent_behind(lambda good: start_of(good.chunked(), 8)), IDLE),
}


def check(error: KnowledgeError, expected: str, operation: Operation, body_began: bool) -> None:
    """The class of an error, and what it carries."""
    assert "key-of-the-test" not in f"{error!r}{error.__cause__!r}"
    if expected != LOST:
        assert isinstance(error, RequestTimeoutError)
        assert (error.which, error.maybe_executed) == (expected, True)
    elif operation.answer and body_began:
        assert isinstance(error, AnswerTruncatedError)
        assert operation.value.startswith(error.partial.text)
        assert isinstance(error.__cause__, ConnectionLostError)
    else:
        assert isinstance(error, ConnectionLostError)
        assert error.maybe_executed is True
        assert str(error)


def began_body(name: str) -> bool:
    heads = ("no answer", "reset before", "status", "header", "blank line", "protocol", "random")
    return not any(word in name for word in (*heads, "two lengths"))


@pytest.fixture(params=["http", "tls"])
def secure(request: Any) -> Any:
    return request.getfixturevalue("tls") if request.param == "tls" else None


@pytest.mark.parametrize("name", CUTS)
def test_a_fault_is_told_and_costs_its_connection(name: str, secure: Any) -> None:
    fault, expected = CUTS[name]
    for operation in OPERATIONS.values():
        with stage(operation.good, fault, tls=secure) as (server, client):
            hasty = client if expected == LOST else client.with_options(timeout=SHORT)
            error = raised(KnowledgeError, lambda: operation.call(hasty))  # noqa: B023
            check(error, expected, operation, began_body(name))
            assert operation.call(client) == operation.value
            assert (len(server.seen), server.connections) == (2, 2)


@pytest.mark.parametrize("name", [name for name in CUTS if CUTS[name][1] == LOST])
def test_after_a_fault_what_is_safe_is_sent_again_and_what_costs_is_not(name: str) -> None:
    fault, _ = CUTS[name]
    for operation in OPERATIONS.values():
        with stage(operation.good, fault, retries=AT_ONCE) as (server, client):
            if operation.safe:
                assert operation.call(client) == operation.value
                assert len(server.seen) == 2
            else:
                raised(KnowledgeError, lambda: operation.call(client))  # noqa: B023
                assert len(server.seen) == 1
