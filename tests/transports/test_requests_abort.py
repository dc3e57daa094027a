"""An abort ends a call at once, in every phase, from a thread or a signal handler."""

import signal as signals
import threading
import time

import pytest

from mistral_knowledge._loopback import Server
from mistral_knowledge._scenarios import Blocks
from mistral_knowledge.abort import AbortSignal
from mistral_knowledge.errors import AbortedError, RequestTimeoutError
from mistral_knowledge.testing import Gate

from .scripts import (
    CHUNKED,
    Outcome,
    chunk,
    fill_backlog,
    get,
    head,
    open_sockets,
    pause,
    post,
    raised,
    serve,
    until,
)

BIG = Blocks(*[bytes(1 << 20)] * 64)


def ended_in_time(call, signal):
    """The error of a blocked call that is aborted now; it must end within 0.1 s."""
    pause()
    begin = time.monotonic()
    signal.abort("stop")
    error = call.raised(AbortedError)
    assert time.monotonic() - begin < 0.5  # 0.1 s is promised, and a busy machine is forgiven
    assert error.reason == "stop"


def test_while_connecting(transport):
    """Nobody waits for a host that does not answer."""
    signal = AbortSignal()
    before = open_sockets()
    with fill_backlog() as url:
        call = Outcome(lambda: get(transport, url, signal=signal))
        ended_in_time(call, signal)
        del call
    until(lambda: open_sockets() <= before)


def test_while_shaking_hands(transport, tls):
    """A TLS handshake can hang for as long as connecting can."""
    signal, reached = AbortSignal(), Gate()

    def silent(connection):
        connection.sock.recv(1)
        reached.open()
        connection.wait_for_end()

    with Server(silent) as server:
        url = server.url.replace("http:", "https:")
        call = Outcome(lambda: get(transport, url, signal=signal))
        reached.wait()
        ended_in_time(call, signal)


def test_while_a_proxy_is_silent(transport, monkeypatch):
    """The proxy is part of connecting."""
    signal, reached = AbortSignal(), Gate()

    def silent(connection):
        connection.request()
        reached.open()
        connection.wait_for_end()

    with Server(silent) as server:
        monkeypatch.setenv("HTTPS_PROXY", server.url)
        call = Outcome(lambda: get(transport, "https://example.invalid", signal=signal))
        reached.wait()
        ended_in_time(call, signal)


@pytest.mark.parametrize("secure", [False, True])
def test_while_uploading(transport, tls, secure):
    """A server that does not read holds nobody."""
    signal, gate = AbortSignal(), Gate()
    with Server(lambda connection: gate.wait(), tls if secure else None) as server:
        call = Outcome(lambda: post(transport, server.url, BIG, signal=signal))
        ended_in_time(call, signal)
        gate.open()


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("secure", [False, True])
def test_while_waiting_for_the_head(transport, tls, secure, kept):
    """Also on a connection that was used before."""
    signal, reached = AbortSignal(), Gate()

    def answer(connection, seen):
        if seen.target == "/first":
            return connection.send(head(content_length=0))
        reached.open()
        return connection.wait_for_end()

    with serve(answer, tls if secure else None) as server:
        if kept:
            get(transport, server.url + "/first").close()
        call = Outcome(lambda: get(transport, server.url, signal=signal))
        reached.wait()
        ended_in_time(call, signal)
        assert server.connections == 1


@pytest.mark.parametrize("start", [CHUNKED + chunk(b"one"), head(connection="close") + b"one"])
@pytest.mark.parametrize("secure", [False, True])
def test_while_reading(transport, tls, secure, start):
    """Also where the body ends with its connection: there an abort looks like a clean end."""
    signal = AbortSignal()

    def answer(connection, seen):
        connection.send(start)
        connection.wait_for_end()

    with serve(answer, tls if secure else None) as server:
        pieces = iter(get(transport, server.url, signal=signal))
        assert next(pieces) == b"one"
        ended_in_time(Outcome(lambda: next(pieces)), signal)


def test_before_anything_was_sent(transport):
    """An aborted signal makes no connection."""
    signal = AbortSignal()
    signal.abort("stop")
    with serve(lambda connection, seen: None) as server:
        assert raised(AbortedError, lambda: get(transport, server.url, signal=signal)).reason
        assert server.connections == 0


def test_in_the_middle_of_its_own_body(transport):
    """An abort from within the upload ends it there."""
    signal = AbortSignal()

    class Aborting:
        length = None
        repeatable = False

        def __iter__(self):
            yield b"one"
            signal.abort("stop")
            yield b"two"

    with serve(lambda connection, seen: connection.send(head(content_length=0))) as server:
        raised(AbortedError, lambda: post(transport, server.url, Aborting(), signal=signal))


