"""A Session of the user's own is used as it is; and what `responses` mocks works with ours."""

import gzip

import pytest
import requests
import responses
from requests.adapters import HTTPAdapter

from mistral_knowledge._scenarios import SHORT, Outcome, pause
from mistral_knowledge.abort import AbortSignal
from mistral_knowledge.errors import AbortedError, RequestTimeoutError, TransportError
from mistral_knowledge.testing import Gate, TransportContract
from mistral_knowledge.transports.requests import RequestsTransport

from .scripts import CHUNKED, CLOSING, Timeout, chunk, get, head, post, raised, serve


@pytest.fixture
def session():
    with requests.Session() as session:
        yield session


class TestWithTheSessionOfTheUser(TransportContract):
    """The contract holds with it too, but for one thing that it cannot do."""

    def make_transport(self):
        return ClosingSession(requests.Session())

    def test_an_abort_ends_the_wait_for_the_head(self):
        """That wait ends with its limit; then it is the abort that is told."""
        signal, gate = AbortSignal(), Gate()

        def answer(connection, seen):
            gate.open()
            connection.wait_for_end()

        with requests.Session() as session, serve(answer) as server:
            transport = RequestsTransport(session)
            call = Outcome(lambda: get(transport, server.url, signal=signal, timeout=SHORT))
            gate.wait()
            signal.abort("stop")
            assert call.raised(AbortedError).reason == "stop"


class ClosingSession(RequestsTransport):
    """Closes the session of the test, which the transport itself never does."""

    def __init__(self, session):
        super().__init__(session)
        self._to_close = session

    def close(self):
        super().close()
        self._to_close.close()


def test_it_is_never_closed(session, monkeypatch):
    """It belongs to the user."""
    monkeypatch.setattr(session, "close", lambda: pytest.fail("closed"))
    transport = RequestsTransport(session)
    with serve(lambda connection, seen: connection.send(head(content_length=0))) as server:
        list(get(transport, server.url))
        transport.close()
        list(get(transport, server.url))
        assert server.connections == 1
    monkeypatch.undo()


def test_what_it_brings_is_sent_along(session):
    """Its headers, cookies, auth and hooks; what the request says wins over its headers."""
    seen_headers, hooked = [], []
    session.headers.update({"X-Mine": "1", "X-Both": "session"})
    session.auth = lambda prepared: prepared.headers.update({"X-Auth": "2"}) or prepared
    session.hooks["response"].append(lambda response, **_: hooked.append(response.status_code))

    def answer(connection, seen):
        seen_headers.append(seen.headers)
        connection.send(head(content_length=0, set_cookie="a=b"))

    transport = RequestsTransport(session)
    with serve(answer) as server:
        for _ in range(2):
            list(get(transport, server.url, headers={"X-Both": "request"}))
    first, second = seen_headers
    assert (first["x-mine"], first["x-both"], first["x-auth"]) == ("1", "request", "2")
    assert first["user-agent"].startswith("python-requests")
    assert second["cookie"] == "a=b"
    assert hooked == [200, 200]


