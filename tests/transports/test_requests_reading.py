"""Bodies of replies: each piece as it comes, the end only where it is one."""

import gc
import gzip
import zlib

import pytest

from mistral_knowledge._scenarios import Outcome, pause
from mistral_knowledge.errors import ConnectionLostError, InvalidArgumentError
from mistral_knowledge.testing import Gate

from .scripts import CHUNKED, CLOSING, Letters, chunk, get, head, raised, serve

PLAIN = bytes


def whole(data):
    return lambda connection, seen: connection.send(data)


def then_close(data):
    def answer(connection, seen):
        connection.send(data)
        return "close"

    return answer


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize(
    ("start", "framed", "end"),
    [
        (CHUNKED, chunk, chunk(b"")),
        (CLOSING, PLAIN, b""),
        (b"HTTP/1.0 200 OK\r\n\r\n", PLAIN, b""),
        (head(content_length=9), PLAIN, b""),
        (head(transfer_encoding="chunked", connection="close"), chunk, chunk(b"")),
    ],
)
def test_each_piece_is_handed_out_before_the_next_is_sent(
    transport, start, framed, end, old, monkeypatch
):
    """Events come out as their bytes arrive, however the body is framed, on every urllib3."""
    use_old_reader(old, monkeypatch)
    letters = Letters()

    def answer(connection, seen):
        connection.send(start)
        for piece in letters:
            connection.send(framed(piece))
        connection.send(end)
        return "close"

    with serve(answer) as server:
        pieces = iter(get(transport, server.url))
        for piece in (b"one", b"two", b"345"):
            letters.send(piece)
            assert next(pieces) == piece
        letters.end()
        assert list(pieces) == []


def use_old_reader(old, monkeypatch):
    if old:
        monkeypatch.setattr("mistral_knowledge.transports._reading.DECODES", False)


@pytest.mark.parametrize("old", [False, True])
def test_a_compressed_body_comes_out_piece_by_piece_where_the_server_flushes(
    transport, old, monkeypatch
):
    """A server may compress although it was not asked to."""
    use_old_reader(old, monkeypatch)
    letters = Letters()
    packer = zlib.compressobj(wbits=31)

    def answer(connection, seen):
        connection.send(head(transfer_encoding="chunked", content_encoding="gzip"))
        for piece in letters:
            connection.send(chunk(packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH)))
        connection.send(chunk(packer.flush()) + chunk(b""))

    with serve(answer) as server:
        pieces = iter(get(transport, server.url))
        for piece in (b"one", b"two" * 1000):
            letters.send(piece)
            got = b""
            while len(got) < len(piece):
                got += next(pieces)
            assert got == piece
        letters.end()
        assert list(pieces) == []


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
def test_a_body_that_unpacks_to_much_more_comes_whole(transport, framing, old, monkeypatch):
    """Nothing is lost where a little on the wire is a lot of body."""
    use_old_reader(old, monkeypatch)
    body = b"0123456789" * 300_000
    packed = gzip.compress(body)
    data = {
        "chunked": head(transfer_encoding="chunked", content_encoding="gzip")
        + chunk(packed)
        + chunk(b""),
        "length": head(content_length=len(packed), content_encoding="gzip") + packed,
        "close": head(connection="close", content_encoding="gzip") + packed,
    }[framing]
    with serve(then_close(data)) as server:
        assert b"".join(get(transport, server.url)) == body


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize(
    ("before", "data"),
    [
        (b"one", CHUNKED + chunk(b"one") + b"10\r\nshort"),
        (b"one", CHUNKED + chunk(b"one")),
        (b"one", CHUNKED + chunk(b"one") + b"1"),
        (b"one", CHUNKED + chunk(b"one") + b"xyz\r\n"),
        (b"one", head(content_length=4) + b"one"),
        (b"", head(content_length=4)),
        (b"", head(transfer_encoding="chunked")),
        (b"", head(content_length=7, content_encoding="gzip") + b"no gzip"),
    ],
)
def test_a_body_that_breaks_off_is_a_lost_connection(transport, before, data, old, monkeypatch):
    """What came before the break is handed out, and then ConnectionLostError, never an end."""
    use_old_reader(old, monkeypatch)
    with serve(then_close(data)) as server:
        got = []
        error = raised(
            ConnectionLostError, lambda: got.extend(collect(get(transport, server.url), got))
        )
        assert b"".join(got)[: len(before)] == before
        assert error.maybe_executed is True
        assert error.__cause__ is not None