@pytest.mark.parametrize("where", ["head", "body"])
def test_from_a_signal_handler_in_the_very_thread_that_waits(transport, where):
    """`abort()` may run in the middle of anything: nothing it needs can be held by that thread."""
    signal, reached = AbortSignal(), threading.Event()

    def answer(connection, seen):
        if where == "body":
            connection.send(CHUNKED + chunk(b"one"))
        reached.set()
        connection.wait_for_end()

    def ring():
        reached.wait()
        pause()
        signals.pthread_kill(threading.main_thread().ident, signals.SIGUSR1)

    previous = signals.signal(signals.SIGUSR1, lambda *_: signal.abort("stop"))
    try:
        with serve(answer) as server:
            threading.Thread(target=ring, daemon=True).start()
            error = raised(AbortedError, lambda: list(get(transport, server.url, signal=signal)))
            assert error.reason == "stop"
    finally:
        signals.signal(signals.SIGUSR1, previous)


def test_a_close_from_a_signal_handler_in_the_very_thread_that_reads(transport):
    """`close` may come at any time too; the read that it interrupts raises AbortedError."""

    def answer(connection, seen):
        connection.send(CHUNKED + chunk(b"one"))
        connection.wait_for_end()

    with serve(answer) as server:
        reply = get(transport, server.url)
        pieces = iter(reply)
        assert next(pieces) == b"one"
        previous = signals.signal(signals.SIGALRM, lambda *_: reply.close())
        try:
            signals.setitimer(signals.ITIMER_REAL, 0.05)
            raised(AbortedError, lambda: next(pieces))
        finally:
            signals.setitimer(signals.ITIMER_REAL, 0)
            signals.signal(signals.SIGALRM, previous)


def test_what_a_signal_handler_raises_comes_out_as_it_is(transport):
    """A task queue's time limit is not eaten, and the connection is closed."""

    class SoftTimeLimitExceeded(Exception):
        pass

    limit, reached, ended = SoftTimeLimitExceeded(), threading.Event(), Gate()

    def answer(connection, seen):
        connection.send(CHUNKED + chunk(b"one"))
        reached.set()
        connection.wait_for_end()
        ended.open()

    def handler(*_):
        raise limit

    def ring():
        reached.wait()
        pause()
        signals.pthread_kill(threading.main_thread().ident, signals.SIGUSR1)

    previous = signals.signal(signals.SIGUSR1, handler)
    try:
        with serve(answer) as server:
            threading.Thread(target=ring, daemon=True).start()
            error = raised(SoftTimeLimitExceeded, lambda: list(get(transport, server.url)))
            assert error is limit
            ended.wait()
    finally:
        signals.signal(signals.SIGUSR1, previous)


def test_a_connection_that_went_back_is_not_shut_down(transport):
    """A signal that outlives its call does no harm to who uses the connection next."""
    signal, gate = AbortSignal(), Gate()

    def answer(connection, seen):
        connection.send(CHUNKED + chunk(b"one"))
        if seen.target == "/next":
            gate.wait()
        connection.send(chunk(b""))

    with serve(answer) as server:
        assert list(get(transport, server.url, signal=signal)) == [b"one"]
        pieces = iter(get(transport, server.url + "/next"))
        signal.abort("late")
        assert next(pieces) == b"one"
        gate.open()
        assert list(pieces) == []
        assert server.connections == 1


def test_a_finished_call_leaves_nothing_with_its_signal(transport):
    """One signal may serve thousands of calls."""
    signal = AbortSignal()
    with serve(lambda connection, seen: connection.send(head(content_length=1) + b"x")) as server:
        list(get(transport, server.url, signal=signal))
        get(transport, server.url, signal=signal).close()
        iter(get(transport, server.url, signal=signal))
        raised(ValueError, lambda: post(transport, server.url, Failing(), signal=signal))
    assert signal._callbacks == {}


class Failing:
    length = None
    repeatable = False

    def __iter__(self):
        raise ValueError


@pytest.mark.parametrize("dripping", [False, True])
def test_a_deadline_over_the_whole_call_raises_its_own_error(transport, dripping):
    """Bytes that drip trip no limit of a read; the signal of the caller ends them."""
    from mistral_knowledge.abort import Deadline

    def answer(connection, seen):
        connection.send(CHUNKED)
        while dripping:
            connection.send(chunk(b"x"))
            time.sleep(0.01)
        connection.wait_for_end()

    signal = Deadline(0.3, RequestTimeoutError("300 ms are over", "total"))
    with serve(answer) as server:
        error = raised(RequestTimeoutError, lambda: list(get(transport, server.url, signal=signal)))
        assert error.which == "total"


def test_aborts_at_every_moment_leave_nothing_behind(transport):
    """However the two threads meet, the call ends whole or aborted, and the next one works."""
    before = open_sockets()

    def answer(connection, seen):
        connection.send(head(content_length=3) + b"one")

    def call(number):
        signal = AbortSignal()
        timer = threading.Timer(0.0001 * (number % 20), signal.abort, ["stop"])
        timer.start()
        try:
            return list(get(transport, server.url, signal=signal))
        except AbortedError:
            return [b"one"]
        finally:
            timer.join()

    with serve(answer) as server:
        for number in range(200):
            assert b"".join(call(number)) == b"one"
        assert list(get(transport, server.url)) == [b"one"]
    transport.close()
    until(lambda: open_sockets() <= before)
