"""What goes out: exactly the request, once, on a connection of our own making."""

import contextlib
import socket

import pytest
from requests import Session

from mistral_knowledge._loopback import Server
from mistral_knowledge._scenarios import SHORT, Blocks, Outcome, pause
from mistral_knowledge.abort import AbortSignal
from mistral_knowledge.errors import (
    AbortedError,
    InvalidArgumentError,
    NotSentError,
    RequestTimeoutError,
)
from mistral_knowledge.transports._call import CURRENT
from mistral_knowledge.transports.requests import RequestsTransport

from .scripts import LONG, Request, chunk, get, head, post, raised, serve

EMPTY = head(content_length=0)


def keeps(requests):
    def answer(connection, seen):
        requests.append(seen)
        connection.send(EMPTY)

    return answer


def raw_head(transport, url, **fields):
    """The head of a request, byte by byte."""
    heads = []

    def play(connection):
        heads.append(
            connection._file.readline() + b"".join(iter(connection._file.readline, b"\r\n"))
        )
        connection.send(EMPTY)

    with Server(play) as server:
        fields.setdefault("timeout", LONG)
        fields.setdefault("method", "GET")
        transport.send(Request(url=server.url + url, **fields)).close()
        return heads[0].replace(server.host.encode(), b"HOST")


def test_the_head_is_the_request_and_what_http_needs(transport):
    """Nothing of requests' own gets in: no User-Agent, no Accept, no Accept-Encoding."""
    headers = {"X-One": "1", "accept-encoding": "identity"}
    assert sorted(raw_head(transport, "/a?b=c", headers=headers).splitlines()) == [
        b"Connection: keep-alive",
        b"GET /a?b=c HTTP/1.1",
        b"Host: HOST",
        b"X-One: 1",
        b"accept-encoding: identity",
    ]


def test_json_bytes_get_no_content_type_of_their_own(transport):
    """Bytes are bytes; what they are is in the headers of the request."""
    sent = raw_head(transport, "/", method="POST", body=b"{}").splitlines()
    assert sorted(sent) == [
        b"Connection: keep-alive",
        b"Content-Length: 2",
        b"Host: HOST",
        b"POST / HTTP/1.1",
    ]


@pytest.mark.parametrize(
    ("body", "framing"),
    [
        (Blocks(b"abc", b"", b"de"), ("content-length", "5")),
        (Blocks(), ("content-length", "0")),
        (Blocks(b"abc", b"", b"de", known=False), ("transfer-encoding", "chunked")),
        (Blocks(known=False), ("transfer-encoding", "chunked")),
        (b"", ("content-length", "0")),
        (None, ("content-length", "0")),
        (bytes(3_000_000), ("content-length", "3000000")),
    ],
    ids=["sized", "sized-empty", "unsized", "unsized-empty", "no-bytes", "none", "large"],
)
def test_the_framing_of_a_body_says_its_length_where_it_is_known(transport, body, framing):
    """A known length is sent as Content-Length, also 0; else the body goes in chunks."""
    requests = []
    with serve(keeps(requests)) as server:
        assert post(transport, server.url, body).status == 200
    (seen,) = requests
    name, value = framing
    assert seen.headers[name] == value
    assert ("content-length" in seen.headers) != ("transfer-encoding" in seen.headers)
    assert seen.body == (b"".join(body or ()) if isinstance(body, Blocks) else body or b"")


@pytest.mark.parametrize(
    ("length", "words"), [(3, "longer than the 3 bytes"), (9, "ended after 5 of 9 bytes")]
)
def test_a_body_of_another_length_than_it_said_fails_clearly(transport, length, words):
    """A file that changes while it is uploaded neither hangs nor spoils the next request."""
    body = Blocks(b"abc", b"de")
    body.length = length
    requests = []
    with serve(keeps(requests)) as server:
        assert words in str(raised(InvalidArgumentError, lambda: post(transport, server.url, body)))
        post(transport, server.url, b"next").close()
    assert requests[-1].body == b"next"