def test_netrc_is_not_looked_into(session, monkeypatch, tmp_path):
    """Not with a session of the user's either."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login u password p\n")
    monkeypatch.setenv("NETRC", str(netrc))
    found = []

    def answer(connection, seen):
        found.append(seen.headers.get("authorization"))
        connection.send(head(content_length=0))

    with serve(answer) as server:
        list(get(RequestsTransport(session), server.url, headers={"Authorization": "Bearer k"}))
    assert found == ["Bearer k"]


def test_hooks_that_raise_for_status_or_read_the_body_do_no_harm(session):
    """Every status is a reply, and a body that was read is handed out all the same."""
    session.hooks["response"] += [
        lambda response, **_: response.content and None,
        lambda response, **_: response.raise_for_status(),
    ]
    transport = RequestsTransport(session)

    def answer(connection, seen):
        connection.send(head(int(seen.target[1:]), content_length=4) + b"body")

    with serve(answer) as server:
        for status in (200, 404, 500):
            reply = get(transport, f"{server.url}/{status}")
            assert (reply.status, list(reply)) == (status, [b"body"])


def test_a_redirect_is_not_followed_whatever_its_hooks_see(session):
    """They see the location, nobody goes there."""
    seen = []
    session.hooks["response"].append(
        lambda response, **_: seen.append(response.headers["location"])
    )
    with serve(lambda c, _: c.send(head(302, location="/there", content_length=0))) as server:
        reply = get(RequestsTransport(session), server.url)
        assert (reply.status, reply.headers["location"]) == (302, "/there")
        reply.close()
    assert seen == ["/there"]


@pytest.mark.parametrize("start", [CHUNKED + chunk(b"one"), CLOSING + b"one"])
@pytest.mark.parametrize("end", ["abort", "close", "idle"])
def test_reading_is_ended_as_with_ours(session, start, end):
    """Abort, close and the idle limit find its socket."""
    signal = AbortSignal()

    def answer(connection, seen):
        connection.send(start)
        connection.wait_for_end()

    with serve(answer) as server:
        timeout = SHORT if end == "idle" else Timeout()
        reply = get(RequestsTransport(session), server.url, signal=signal, timeout=timeout)
        pieces = iter(reply)
        assert next(pieces) == b"one"
        reading = Outcome(lambda: next(pieces))
        if end == "idle":
            assert reading.raised(RequestTimeoutError).which == "idle"
            return
        pause()
        signal.abort("stop") if end == "abort" else reply.close()
        reading.raised(AbortedError)


@pytest.mark.parametrize("how", ["read", "close", "drop", "fail"])
def test_a_blocking_pool_gets_its_connection_back(session, how):
    """Whichever way a reply is let go of: a third call must not hang for ever."""
    session.mount("http://", HTTPAdapter(pool_maxsize=1, pool_block=True))
    transport = RequestsTransport(session)

    def answer(connection, seen):
        if how == "fail":
            connection.send(CHUNKED + b"x")
            return "cut"
        connection.send(CHUNKED + chunk(b"one") + (chunk(b"") if how == "read" else b""))
        return None if how == "read" else connection.wait_for_end()

    with serve(answer) as server:
        for _ in range(3):
            reply = Outcome(lambda: get(transport, server.url))
            reply.join()
            let_go(reply.value, how)
            del reply


def let_go(reply, how):
    if how == "read":
        assert list(reply) == [b"one"]
    elif how == "close":
        reply.close()
    elif how == "fail":
        raised(TransportError, lambda: list(reply))


def test_a_slow_upload_has_the_limit_of_write(session):
    """requests sends a body under the limit of connecting; for uploads that is the longer one."""

    class Upload:
        length = 1 << 26
        repeatable = False

        def __iter__(self):
            return iter([bytes(1 << 20)] * 64)

    def slow(connection, seen):
        connection.send(head(content_length=0))

    from mistral_knowledge._loopback import Server

    gate = Gate()

    def play(connection):
        gate.wait()

    with Server(play) as server:
        timeout = Timeout(connect=0.05, write=0.3)
        error = raised(
            RequestTimeoutError,
            lambda: post(RequestsTransport(session), server.url, Upload(), timeout=timeout),
        )
        gate.open()
    assert (error.which, error.maybe_executed) == ("write", True)


@pytest.fixture(params=["ours", "theirs"])
def mocked(request, transport, session):
    return transport if request.param == "ours" else RequestsTransport(session)


@responses.activate
def test_mocked_replies_are_read(mocked):
    """Under `responses` there is no connection and no http.client underneath."""
    responses.add(responses.GET, "http://api.test/a", body=b"body", headers={"X-One": "1"})
    reply = get(mocked, "http://api.test/a")
    assert (reply.status, reply.headers["x-one"]) == (200, "1")
    assert b"".join(reply) == b"body"
    assert list(reply) == []
    reply.close()


@responses.activate
def test_mocked_requests_are_seen_as_they_are(mocked):
    """Method, headers and body can be asserted on."""
    responses.add(responses.POST, "http://api.test/a", json={"a": 1}, status=404)
    reply = post(mocked, "http://api.test/a", b"{}", headers={"Authorization": "Bearer k"})
    assert (reply.status, b"".join(reply)) == (404, b'{"a": 1}')
    request = responses.calls[0].request
    assert (request.headers["Authorization"], request.body) == ("Bearer k", b"{}")
    assert "SKIP" not in str(request.headers)


@responses.activate
def test_mocked_redirects_and_compressed_bodies_work(mocked):
    """As they do over the network."""
    responses.add(responses.GET, "http://api.test/a", status=302, headers={"Location": "/b"})
    packed = gzip.compress(b"body")
    headers = {"Content-Encoding": "gzip"}
    responses.add(responses.GET, "http://api.test/c", body=packed, headers=headers)
    reply = get(mocked, "http://api.test/a")
    assert (reply.status, reply.headers["location"]) == (302, "/b")
    reply.close()
    assert b"".join(get(mocked, "http://api.test/c")) == b"body"


@responses.activate
def test_what_a_mock_raises_is_mapped(mocked):
    """requests' errors become ours, the request without a mock included."""
    responses.add(responses.GET, "http://api.test/a", body=requests.ReadTimeout("slow"))
    responses.add(responses.GET, "http://api.test/b", body=requests.ConnectTimeout("slow"))
    responses.add(responses.GET, "http://api.test/c", body=requests.ConnectionError("cut"))
    assert (
        raised(RequestTimeoutError, lambda: get(mocked, "http://api.test/a")).which == "first_byte"
    )
    assert raised(RequestTimeoutError, lambda: get(mocked, "http://api.test/b")).which == "connect"
    assert "cut" in str(raised(TransportError, lambda: get(mocked, "http://api.test/c")))
    raised(TransportError, lambda: get(mocked, "http://api.test/unknown"))
