"""Errors of other libraries become ours, in words one can act on, and without secrets."""

import contextlib
import pickle
import socket
import traceback

import pytest
import requests

from mistral_knowledge._loopback import Server
from mistral_knowledge._scenarios import SHORT, Outcome
from mistral_knowledge.errors import (
    ConfigurationError,
    ConnectionLostError,
    InvalidArgumentError,
    KnowledgeError,
    NotSentError,
    RequestTimeoutError,
)
from mistral_knowledge.transports.requests import RequestsTransport

from .scripts import CHUNKED, chunk, fill_backlog, get, head, raised, serve

SECRETS = ("sk-secret", "s3cr3t", "private words", "sig=")
HEADERS = {"Authorization": "Bearer sk-secret", "Content-Type": "application/json"}
QUERY = "/path?sig=s3cr3t"


def ask(transport, url, timeout=SHORT):
    """A request full of secrets, read to its end."""
    from mistral_knowledge.transports import Request

    request = Request(
        "POST", url + QUERY, headers=HEADERS, body=b'{"private words": 1}', timeout=timeout
    )
    return list(transport.send(request))


def cut_head(connection):
    connection.request()
    connection.send(b"HTTP/1.1 200 OK\r\nA:")


def cut_body(connection):
    connection.request()
    connection.send(CHUNKED + chunk(b"one") + b"9\r\nprivate words")


def short_body(connection):
    connection.request()
    connection.send(head(content_length=9) + b"one")


def bad_gzip(connection):
    connection.request()
    connection.send(head(content_length=9, content_encoding="gzip") + b"no gzip!!")


def no_http(connection):
    connection.request()
    connection.send(b"sk-secret SMTP ready\r\n")


def hang_up(connection):
    connection.request()


def reset(connection):
    connection.request()
    connection.reset()


def silent(connection):
    connection.request()
    connection.wait_for_end()


def stalled_body(connection):
    connection.request()
    connection.send(CHUNKED + chunk(b"one"))
    connection.wait_for_end()


PLAYS = {
    cut_head: ConnectionLostError,
    cut_body: ConnectionLostError,
    short_body: ConnectionLostError,
    bad_gzip: ConnectionLostError,
    no_http: ConnectionLostError,
    hang_up: ConnectionLostError,
    reset: ConnectionLostError,
    silent: RequestTimeoutError,
    stalled_body: RequestTimeoutError,
}


def everything_in(error):
    """All text that hangs on an error: the chain, its attributes and theirs, the traceback."""
    seen, waiting, texts = set(), [error], []
    while waiting:
        item = waiting.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, BaseException):
            texts.append("".join(traceback.format_exception(type(item), item, None)))
            waiting += [item.args, vars(item), item.__cause__, item.__context__]
        elif isinstance(item, dict):
            waiting += list(item.values())
        elif isinstance(item, (list, tuple)):
            waiting += list(item)
        elif item is not None and not isinstance(item, (str, bytes, int, float)):
            waiting.append(getattr(item, "__dict__", {}))
        texts.append(repr(item))
    return "\n".join(texts)


def assert_no_secrets(error):
    text = everything_in(error)
    for secret in SECRETS:
        assert secret not in text
    assert pickle.loads(pickle.dumps(error)).args == error.args
    cause = error.__cause__
    while cause is not None:
        assert cause.__traceback__ is None
        cause = cause.__context__


@pytest.mark.parametrize("own", [False, True], ids=["ours", "theirs"])
@pytest.mark.parametrize(
    "play", [play for play in PLAYS if play is not cut_head], ids=lambda play: play.__name__
)
def test_a_failure_on_the_way_shows_no_secret(transport, play, own):
    """The bearer, the body and the query are in no message, attribute or chained error."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(Server(play))
        if own:
            transport = RequestsTransport(stack.enter_context(requests.Session()))
        error = raised(KnowledgeError, lambda: ask(transport, server.url))
        assert type(error) is PLAYS[play]
        assert error.maybe_executed is True
        assert server.host in str(error)
        assert isinstance(error.__cause__, Exception)
        assert_no_secrets(error)


def test_half_a_head_is_a_lost_connection(transport):
    """http.client takes a head that is cut off for a whole one, without its last headers."""
    whole = head(content_length=3, content_type="text/plain")
    for end in range(1, len(whole)):

        def play(connection, end=end):
            connection.request()
            connection.send(whole[:end])

        with Server(play) as server:
            raised(ConnectionLostError, lambda: get(transport, server.url))


@pytest.fixture(params=["ours", "theirs"])
def any_transport(request, transport):
    if request.param == "ours":
        yield transport
    else:
        with requests.Session() as session:
            yield RequestsTransport(session)


def closed_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{sock.getsockname()[1]}"


def fails_to_connect(transport, url, *words):
    error = raised(NotSentError, lambda: ask(transport, url))
    assert error.maybe_executed is False
    for word in words:
        assert word in str(error)
    assert_no_secrets(error)


def test_a_refused_connection_says_so(any_transport):
    """Host and port are named."""
    host = closed_port()
    fails_to_connect(any_transport, f"http://{host}", host, "refused")


def test_an_unknown_host_says_so(any_transport, monkeypatch):
    """The name is named, and what to look at."""

    def no_such_name(*args, **kwargs):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", no_such_name)
    fails_to_connect(any_transport, "http://nowhere.test", "nowhere.test", "no address found")


def test_a_name_that_is_none_is_an_invalid_argument(any_transport):
    """It is refused with our error, not one of `encodings.idna`."""
    url = f"http://{'x' * 70}.test"
    assert_no_secrets(raised(InvalidArgumentError, lambda: ask(any_transport, url)))


def test_a_certificate_that_is_not_trusted_says_what_to_set(any_transport, tls, monkeypatch):
    """Behind a proxy that opens TLS this is what everybody meets first."""
    monkeypatch.delenv("REQUESTS_CA_BUNDLE")
    with Server(silent, tls) as server:
        fails_to_connect(any_transport, server.url, server.host, "REQUESTS_CA_BUNDLE")


def test_a_server_without_tls_says_so(any_transport, tls):
    """https to a plain port."""
    with Server(lambda connection: connection.send(b"220 SMTP\r\n")) as server:
        fails_to_connect(any_transport, server.url.replace("http:", "https:"), "TLS")


def test_a_missing_ca_bundle_names_the_setting(any_transport, monkeypatch, tmp_path):
    """A path that is not there is a bad setting, and no reason to try again."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "missing.pem"))
    error = raised(ConfigurationError, lambda: ask(any_transport, "https://example.test"))
    assert "missing.pem" in str(error)
    assert "REQUESTS_CA_BUNDLE" in str(error)
    assert_no_secrets(error)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_is_not_there_says_so(any_transport, monkeypatch, scheme):
    """Its password is not shown."""
    monkeypatch.setenv(f"{scheme.upper()}_PROXY", f"http://user:s3cr3t@{closed_port()}")
    fails_to_connect(any_transport, f"{scheme}://example.test", "proxy", "example.test")


