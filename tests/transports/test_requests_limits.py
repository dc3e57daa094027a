"""The four limits of a call, each told apart from the others."""

import socket
import time

import pytest

from mistral_knowledge._loopback import Server
from mistral_knowledge._scenarios import Blocks
from mistral_knowledge.errors import NotSentError, RequestTimeoutError
from mistral_knowledge.testing import Gate

from .scripts import CHUNKED, Timeout, chunk, fill_backlog, get, head, post, raised, serve

BIG = 64 * 1024 * 1024


def limits(**seconds):
    return Timeout(**{"connect": 10, "write": 10, "first_byte": 10, "idle": 10, **seconds})


def silent(connection):
    connection.wait_for_end()


def drip(connection, data):
    for at in range(len(data)):
        connection.send(data[at : at + 1])
        time.sleep(0.02)


def test_connecting_has_a_limit(transport):
    """A host that does not answer is given up in time, and the request surely did not run."""
    with fill_backlog() as url:
        error = raised(
            RequestTimeoutError, lambda: get(transport, url, timeout=limits(connect=0.2))
        )
    assert (error.which, error.maybe_executed) == ("connect", False)
    assert "0.2 s" in str(error)


def test_a_silent_address_leaves_time_for_the_next(transport, monkeypatch):
    """A host with two addresses, one of them dead, is reached within the limit."""
    with fill_backlog() as dead, serve(lambda c, _: c.send(head(content_length=0))) as server:
        ports = [int(url.rpartition(":")[2]) for url in (dead, server.url)]
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", p)) for p in ports]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *args: found)
        timeout = limits(connect=0.6)
        assert get(transport, "http://two.test", timeout=timeout).status == 200
        transport.close()


def test_a_tls_handshake_counts_as_connecting(transport, tls):
    """A server that accepts and says nothing does not hold the call."""
    with Server(silent) as server:
        url = server.url.replace("http:", "https:")
        error = raised(
            RequestTimeoutError, lambda: get(transport, url, timeout=limits(connect=0.2))
        )
    assert (error.which, error.maybe_executed) == ("connect", False)


@pytest.mark.parametrize("answer", [silent, lambda connection: drip(connection, b"HTTP" * 100)])
def test_a_proxy_counts_as_connecting(transport, monkeypatch, answer):
    """A proxy that does not connect, or drips, does not hold the call."""

    def proxy(connection):
        connection.request()
        answer(connection)

    with Server(proxy) as server:
        monkeypatch.setenv("HTTPS_PROXY", server.url)
        error = raised(
            RequestTimeoutError,
            lambda: get(transport, "https://example.invalid", timeout=limits(connect=0.2)),
        )
    assert (error.which, error.maybe_executed) == ("connect", False)


@pytest.mark.parametrize(
    "body", [bytes(BIG), Blocks(*[bytes(BIG // 64)] * 64)], ids=["bytes", "blocks"]
)
@pytest.mark.parametrize("secure", [False, True])
def test_a_server_that_takes_nothing_more_is_a_write_timeout(transport, tls, body, secure):
    """The limit of write, not that of connect, and said as such."""
    gate = Gate()
    with Server(lambda connection: gate.wait(), tls if secure else None) as server:
        timeout = limits(write=0.2)
        error = raised(
            RequestTimeoutError, lambda: post(transport, server.url, body, timeout=timeout)
        )
        gate.open()
    assert (error.which, error.maybe_executed) == ("write", True)


def test_a_slow_upload_that_goes_on_is_no_timeout(transport):
    """The limit of write is for one block, however long all of them take."""

    def slowly(connection, seen):
        connection.send(head(content_length=0))

    class Slow:
        length = 8
        repeatable = True

        def __iter__(self):
            for _ in range(8):
                time.sleep(0.05)
                yield b"x"

    with serve(slowly) as server:
        timeout = limits(connect=0.2, write=0.2)
        assert post(transport, server.url, Slow(), timeout=timeout).status == 200


@pytest.mark.parametrize("dripping", [False, True])
@pytest.mark.parametrize("secure", [False, True])
def test_no_head_in_time_is_a_first_byte_timeout(transport, tls, dripping, secure):
    """Also when its bytes drip, so that no single read takes long."""

    def answer(connection, seen):
        if dripping:
            drip(connection, b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 1000)
        connection.wait_for_end()

    with serve(answer, tls if secure else None) as server:
        begin = time.monotonic()
        error = raised(
            RequestTimeoutError,
            lambda: get(transport, server.url, timeout=limits(first_byte=0.3)),
        )
        assert time.monotonic() - begin < 2
    assert (error.which, error.maybe_executed) == ("first_byte", True)


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("start", [CHUNKED + chunk(b"one"), head(connection="close") + b"one"])
def test_silence_in_the_body_is_an_idle_timeout(transport, tls, start, secure):
    """The limit counts anew for each piece, whatever frames the body."""

    def answer(connection, seen):
        connection.send(start)
        connection.wait_for_end()

    with serve(answer, tls if secure else None) as server:
        pieces = iter(get(transport, server.url, timeout=limits(idle=0.2)))
        assert next(pieces) == b"one"
        error = raised(RequestTimeoutError, lambda: next(pieces))
        assert (error.which, error.maybe_executed) == ("idle", True)


def test_a_body_longer_than_every_limit_is_no_timeout(transport):
    """Limits are for waits: a stream may go on for hours."""

    def answer(connection, seen):
        connection.send(CHUNKED)
        for _ in range(10):
            connection.send(chunk(b"x"))
            time.sleep(0.05)
        connection.send(chunk(b""))

    with serve(answer) as server:
        timeout = limits(connect=0.2, write=0.2, first_byte=0.2, idle=0.2)
        assert list(get(transport, server.url, timeout=timeout)) == [b"x"] * 10


def test_a_kept_connection_takes_the_limits_of_its_next_call(transport):
    """Nothing of the limits of one call is left on the socket for the next."""

    def answer(connection, seen):
        if seen.target == "/slow":
            time.sleep(0.3)
        connection.send(head(content_length=0))

    with serve(answer) as server:
        short = limits(connect=0.1, write=0.1, first_byte=0.1, idle=0.1)
        for timeout in (short, Timeout(None, None, None, None)):
            get(transport, server.url, timeout=short).close()
            if timeout is not short:
                assert get(transport, server.url + "/slow", timeout=timeout).status == 200
        assert server.connections == 1


def test_no_limit_at_all_works(transport):
    """None switches a limit off."""
    with serve(lambda connection, seen: connection.send(head(content_length=1) + b"x")) as server:
        reply = get(transport, server.url, timeout=Timeout(None, None, None, None, None))
        assert list(reply) == [b"x"]


def test_a_refused_connection_is_no_timeout(transport):
    """It is said at once, whatever the limit."""
    with serve(lambda connection, seen: None) as server:
        url = server.url
    raised(NotSentError, lambda: get(transport, url))
