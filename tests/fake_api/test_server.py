"""The same API over real HTTP."""

import http.client
import json
import socket
import threading
import urllib.request
from contextlib import closing

import pytest

from mistral_knowledge.errors import InvalidArgumentError
from mistral_knowledge.fake_api import ApiReply, KnowledgeApi
from mistral_knowledge.fake_api.server import serve

from .asking import FEES, MULTIPART, Asker, asking, multipart


@pytest.fixture
def server(api):
    with serve(api) as running:
        yield running


@pytest.fixture
def connection(server):
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)) as made:
        yield made


def call(connection, method, path, body=None, headers=None, **fields):
    connection.request(method, path, body, headers or {}, **fields)
    response = connection.getresponse()
    return response.status, response.read()


def raw(server, *blocks):
    """What comes back for bytes sent as they are, until the server closes."""
    with socket.create_connection(("127.0.0.1", server.port), 10) as sock:
        for block in blocks:
            sock.sendall(block)
        sock.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: sock.recv(65536), b""))


def test_one_connection_serves_many_requests(connection):
    call(connection, "GET", "/v1/libraries")
    first = connection.sock
    assert call(connection, "POST", "/v1/libraries", b'{"name":"a"}')[0] == 201
    assert call(connection, "GET", "/v1/nothing")[0] == 404
    assert call(connection, "GET", "/v1/libraries")[0] == 200
    assert connection.sock is first


def test_an_upload_may_come_with_a_length_or_in_chunks(connection, ask):
    path, body = f"{ask.library()}/documents", multipart("fees.md", FEES)
    assert call(connection, "POST", path, body, MULTIPART)[0] == 201
    pieces = iter([body[:30], body[30:]])
    assert call(connection, "POST", path, pieces, MULTIPART, encode_chunked=True)[0] == 200


def test_an_answer_without_a_body_leaves_the_connection_usable(connection, ask, museum):
    document = ask("GET", f"{museum}/documents")["data"][0]["id"]
    assert call(connection, "DELETE", f"{museum}/documents/{document}") == (204, b"")
    assert call(connection, "GET", "/v1/libraries")[0] == 200


def test_head_is_refused_without_a_body(connection):
    assert call(connection, "HEAD", "/v1/libraries") == (405, b"")
    assert call(connection, "GET", "/v1/libraries")[0] == 200


def test_a_refused_upload_is_read_so_that_its_sender_learns_why(connection):
    body = multipart("big.bin", b"x" * 3_000_000)
    assert call(connection, "POST", "/v1/nothing", body, MULTIPART)[0] == 404
    assert call(connection, "GET", "/v1/libraries")[0] == 200


def test_signed_urls_point_at_the_server(server, ask, museum):
    document = ask("GET", f"{museum}/documents")["data"][0]["id"]
    url = ask("GET", f"{museum}/documents/{document}/signed-url")
    assert url.startswith(server.url)
    with urllib.request.urlopen(url) as response:
        assert response.read() == FEES


def test_a_streamed_answer_comes_in_chunks_and_the_connection_stays(connection, museum):
    body = json.dumps(asking(museum, "What is the fee?", stream=True))
    connection.request("POST", "/v1/chat/completions", body)
    response = connection.getresponse()
    assert response.getheader("transfer-encoding") == "chunked"
    assert response.getheader("content-type").startswith("text/event-stream")
    assert response.read().endswith(b"data: [DONE]\n\n")
    assert call(connection, "GET", "/v1/libraries")[0] == 200


def test_each_piece_is_sent_when_it_is_made(server, api, monkeypatch):
    arrived = threading.Event()

    def pieces():
        yield b"first"
        assert arrived.wait(10), "the first piece was held back"
        yield b"second"

    monkeypatch.setattr(api, "handle", lambda request: ApiReply(200, {}, pieces()))
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)) as connection:
        connection.request("GET", "/")
        response = connection.getresponse()
        assert response.read1(100) == b"first"
        arrived.set()
        assert response.read() == b"second"