@pytest.mark.parametrize("known", [True, False])
def test_an_early_refusal_of_an_upload_is_a_reply(transport, known):
    """A server that says 413 and hangs up in the middle of the upload is heard."""

    def refuse(connection):
        connection._headers()
        connection.send(head(413, content_length=3, connection="close") + b"big")
        connection.sock.shutdown(socket.SHUT_WR)
        connection.wait_for_end()

    with Server(refuse) as server:
        body = Blocks(*[bytes(1 << 16)] * 64, known=known)
        reply = post(transport, server.url, body)
        assert (reply.status, list(reply)) == (413, [b"big"])


def test_a_header_that_cannot_be_sent_is_refused_without_its_value(transport):
    """requests and http.client would quote it."""
    for value in ("secret\nX: y", "secret\N{SNOWMAN}", "secret\r"):
        error = raised(
            InvalidArgumentError,
            lambda value=value: get(
                transport, "http://x.invalid", headers={"Authorization": value}
            ),
        )
        assert "Authorization" in str(error)
        assert "secret" not in str(error)


def test_connections_have_tcp_keepalive_and_no_delay(transport):
    """Idle connections die behind NAT; urllib3's own options stay, and so do its defaults."""
    from urllib3.connection import HTTPConnection

    defaults = list(HTTPConnection.default_socket_options)
    with serve(keeps([])) as server:
        reply = get(transport, server.url)
        sock = reply._call._sock
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) != 0
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 60
        reply.close()
    assert defaults == HTTPConnection.default_socket_options


def test_cookies_are_off(transport):
    """Nothing of one call is left for the next."""
    requests = []

    def answer(connection, seen):
        requests.append(seen)
        connection.send(head(content_length=0, set_cookie="a=b; Path=/"))

    with serve(answer) as server:
        for _ in range(2):
            assert get(transport, server.url).headers["set-cookie"] == "a=b; Path=/"
        get(transport, server.url, headers={"Cookie": "c=d"}).close()
    assert [seen.headers.get("cookie") for seen in requests] == [None, None, "c=d"]


def test_netrc_is_not_looked_into(transport, monkeypatch, tmp_path):
    """A machine in ~/.netrc would take the place of the Authorization header."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login u password p\n")
    monkeypatch.setenv("NETRC", str(netrc))
    requests = []
    with serve(keeps(requests)) as server:
        get(transport, server.url, headers={"Authorization": "Bearer k"}).close()
        get(transport, server.url).close()
    assert [seen.headers.get("authorization") for seen in requests] == ["Bearer k", None]


def test_a_redirect_is_not_read_or_prepared(transport, monkeypatch, tmp_path):
    """Its body may be endless, its host may be in ~/.netrc; the reply comes back at once."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login u password p\n")
    monkeypatch.setenv("NETRC", str(netrc))
    requests = []

    def answer(connection, seen):
        requests.append(seen)
        connection.send(head(307, location="/other", transfer_encoding="chunked"))
        connection.wait_for_end()

    with serve(answer) as server:
        reply = post(transport, server.url, b"x", headers={"Authorization": "Bearer k"})
        assert (reply.status, reply.headers["location"]) == (307, "/other")
        reply.close()
    assert len(requests) == 1


