"""Which connections are used again, and which are dropped."""

import gc
import logging
import socket
import threading

import pytest

from mistral_knowledge._scenarios import Outcome, pause
from mistral_knowledge.errors import AbortedError
from mistral_knowledge.testing import Gate
from mistral_knowledge.transports.requests import RequestsTransport

from .scripts import CHUNKED, chunk, get, head, open_sockets, raised, serve, until


def test_bodies_that_were_read_to_the_end_share_one_connection(transport):
    """Five answers, one connection."""
    with serve(
        lambda connection, seen: connection.send(CHUNKED + chunk(b"x") + chunk(b""))
    ) as server:
        for _ in range(5):
            assert list(get(transport, server.url)) == [b"x"]
        assert server.connections == 1


@pytest.mark.parametrize("read", [0, 1])
def test_an_end_that_comes_soon_after_close_saves_the_connection(transport, read):
    """What is left behind the end mark of an answer gets 50 ms."""
    closing = Gate()

    def answer(connection, seen):
        connection.send(CHUNKED + chunk(b"one"))
        closing.wait()
        connection.send(chunk(b"two") + chunk(b""))

    with serve(answer) as server:
        for _ in range(3):
            closing._opened.clear()
            reply = get(transport, server.url)
            pieces = iter(reply)
            assert [next(pieces) for _ in range(read)] == [b"one"] * read
            threading.Timer(0.005, closing.open).start()
            reply.close()
        assert server.connections == 1


@pytest.mark.parametrize("more", [b"", b"x" * (1 << 20)], ids=["silence", "much"])
def test_an_end_that_does_not_come_soon_costs_the_connection(transport, more):
    """Neither a silent server nor one with much more to say holds `close` up."""
    ended = Gate()

    def answer(connection, seen):
        connection.send(CHUNKED + chunk(b"one"))
        if seen.target == "/stalls":
            try:
                connection.send(chunk(more) if more else b"")
                connection.wait_for_end()
            finally:
                ended.open()
            return "end"
        return connection.send(chunk(b""))

    with serve(answer) as server:
        reply = get(transport, server.url + "/stalls")
        closing = Outcome(reply.close)
        closing.join()
        ended.wait()
        assert list(get(transport, server.url)) == [b"one"]
        assert server.connections == 2


def test_a_dripping_end_does_not_hold_close_up(transport):
    """50 ms are 50 ms, however many bytes come in them."""

    def answer(connection, seen):
        connection.send(head(content_length=1000))
        while True:
            connection.send(b"x")
            pause()

    with serve(answer) as server:
        Outcome(get(transport, server.url).close).join()


def test_a_connection_that_the_server_closed_meanwhile_is_not_used(transport):
    """A stale socket must not fail a call."""
    closed = Gate()

    def answer(connection, seen):
        connection.send(head(content_length=0))
        connection.sock.shutdown(socket.SHUT_WR)
        closed.open()
        return "close"

    with serve(answer) as server:
        for _ in range(3):
            closed._opened.clear()
            assert list(get(transport, server.url)) == []
            closed.wait()
            pause()
        assert server.connections == 3


def test_closing_from_a_thread_that_does_not_read_is_at_once(transport):
    """Also in the middle of a TLS body, where the reader holds the connection."""

    def answer(connection, seen):
        connection.send(CHUNKED + chunk(b"one"))
        connection.wait_for_end()

    with serve(answer) as server:
        reply = get(transport, server.url)
        pieces = iter(reply)
        assert next(pieces) == b"one"
        reading = Outcome(lambda: next(pieces))
        pause()
        closing = [Outcome(reply.close) for _ in range(5)]
        for one in closing:
            one.join()
            assert one.error is None
        reading.raised(AbortedError)
        raised(AbortedError, lambda: list(reply))


def test_fifty_threads_share_a_transport(transport, caplog):
    """No answer goes to the wrong thread, and urllib3 has nothing to warn of."""

    def answer(connection, seen):
        body = seen.target.encode()
        connection.send(CHUNKED + chunk(body[:3]))
        connection.send(chunk(body[3:]) + chunk(b""))

    def ask(number):
        for turn in range(5):
            path = f"/thread-{number}-{turn}"
            assert b"".join(get(transport, server.url + path)).decode() == path
        return True

    with caplog.at_level(logging.WARNING), serve(answer) as server:
        asking = [Outcome(lambda number=number: ask(number)) for number in range(50)]
        for one in asking:
            one._thread.join(20)
            assert one.value is True, one.error
        assert server.connections <= 50
        transport.close()
    assert caplog.records == []


def test_a_thousand_transports_leave_no_socket_behind():
    """Transports that are dropped, not closed, keep nothing open."""
    with serve(lambda connection, seen: connection.send(head(content_length=0))) as server:
        before = open_sockets()
        for number in range(1000):
            transport = RequestsTransport()
            if number % 50 == 0:
                list(get(transport, server.url))
        del transport
        gc.collect()
        until(lambda: open_sockets() <= before)
        assert server.connections == 20


def test_no_thread_is_left_behind(transport):
    """Limits and aborts need no thread of ours."""
    before = threading.active_count()
    with serve(lambda connection, seen: connection.send(head(content_length=1) + b"x")) as server:
        during = threading.active_count()
        for _ in range(3):
            list(get(transport, server.url))
        assert threading.active_count() <= during + server.connections
    assert threading.active_count() == before