def test_a_proxy_that_refuses_says_so(any_transport, monkeypatch):
    """Its own words are kept."""

    def refuse(connection):
        connection.request()
        connection.send(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")

    with Server(refuse) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        fails_to_connect(any_transport, "https://example.test", "proxy", "407")


def test_a_proxy_setting_that_is_none_says_so(any_transport, monkeypatch):
    """It is a bad setting."""
    monkeypatch.setenv("HTTPS_PROXY", "http://")
    error = raised(ConfigurationError, lambda: ask(any_transport, "https://example.test"))
    assert "HTTPS_PROXY" in str(error)


def test_a_socks_proxy_without_its_library_says_so(any_transport, monkeypatch):
    """requests needs PySocks for it."""
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    error = raised(ConfigurationError, lambda: ask(any_transport, "https://example.test"))
    assert "SOCKS" in str(error)


@pytest.mark.parametrize("url", ["mailto:x@y", "no-scheme/x", "http://"])
def test_a_url_that_is_none_is_our_error(any_transport, url):
    """None of requests' own errors comes out."""
    raised((ConfigurationError, InvalidArgumentError), lambda: get(any_transport, url))


def test_a_host_that_does_not_answer_is_a_connect_timeout_with_any_session(any_transport):
    """Surely not executed."""
    from mistral_knowledge.transports import Timeout

    with fill_backlog() as url:
        timeout = Timeout(connect=0.2)
        error = raised(RequestTimeoutError, lambda: ask(any_transport, url, timeout))
    assert (error.which, error.maybe_executed) == ("connect", False)
    assert_no_secrets(error)


def test_what_the_caller_was_handling_is_left_as_it_is(transport):
    """Errors of the caller are no part of ours: neither looked at nor changed."""
    theirs = socket.timeout("Bearer sk-secret")
    try:
        raise theirs
    except OSError:
        fails = raised(NotSentError, lambda: get(transport, f"http://{closed_port()}"))
    assert theirs.args == ("Bearer sk-secret",)
    assert theirs.__traceback__ is not None
    assert fails.__context__ is theirs or fails.__cause__ is not None


def test_an_error_of_a_hook_is_not_ours(transport):
    """What is no error of the network passes through as the same object."""

    class Mine(Exception):
        pass

    mine, session = Mine(), requests.Session()

    def hook(response, **kwargs):
        raise mine

    session.hooks["response"].append(hook)
    with session, serve(lambda connection, seen: connection.send(head(content_length=0))) as server:
        assert raised(Mine, lambda: get(RequestsTransport(session), server.url)) is mine


def test_an_error_keeps_no_frames_of_the_failed_call(transport):
    """The request, its body and the connection are let go of with the failure."""
    import gc
    import weakref

    class Body:
        length = 3
        repeatable = False

        def __iter__(self):
            return iter([b"one"])

    gc.disable()
    try:
        body = Body()
        ref = weakref.ref(body)
        from .scripts import post

        with contextlib.suppress(NotSentError):
            post(transport, f"http://{closed_port()}", body)
        del body
        assert ref() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("own", [False, True], ids=["ours", "theirs"])
def test_the_log_of_urllib3_shows_no_query(transport, caplog, own):
    """A signed URL is a key; the queries of others are theirs to log."""
    session = requests.Session()
    transport = RequestsTransport(session) if own else transport
    with session, caplog.at_level("DEBUG"), serve(answer_empty) as server:
        ask(transport, server.url)
        session.get(server.url + "/other?theirs=1")
    assert "/path?***" in caplog.text
    assert "?theirs=1" in caplog.text
    for secret in SECRETS:
        assert secret not in caplog.text


def answer_empty(connection, seen):
    connection.send(head(content_length=0))


def test_threads_that_fail_do_not_disturb_each_other(transport):
    """Fifty failures at once are fifty clear errors."""
    url = f"http://{closed_port()}"
    for one in [Outcome(lambda: get(transport, url)) for _ in range(50)]:
        one._thread.join(20)
        assert type(one.error) is NotSentError