def test_requests_through_a_proxy_of_the_environment(transport, monkeypatch):
    """HTTP_PROXY is honoured, NO_PROXY too."""
    requests = []
    with serve(keeps(requests)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        get(transport, "http://example.invalid/a?b=c").close()
        monkeypatch.setenv("NO_PROXY", "localhost.invalid")
        raised(NotSentError, lambda: get(transport, "http://localhost.invalid/"))
    assert [seen.target for seen in requests] == ["http://example.invalid/a?b=c"]


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_plain_http_to_the_machine_itself_goes_through_no_proxy_of_the_environment(
    transport, monkeypatch, variable, own, host
):
    """It would get the key in plain text."""
    by_proxy, direct = [], []
    with serve(keeps(by_proxy)) as proxy, serve(keeps(direct)) as server, Session() as session:
        monkeypatch.setenv(variable, proxy.url)
        used = RequestsTransport(session) if own else transport
        url = server.url.replace("127.0.0.1", host)
        get(used, url, headers={"Authorization": "Bearer k"}).close()
    assert [seen.headers["authorization"] for seen in direct] == ["Bearer k"]
    assert by_proxy == []


def test_a_proxy_that_a_session_of_the_callers_names_is_used_for_the_machine_itself_too():
    by_proxy = []
    with serve(keeps(by_proxy)) as proxy, Session() as session:
        session.proxies = {"http": proxy.url}
        get(RequestsTransport(session), "http://127.0.0.1:1/a").close()
    assert [seen.target for seen in by_proxy] == ["http://127.0.0.1:1/a"]


def test_a_ctrl_c_while_a_request_begins_leaves_nothing_behind(transport, monkeypatch):
    """It may strike as soon as the call is the current one."""

    class Struck:
        def set(self, call):
            CURRENT.set(call)
            if call is not None:
                raise KeyboardInterrupt

        def get(self, default):
            return CURRENT.get(default)

    monkeypatch.setattr("mistral_knowledge.transports._exchange.CURRENT", Struck())
    raised(KeyboardInterrupt, lambda: get(transport, "http://127.0.0.1:1/"))
    assert CURRENT.get(None) is None


def tunnel(target):
    """A proxy that connects to `target`, whatever it is asked for."""

    def play(connection):
        line = connection._file.readline()
        connection._headers()
        assert line.startswith(b"CONNECT ")
        host, _, port = target.partition(":")
        with socket.create_connection((host, int(port))) as upstream:
            connection.send(b"HTTP/1.1 200 Connection established\r\n\r\n")
            pump(connection.sock, upstream)

    return play


def pump(one, other):
    from .scripts import in_thread

    def copy(source, sink):
        with contextlib.suppress(OSError):
            for data in iter(lambda: source.recv(65536), b""):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    thread = in_thread(lambda: copy(other, one))
    copy(one, other)
    thread.join()


@pytest.mark.parametrize(
    "body",
    [b"x" * 10, Blocks(b"x" * 10), Blocks(b"x" * 10, known=False)],
    ids=["bytes", "sized", "unsized"],
)
def test_tls_through_a_proxy_of_the_environment(transport, tls, monkeypatch, body):
    """HTTPS_PROXY is honoured, and the tunnel is used again."""
    requests = []
    with serve(keeps(requests), tls) as server, Server(tunnel(server.host)) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        url = server.url.replace("127.0.0.1", "localhost")
        for _ in range(2):
            assert list(post(transport, url, body)) == []
        assert proxy.connections == 1
        transport.close()
    assert [seen.body for seen in requests] == [b"x" * 10] * 2


@pytest.mark.parametrize("end", ["read", "abort", "idle"])
def test_tls_through_a_proxy_that_speaks_tls_itself(transport, tls, monkeypatch, end):
    """TLS within TLS has no socket of its own; reading, abort and limits work all the same."""
    signal = AbortSignal()

    def answer(connection, seen):
        connection.send(head(transfer_encoding="chunked") + chunk(b"one"))
        return connection.send(chunk(b"")) if end == "read" else connection.wait_for_end()

    with serve(answer, tls) as server, Server(tunnel(server.host), tls) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        url = server.url.replace("127.0.0.1", "localhost")
        reply = get(transport, url, signal=signal, timeout=SHORT if end == "idle" else LONG)
        pieces = iter(reply)
        assert next(pieces) == b"one"
        reading = Outcome(lambda: list(pieces))
        if end == "abort":
            pause()
            signal.abort("stop")
        reading.join()
        kinds = {"read": type(None), "abort": AbortedError, "idle": RequestTimeoutError}
        assert type(reading.error) is kinds[end]
        transport.close()


def test_tls_to_a_server_that_is_trusted_by_the_environment(transport, tls):
    """REQUESTS_CA_BUNDLE is honoured."""
    with serve(keeps([]), tls) as server:
        assert get(transport, server.url).status == 200
        transport.close()


def test_a_closed_transport_leaves_no_connection_open():
    """`close` closes the idle ones at once, whatever still refers to the pool."""
    transport = RequestsTransport()
    with serve(keeps([])) as server:
        reply = get(transport, server.url)
        assert list(reply) == []
        sock = reply._call._sock
        transport.close()
        assert sock.fileno() == -1