def test_http_1_0_gets_a_body_that_ends_with_the_connection(server, museum):
    body = json.dumps(asking(museum, "What is the fee?", stream=True)).encode()
    head = b"POST /v1/chat/completions HTTP/1.0\r\ncontent-length: %d\r\n\r\n" % len(body)
    answer = raw(server, head + body)
    assert b"transfer-encoding" not in answer.lower()
    assert answer.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"POST /v1/libraries HTTP/1.1\r\ncontent-length: 50\r\n\r\n{",
        b"POST /v1/libraries HTTP/1.1\r\ncontent-length: -5\r\n\r\n",
        b"POST /v1/libraries HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"POST /v1/libraries HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n",
        b"POST /v1/libraries HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{}\r\n",
        b"POST /v1/libraries HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{",
    ],
)
def test_a_body_that_is_framed_wrongly_is_400_and_ends_the_connection(server, request_bytes):
    answer = raw(server, request_bytes)
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"connection: close" in answer


def test_an_upload_that_breaks_off_leaves_nothing(server, api):
    head = b"POST /v1/files HTTP/1.1\r\ncontent-type: multipart/form-data; boundary=B\r\n"
    body = multipart("a.txt", b"x" * 3_000_000)
    raw(server, head + b"content-length: %d\r\n\r\n" % len(body), body[:2_500_000])
    assert api._parts.store.number("SELECT count(*) FROM pieces") == 0


def test_close_ends_idle_and_busy_connections_and_their_threads(api, monkeypatch):
    before = threading.active_count()
    started, over = threading.Event(), threading.Event()

    def pieces():
        yield b"x"
        started.set()
        over.wait(10)
        while True:
            yield b"x" * 100_000

    server = serve(api)
    with socket.create_connection(("127.0.0.1", server.port), 10) as idle:
        idle.sendall(b"GET /v1/files HTTP/1.1\r\n\r\n")
        assert idle.recv(12) == b"HTTP/1.1 200"
        monkeypatch.setattr(api, "handle", lambda request: ApiReply(200, {}, pieces()))
        with socket.create_connection(("127.0.0.1", server.port), 10) as busy:
            busy.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert started.wait(10)
            over.set()
            server.close()
    server.close()
    assert threading.active_count() == before
    with pytest.raises(ConnectionError):
        socket.create_connection(("127.0.0.1", server.port), 10)


@pytest.mark.parametrize("host", ["0.0.0.0", "", "::", "example.org", "192.0.2.1"])
def test_a_host_that_others_can_reach_is_refused(api, host):
    with pytest.raises(InvalidArgumentError, match="allow_remote"):
        serve(api, host)


def test_a_host_that_others_can_reach_is_taken_if_asked_for(api):
    with serve(api, "0.0.0.0", allow_remote=True) as server:
        assert server.url == f"http://0.0.0.0:{server.port}"


def test_many_clients_at_once_each_get_their_own_answer(server, api):
    ask = Asker(api)
    results = {}

    def work(number):
        with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as mine:
            _, body = call(mine, "POST", "/v1/libraries", json.dumps({"name": f"n{number}"}))
            path = f"/v1/libraries/{json.loads(body)['id']}"
            upload = multipart("a.txt", f"The code of {number} is code{number}.".encode())
            _, body = call(mine, "POST", f"{path}/documents", upload, MULTIPART)
            for _ in range(2):
                call(mine, "GET", f"{path}/documents/{json.loads(body)['id']}")
            asked = json.dumps(asking(path, "What is the code?"))
            results[number] = call(mine, "POST", "/v1/chat/completions", asked)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = {number: body.decode() for number, (_, body) in results.items()}
    assert all(f"code{number}." in texts[number] for number in range(12))
    assert len(ask("GET", "/v1/libraries")["data"]) == 12


def test_a_signed_url_is_not_in_the_log(connection, ask, museum, caplog):
    caplog.set_level("DEBUG")
    document = ask("GET", f"{museum}/documents")["data"][0]["id"]
    url = ask("GET", f"{museum}/documents/{document}/signed-url")
    call(connection, "GET", url.partition("://")[2].partition("/")[2].join(["/", ""]))
    assert "/signed/original/" in caplog.text
    assert "signature" not in caplog.text


def test_a_database_that_fails_is_500(server, connection, api):
    api.close()
    assert call(connection, "GET", "/v1/libraries")[0] == 500


def test_a_served_api_needs_its_key():
    with KnowledgeApi(api_key="k") as api, serve(api) as server, closing(
        http.client.HTTPConnection("127.0.0.1", server.port)
    ) as connection:
        assert call(connection, "GET", "/v1/files")[0] == 401
        assert call(connection, "GET", "/v1/files", headers={"Authorization": "Bearer k"})[0] == 200