def collect(reply, into):
    for piece in reply:
        into.append(piece)
    return []


@pytest.mark.parametrize("old", [False, True])
def test_a_reset_is_a_lost_connection(transport, old, monkeypatch):
    """So is a reset in the middle of a body, also of one that ends with its connection."""
    use_old_reader(old, monkeypatch)
    gate = Gate()

    def answer(connection, seen):
        connection.send(CLOSING + b"one")
        gate.wait()
        connection.reset()
        return "reset"

    with serve(answer) as server:
        pieces = iter(get(transport, server.url))
        assert next(pieces) == b"one"
        gate.open()
        raised(ConnectionLostError, lambda: next(pieces))


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize(
    ("method", "data"),
    [
        ("HEAD", head(content_length=5)),
        ("GET", head(204)),
        ("GET", head(304, content_length=5)),
        ("GET", head(content_length=0)),
        ("GET", CHUNKED + chunk(b"")),
    ],
)
def test_a_reply_without_a_body_ends_at_once(transport, method, data, old, monkeypatch):
    """And its connection is used again."""
    from .scripts import LONG, Request

    use_old_reader(old, monkeypatch)
    with serve(whole(data)) as server:
        for _ in range(2):
            reply = transport.send(Request(method, server.url, timeout=LONG))
            assert list(reply) == []
        assert server.connections == 1


def test_a_second_thread_that_reads_gets_a_clear_error(transport):
    """One reply has one reader; the first one is not disturbed."""
    letters = Letters()

    def answer(connection, seen):
        connection.send(CHUNKED)
        for piece in letters:
            connection.send(chunk(piece))
        connection.send(chunk(b""))

    with serve(answer) as server:
        reply = get(transport, server.url)
        reading = Outcome(lambda: list(reply))
        pause()
        assert "another thread" in str(raised(InvalidArgumentError, lambda: list(reply)))
        letters.send(b"one")
        letters.end()
        reading.join()
        assert reading.value == [b"one"]


def test_an_unread_reply_that_is_dropped_closes_its_connection(transport):
    """No ResourceWarning, and the server sees the end at once, without the garbage collector."""
    ended = Gate()

    def answer(connection, seen):
        connection.send(CHUNKED + chunk(b"one"))
        connection.wait_for_end()
        ended.open()
        return "end"

    with serve(answer) as server:
        gc.disable()
        try:
            reply = get(transport, server.url)
            pieces = iter(reply)
            next(pieces)
            del reply, pieces
            ended.wait()
        finally:
            gc.enable()


@pytest.mark.parametrize("left", ["break", "error", "close", "throw"])
def test_leaving_a_loop_closes_the_connection_at_once(transport, left):
    """An answer that nobody reads is still paid for."""
    ended = Gate()

    def answer(connection, seen):
        connection.send(CHUNKED + chunk(b"one"))
        connection.wait_for_end()
        ended.open()
        return "end"

    with serve(answer) as server:
        reply = get(transport, server.url)
        leave(reply, left)
        ended.wait()


def leave(reply, how):
    if how == "break":
        for _ in reply:
            break
    elif how == "error":
        with pytest.raises(LookupError):
            for _ in reply:
                raise LookupError
    elif how == "close":
        pieces = iter(reply)
        next(pieces)
        pieces.close()
    else:
        pieces = iter(reply)
        next(pieces)
        with pytest.raises(KeyboardInterrupt):
            pieces.throw(KeyboardInterrupt())


def test_headers_that_come_twice_are_joined(transport):
    """As HTTP says, with a comma."""
    with serve(whole(b"HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 0\r\nA: 2\r\n\r\n")) as server:
        reply = get(transport, server.url)
        assert reply.headers == {"a": "1, 2", "content-length": "0"}
        assert list(reply) == []


@pytest.mark.parametrize("interim", [head(100), head(103, link="</a>"), head(102) + head(100)])
def test_an_interim_status_is_not_the_reply(transport, interim):
    """Only the final status counts, and its headers."""
    with serve(whole(interim + head(201, content_length=0))) as server:
        reply = get(transport, server.url)
        assert (reply.status, reply.headers) == (201, {"content-length": "0"})
        reply.close()
