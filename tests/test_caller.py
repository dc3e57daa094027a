"""_caller: headers, key, repetition, deadline, status; the fake's count shows each try."""

from __future__ import annotations

import datetime
import io
import json
import logging
import os
import sys
import threading
import time
import traceback
import uuid
from typing import Any, Callable, Dict, Iterator, List

import pytest

from mistral_knowledge import (
    AbortedError,
    AbortSignal,
    AuthenticationError,
    ConfigurationError,
    ConnectionLostError,
    FakeTransport,
    InvalidArgumentError,
    KnowledgeClient,
    KnowledgeError,
    NotFoundError,
    NotSentError,
    RateLimitError,
    RequestTimeoutError,
    Retry,
    ServerError,
    Timeout,
    UnexpectedResponseError,
    _caller,
)
from mistral_knowledge._caller import Call, decoded, encoded
from mistral_knowledge._version import __version__
from mistral_knowledge.transports import Reply, Request
from mistral_knowledge.transports.fake import Cut, Delay, Raise, Scripted, Stall

KEY = "sk-live-0123456789"
ID = "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10"
FILE = {"id": ID, "object": "file", "bytes": 3}
LIBRARY = {"id": ID, "name": "Notes"}
PATIENCE = 10.0


class Keyed(FakeTransport):
    """A fake that asks for a key, as the network does, and keeps the requests as they were sent."""

    needs_key = True

    def __init__(self, *script: Scripted) -> None:
        super().__init__(script=script)
        self.sent: List[Request] = []

    def send(self, request: Request) -> Reply:
        self.sent.append(request)
        return super().send(request)


def scripted(*script: Scripted, **options: Any) -> KnowledgeClient:
    options.setdefault("retries", Retry(2, backoff=0))
    return KnowledgeClient(transport=FakeTransport(script=script), **options)


def requests_of(client: KnowledgeClient) -> List[Any]:
    transport: Any = client._caller.transport
    return transport.requests  # type: ignore[no-any-return]


def all_closed(client: KnowledgeClient) -> bool:
    return all(record.reply_closed for record in requests_of(client))


def good(payload: Any = FILE, **fields: Any) -> Scripted:
    return Scripted(json=payload, **fields)


# Headers


OURS = f"mistral-knowledge/{__version__} python/{sys.version_info[0]}.{sys.version_info[1]}"


def test_a_json_call_sends_exactly_these_headers() -> None:
    keyed = Keyed(good(), good(LIBRARY))
    client = KnowledgeClient(KEY, transport=keyed)
    client.files.get(ID)
    client.libraries.create("Notes")
    common = {
        "user-agent": OURS,
        "accept": "application/json",
        "accept-encoding": "gzip, deflate",
        "authorization": f"Bearer {KEY}",
    }
    assert dict(keyed.sent[0].headers) == common
    assert dict(keyed.sent[1].headers) == {**common, "content-type": "application/json"}
    assert keyed.sent[1].body == b'{"name":"Notes"}'


def test_streams_and_downloads_ask_for_bytes_as_they_are() -> None:
    done = b'data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n'
    client = scripted(Scripted.events(done), Scripted(steps=[b"abc"]))
    client.rag.query("?", libraries=ID)
    client.files.download(ID)
    sent = [request.headers for request in requests_of(client)]
    assert [headers["accept"] for headers in sent] == [
        "text/event-stream",
        "application/octet-stream",
    ]
    assert {headers["accept-encoding"] for headers in sent} == {"identity"}


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({}, OURS),
        ({"user_agent": "my-app/2"}, f"my-app/2 {OURS}"),
        ({"default_headers": {"User-Agent": "my-app/3"}}, f"my-app/3 {OURS}"),
    ],
)
def test_every_request_names_our_version_behind_the_callers_own_words(
    options: Dict[str, Any], sent: str
) -> None:
    client = scripted(good(), **options)
    client.files.get(ID)
    assert requests_of(client)[0].headers["user-agent"] == sent


def test_headers_of_the_callers_go_with_every_request() -> None:
    client = scripted(good(), default_headers={"X-Team": "physics"})
    client.files.get(ID)
    assert requests_of(client)[0].headers["x-team"] == "physics"


# The key


def test_no_key_is_sent_where_none_is_needed() -> None:
    client = scripted(good(), api_key=KEY)
    client.files.get(ID)
    assert "authorization" not in requests_of(client)[0].headers


def test_the_key_is_read_at_each_call() -> None:
    keys = iter(["one", "two"])
    keyed = Keyed(good(), good())
    client = KnowledgeClient(lambda: next(keys), transport=keyed)
    for _ in range(2):
        client.files.get(ID)
    assert [request.headers["authorization"] for request in keyed.sent] == [
        "Bearer one",
        "Bearer two",
    ]


def test_the_key_of_the_environment_may_come_after_the_client(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keyed = Keyed(good())
    client = KnowledgeClient(transport=keyed)
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    client.files.get(ID)
    assert keyed.sent[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("key", [None, "", "  ", lambda: None, lambda: ""])
def test_without_a_key_the_error_says_what_to_do_and_nothing_is_sent(key: Any) -> None:
    keyed = Keyed()
    with pytest.raises(ConfigurationError, match="set the environment variable MISTRAL_API_KEY"):
        KnowledgeClient(key, transport=keyed).files.get(ID)
    assert keyed.sent == []


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY} x", f"{KEY}é", KEY.encode(), [KEY]])
def test_a_key_that_cannot_be_sent_is_never_shown(key: Any) -> None:
    keyed = Keyed()
    client = KnowledgeClient(lambda: key, transport=keyed)
    with pytest.raises(ConfigurationError, match="the API key cannot be used") as caught:
        client.files.get(ID)
    assert keyed.sent == []
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    ours = [frame for frame in shown.stack if frame.filename == _caller.__file__]
    assert ours != []
    assert [frame.locals for frame in ours if KEY in str(frame.locals)] == []
    assert KEY not in str(caught.value)


def test_what_the_callers_key_function_raises_comes_out_as_it_is() -> None:
    error = OSError("the vault is closed")

    def key() -> str:
        raise error

    with pytest.raises(OSError) as caught:  # noqa: PT011
        KnowledgeClient(key, transport=Keyed()).files.get(ID)
    assert caught.value is error


def test_a_key_that_the_server_quotes_in_its_error_is_hidden() -> None:
    words = {"message": f"Incorrect API key provided: {KEY}."}
    client = KnowledgeClient(KEY, transport=Keyed(Scripted(401, json=words)))
    with pytest.raises(AuthenticationError) as caught:
        client.files.get(ID)
    assert caught.value.message == "Incorrect API key provided: ***."


# Redirects


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
@pytest.mark.parametrize(
    ("location", "host"),
    [("https://evil.example/x?sig=s3cr3t", "evil.example"), ("/other", "the same host"), ("", "")],
)
def test_a_redirect_is_an_error_that_names_the_host(status: int, location: str, host: str) -> None:
    client = scripted(Scripted(status, {"location": location, "x-request-id": "r-1"}))
    with pytest.raises(UnexpectedResponseError) as caught:
        client.libraries.create("Notes")
    assert f"api.mistral.ai redirects to {host}" in str(caught.value)
    assert "s3cr3t" not in str(caught.value)
    assert (caught.value.status, caught.value.request_id) == (status, "r-1")
    assert (len(requests_of(client)), all_closed(client)) == (1, True)


# Refusals and their bodies


def test_a_refusal_has_the_servers_words_and_its_reply_is_closed() -> None:
    client = scripted(Scripted(404, {"x-request-id": "r-1"}, json={"detail": "File not found"}))
    with pytest.raises(NotFoundError) as caught:
        client.files.get(ID)
    assert str(caught.value) == "File not found (status 404, request id r-1)"
    assert all_closed(client)


@pytest.mark.parametrize("end", [Cut(), Raise(ConnectionLostError("gone"))])
def test_an_error_body_that_breaks_off_does_not_hide_the_error(end: Any) -> None:
    client = scripted(Scripted(404, steps=[b"no such ", b"file", end]))
    with pytest.raises(NotFoundError, match="no such file"):
        client.files.get(ID)
    assert all_closed(client)


def test_an_error_body_that_stalls_does_not_hold_the_error_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_caller, "_ERROR_BODY_SECONDS", 0.05)
    client = scripted(Scripted(404, steps=[b"no such file", Stall()]))
    with pytest.raises(NotFoundError, match="no such file"):
        client.files.get(ID)
    assert all_closed(client)


def test_an_error_body_without_end_is_read_only_in_part() -> None:
    read: List[int] = []

    class Endless(Scripted):
        def body(self) -> Any:
            for number in range(1000):
                read.append(number)
                yield b"x" * 1024

    client = scripted(Endless(500), retries=0)
    with pytest.raises(ServerError) as caught:
        client.files.get(ID)
    assert len(read) == 64
    assert len(caught.value.message) == 2000
    assert all_closed(client)


# Replies that are not what the endpoint speaks


def test_html_under_status_200_is_an_error_with_a_preview_and_the_request_id() -> None:
    page = b"<html>Log in at https://login.example/?token=s3cr3t</html>" + b" " * 500
    client = scripted(Scripted(200, {"content-type": "text/html", "x-request-id": "r"}, [page]))
    with pytest.raises(UnexpectedResponseError) as caught:
        client.files.get(ID)
    error = caught.value
    assert (error.status, error.content_type, error.request_id) == (200, "text/html", "r")
    assert "https://login.example/?***" in str(error)
    assert len(str(error)) < 300
    assert error.__context__ is None  # the decoder's error holds the whole body


@pytest.mark.parametrize("body", [b'{"text": "the words of a document', b"\xff", b"[" * 60_000])
def test_json_that_is_broken_is_not_shown_because_it_may_be_a_document(body: bytes) -> None:
    client = scripted(Scripted(200, {"content-type": "application/json"}, [body]))
    with pytest.raises(UnexpectedResponseError) as caught:
        client.documents.text(ID, ID)
    assert str(caught.value) == (
        f"expected JSON, got application/json that is broken or cut ({len(body)} bytes)"
    )


@pytest.mark.parametrize("payload", [None, [], "text", 5, {}, {"id": None}, {"id": ""}, {"id": []}])
def test_json_of_another_shape_is_an_error_of_ours(payload: Any) -> None:
    steps = [] if payload is None else [json.dumps(payload).encode()]
    with pytest.raises(UnexpectedResponseError, match="expected a File, got"):
        scripted(Scripted(200, steps=steps)).files.get(ID)


@pytest.mark.parametrize("charset", ["", "; charset=iso-8859-1", "; charset=nonsense"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_json_is_read_as_utf8_whatever_the_headers_say(charset: str, bom: bytes) -> None:
    body = bom + json.dumps({"id": ID, "filename": "naïve"}, ensure_ascii=False).encode()
    headers = {"content-type": f"application/json{charset}"}
    assert scripted(Scripted(200, headers, [body])).files.get(ID).filename == "naïve"


def test_an_empty_body_decodes_to_nothing() -> None:
    class Empty:
        status, headers = 200, {}  # type: Any

        def __iter__(self) -> Iterator[bytes]:
            return iter([b" ", b"\r\n"])

        def close(self) -> None: ...

    assert decoded(Empty()) is None


# Arguments on the wire


def test_json_goes_out_compact_with_datetimes_and_ids_as_text() -> None:
    value = {
        "at": datetime.datetime(2030, 1, 2, tzinfo=datetime.timezone.utc),
        "on": datetime.date(2030, 1, 2),
        "id": uuid.UUID(ID),
        "é": [1, True, None],
    }
    assert encoded(value) == (
        b'{"at":"2030-01-02T00:00:00Z","on":"2030-01-02","id":"%b","\\u00e9":[1,true,null]}'
        % ID.encode()
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object(), b"x", {(1,): 2}])
def test_what_has_no_json_is_refused_before_any_request(value: Any) -> None:
    client = scripted()
    with pytest.raises(InvalidArgumentError, match="cannot be sent as JSON"):
        client.documents.update(ID, ID, attributes={"x": value})
    assert requests_of(client) == []


def test_query_values_are_encoded_and_what_is_none_is_left_out() -> None:
    caller = scripted()._caller
    query = [("a", "x y&z=é"), ("b", None), ("c", True), ("c", False), ("d", 5)]
    url = caller._url(Call("GET", "/v1/x", query=query))
    assert url == "https://api.mistral.ai/v1/x?a=x+y%26z%3D%C3%A9&c=true&c=false&d=5"
    assert caller._url(Call("GET", "/v1/x", query=[("b", None)])) == "https://api.mistral.ai/v1/x"


# Repetition


def get(client: KnowledgeClient) -> Any:
    return client.files.get(ID)


def put(client: KnowledgeClient) -> Any:
    return client.libraries.share(ID, ID)


def patch(client: KnowledgeClient) -> Any:
    return client.libraries.update(ID, name="x")


def upload_document(client: KnowledgeClient) -> Any:
    return client.documents.upload(ID, ("a.txt", b"abc"))


def post(client: KnowledgeClient) -> Any:
    return client.libraries.create("Notes")


def ask(client: KnowledgeClient) -> Any:
    return client.rag.query("?", libraries=ID, streaming=False)


def upload_file(client: KnowledgeClient) -> Any:
    return client.files.upload(("a.txt", b"abc"))


def reprocess(client: KnowledgeClient) -> Any:
    return client.documents.reprocess(ID, ID)


def delete(client: KnowledgeClient) -> Any:
    return client.files.delete(ID)


SAFE = [get, put, patch, upload_document]
COSTLY = [post, ask, upload_file, reprocess, delete]
PERHAPS = [
    Scripted(500),
    Scripted(503),
    Scripted(504, {"retry-after": "0"}),
    Scripted(raises=ConnectionLostError("lost")),
    Scripted(raises=RequestTimeoutError("late", "first_byte")),
    Scripted(200, steps=[b'{"id', Cut()]),
]
SURELY_NOT = [
    Scripted(429),
    Scripted(429, {"retry-after": "0"}),
    Scripted(503, {"retry-after": "0"}),
    Scripted(raises=NotSentError("no route")),
]
FINAL = [
    Scripted(400),
    Scripted(401),
    Scripted(404),
    Scripted(409),
    Scripted(422),
    Scripted(301),
    Scripted(429, {"retry-after": "31"}),
    Scripted(raises=AbortedError()),
]


def tries(act: Callable[[KnowledgeClient], Any], failure: Scripted) -> int:
    client = scripted(*[failure] * 3)
    with pytest.raises(KnowledgeError):
        act(client)
    assert all_closed(client)
    return len(requests_of(client))


@pytest.mark.parametrize("failure", PERHAPS + SURELY_NOT)
@pytest.mark.parametrize("act", SAFE)
def test_what_is_safe_is_tried_again_after_each_failure_that_can_pass(
    act: Any, failure: Scripted
) -> None:
    assert tries(act, failure) == 3


@pytest.mark.parametrize("failure", SURELY_NOT)
@pytest.mark.parametrize("act", COSTLY)
def test_what_creates_or_costs_is_tried_again_if_it_surely_did_not_run(
    act: Any, failure: Scripted
) -> None:
    assert tries(act, failure) == 3


@pytest.mark.parametrize("failure", PERHAPS[:-1])
@pytest.mark.parametrize("act", COSTLY)
def test_what_creates_or_costs_is_sent_once_if_it_may_have_run(act: Any, failure: Scripted) -> None:
    assert tries(act, failure) == 1


@pytest.mark.parametrize("act", [post, upload_file])
def test_a_reply_that_breaks_off_is_no_reason_to_create_twice(act: Any) -> None:
    assert tries(act, PERHAPS[-1]) == 1


@pytest.mark.parametrize("failure", FINAL)
@pytest.mark.parametrize("act", [get, post])
def test_what_cannot_pass_is_not_tried_again(act: Any, failure: Scripted) -> None:
    assert tries(act, failure) == 1


def test_an_error_says_whether_the_request_may_have_run() -> None:
    client = scripted(Scripted(raises=RequestTimeoutError("late", "first_byte")))
    with pytest.raises(RequestTimeoutError) as caught:
        post(client)
    assert (caught.value.which, caught.value.maybe_executed) == ("first_byte", True)


def test_a_later_try_may_succeed() -> None:
    client = scripted(Scripted(503), Scripted(raises=ConnectionLostError()), good())
    assert client.files.get(ID).id == ID
    assert all_closed(client)


def test_a_storm_of_429_is_as_many_requests_as_were_allowed() -> None:
    fake = FakeTransport()
    client = KnowledgeClient(transport=fake, retries=Retry(4, backoff=0))
    fake.fail_next(429, times=100)
    with pytest.raises(RateLimitError):
        client.libraries.get(ID)
    assert (len(fake.requests), fake.open_replies) == (5, 0)
    with pytest.raises(RateLimitError):
        client.libraries.get(ID, retries=0)
    assert len(fake.requests) == 6
    with pytest.raises(RateLimitError):
        client.with_options(retries=Retry(1, backoff=0)).libraries.get(ID)
    assert len(fake.requests) == 8


def test_a_server_that_asks_for_more_than_the_cap_gets_its_error_raised_at_once() -> None:
    client = scripted(Scripted(429, {"retry-after": "120"}))
    with pytest.raises(RateLimitError) as caught:
        client.files.get(ID)
    assert caught.value.retry_after == 120


def test_an_abort_ends_the_sleep_before_the_next_try() -> None:
    signal = AbortSignal()
    client = scripted(Scripted(503), retries=Retry(1, backoff=60, cap=60))
    timer = threading.Timer(0.05, signal.abort, ["stop"])
    timer.start()
    began = time.monotonic()
    with pytest.raises(AbortedError) as caught:
        client.files.get(ID, signal=signal)
    assert time.monotonic() - began < 2
    assert (caught.value.reason, len(requests_of(client))) == ("stop", 1)
    timer.join(PATIENCE)


def test_a_call_with_an_aborted_signal_sends_nothing() -> None:
    signal = AbortSignal()
    signal.abort()
    client = scripted()
    with pytest.raises(AbortedError):
        client.files.get(ID, signal=signal)
    assert requests_of(client) == []


def test_an_abort_during_an_error_body_is_an_abort_not_that_error() -> None:
    signal, stall = AbortSignal(), Stall()
    client = scripted(Scripted(404, steps=[b"no", stall]))
    stopper = threading.Thread(target=lambda: stall.reached.wait(PATIENCE) and signal.abort("stop"))
    stopper.start()
    with pytest.raises(AbortedError):
        client.files.get(ID, signal=signal)
    stopper.join(PATIENCE)
    assert all_closed(client)


def test_a_signal_leaves_nothing_behind_in_it_after_the_calls() -> None:
    signal = AbortSignal()
    client = scripted(good(), Scripted(503), good(), Scripted(404))
    client.files.get(ID, signal=signal)
    client.files.get(ID, signal=signal)
    with pytest.raises(NotFoundError):
        client.files.get(ID, signal=signal)
    assert signal._callbacks == {}


# Uploads that are sent again


class Unseekable(io.RawIOBase):
    def __init__(self, content: bytes) -> None:
        self._left = io.BytesIO(content)

    def read(self, size: int = -1) -> bytes:
        return self._left.read(size)


def file_part(record: Any) -> bytes:
    return record.body.rsplit(b"\r\n\r\n", 1)[1].rsplit(b"\r\n--", 1)[0]  # type: ignore[no-any-return]


@pytest.mark.parametrize("upload", [upload_file, upload_document])
def test_a_repeated_upload_starts_again_where_the_file_stood(upload: Any) -> None:
    file = io.BytesIO(b"0123456789")
    file.seek(4)
    busy = Scripted(503, {"retry-after": "0"})
    client = scripted(busy, busy, good({"id": ID, "library_id": ID}))
    if upload is upload_file:
        client.files.upload(file, name="a.txt")
    else:
        client.documents.upload(ID, file, name="a.txt")
    assert [file_part(record) for record in requests_of(client)] == [b"456789"] * 3


def test_a_file_that_cannot_be_read_again_is_sent_once() -> None:
    client = scripted(Scripted(503, {"retry-after": "0"}))
    with pytest.raises(ServerError):
        client.documents.upload(ID, Unseekable(b"abc"), name="a.txt")  # type: ignore[arg-type]
    assert len(requests_of(client)) == 1


def test_a_file_that_was_not_begun_may_be_sent_after_all() -> None:
    client = scripted(Scripted(raises=NotSentError()), good({"id": ID}))
    client.documents.upload(ID, Unseekable(b"abc"), name="a.txt")  # type: ignore[arg-type]
    assert file_part(requests_of(client)[1]) == b"abc"


# Deadlines


@pytest.mark.parametrize(
    "script",
    [
        [Scripted(before=[Stall()])],
        [Scripted(200, steps=[b"{", Stall()])],
        [Scripted(404, steps=[b"no", Stall()])],
        [Scripted(503), Scripted(before=[Stall()])],
    ],
)
def test_the_total_limit_holds_over_tries_heads_bodies_and_error_bodies(
    script: List[Scripted],
) -> None:
    client = scripted(*script)
    began = time.monotonic()
    with pytest.raises(RequestTimeoutError) as caught:
        client.files.get(ID, timeout=0.1)
    assert time.monotonic() - began < 2
    assert (caught.value.which, len(requests_of(client))) == ("total", len(script))
    assert str(caught.value) == "the call took longer than its timeout of 0.1 s in all"
    assert all_closed(client)


def test_a_wait_that_would_pass_the_deadline_is_not_begun() -> None:
    client = scripted(Scripted(429, {"retry-after": "20"}))
    began = time.monotonic()
    with pytest.raises(RateLimitError) as caught:
        client.files.get(ID, timeout=10)
    assert time.monotonic() - began < 2
    assert caught.value.retry_after == 20


def test_a_deadline_keeps_no_thread_after_its_call() -> None:
    client = scripted(good(), Scripted(503), good())
    client.files.get(ID, timeout=60)
    client.files.get(ID, timeout=60)
    left = [one for one in threading.enumerate() if one.name == "mistral_knowledge-deadline"]
    for thread in left:
        thread.join(PATIENCE)
    assert [thread for thread in left if thread.is_alive()] == []


@pytest.mark.parametrize(
    ("given", "limits"),
    [
        ({}, Timeout()),
        ({"timeout": 5}, Timeout(total=5)),
        ({"timeout": None}, Timeout(None, None, None, None, None)),
        ({"timeout": Timeout(idle=1)}, Timeout(idle=1)),
    ],
)
def test_a_call_sets_its_own_limits(given: Dict[str, Any], limits: Timeout) -> None:
    client = scripted(good())
    client.files.get(ID, **given)
    assert requests_of(client)[0].timeout == limits


def test_a_number_for_a_call_leaves_the_other_limits_of_the_client() -> None:
    client = scripted(good(), timeout=Timeout(idle=7, total=9))
    client.files.get(ID, timeout=5)
    assert requests_of(client)[0].timeout == Timeout(idle=7, total=5)


def test_an_idle_limit_that_runs_out_is_that_limits_error() -> None:
    client = scripted(Scripted(200, steps=[b"{", Delay(130), b"}"]), retries=0)
    with pytest.raises(RequestTimeoutError) as caught:
        client.files.get(ID)
    assert caught.value.which == "idle"


@pytest.mark.parametrize(
    "options", [{"timeout": 0}, {"timeout": -1}, {"timeout": "5"}, {"retries": -1}]
)
def test_options_that_cannot_work_are_refused_before_any_request(options: Any) -> None:
    client = scripted()
    with pytest.raises(InvalidArgumentError):
        client.files.get(ID, **options)
    assert requests_of(client) == []


# What is not ours


class SoftTimeLimitExceeded(Exception):
    """Celery's is a plain Exception, too."""


@pytest.mark.parametrize("cls", [SoftTimeLimitExceeded, KeyboardInterrupt, SystemExit, MemoryError])
@pytest.mark.parametrize("act", [get, post, upload_document])
@pytest.mark.parametrize("where", ["send", "body", "error body"])
def test_what_others_raise_passes_unharmed_after_one_request(
    act: Any, where: str, cls: Any
) -> None:
    error = cls("of somebody else")
    script = {
        "send": Scripted(raises=error),
        "body": Scripted(200, steps=[b"{", Raise(error)]),
        "error body": Scripted(500, steps=[b"x", Raise(error)]),
    }
    client = scripted(script[where])
    with pytest.raises(cls) as caught:
        act(client)
    assert caught.value is error
    assert (error.__cause__, error.__suppress_context__) == (None, False)
    assert (len(requests_of(client)), all_closed(client)) == (1, True)


def test_what_the_callers_file_raises_passes_unharmed() -> None:
    error = OSError("the disk is gone")

    class Broken(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            if size:
                raise error
            return b""

    client = scripted(Scripted(201, json={"id": ID}))
    with pytest.raises(OSError) as caught:  # noqa: PT011
        client.documents.upload(ID, Broken(), name="a.txt")  # type: ignore[arg-type]
    assert caught.value is error


# The log


def test_the_log_tells_method_path_status_try_and_request_id_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "mistral_knowledge")
    empty = {"data": [], "object": "list"}
    client = scripted(Scripted(503), good(empty, headers={"x-request-id": "r-2"}))
    assert list(client.files.list(search="prompt-like words")) == []
    lines = [record.getMessage() for record in caplog.records if record.name == "mistral_knowledge"]
    assert [line.split(" after ")[0] for line in lines] == [
        "GET /v1/files: 503",
        "GET /v1/files is tried again in 0.00 s",
        "GET /v1/files: 200",
    ]
    assert [line.rpartition("ms, ")[2] for line in lines[::2]] == [
        "try 1, request id None",
        "try 2, request id r-2",
    ]


def test_nothing_is_logged_above_debug_for_a_failing_call(caplog: pytest.LogCaptureFixture) -> None:
    client = scripted(Scripted(500), retries=0)
    with pytest.raises(ServerError):
        client.files.get(ID)
    assert [record for record in caplog.records if record.levelno > logging.DEBUG] == []


def test_calls_show_neither_body_nor_json_in_their_repr() -> None:
    call = Call("POST", "/v1/x", [("search", "private words")], json={"prompt": "secret words"})
    assert repr(call) == (
        "Call(method='POST', path='/v1/x', accept='application/json', repeatable=None)"
    )


def test_a_client_works_in_a_forked_child() -> None:

    client = KnowledgeClient(transport=FakeTransport(script=[good()]))
    pid = os.fork()
    if pid == 0:
        ok = client.files.get(ID).id == ID
        os._exit(0 if ok else 1)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.parametrize("location", ["http://[bad", "//[::1", "", "\x00"])
def test_a_redirect_to_an_address_that_cannot_be_read_is_refused_all_the_same(location) -> None:
    fake = FakeTransport(script=[Scripted(307, headers={"location": location})])
    with pytest.raises(UnexpectedResponseError, match="redirects to"):
        KnowledgeClient(transport=fake).libraries.get("a")


QUOTED = "sk-SECRETKEY123"
QUOTES = {
    "code and request id": Scripted(
        401, json={"message": "no", "code": f"c {QUOTED}", "request_id": f"r {QUOTED}"}
    ),
    "header": Scripted(500, headers={"x-request-id": QUOTED}),
    "HTML under 200": Scripted(
        headers={"content-type": f"text/html {QUOTED}"}, steps=[f"you sent {QUOTED}".encode()]
    ),
    "error in the stream": Scripted.events(
        b'data: {"object":"error","message":"bad key %s"}\n\n' % QUOTED.encode()
    ),
    "malformed event": Scripted.events(b"data: you sent %s\n\n" % QUOTED.encode()),
}


@pytest.mark.parametrize("reply", QUOTES.values(), ids=QUOTES)
def test_a_key_that_the_server_quotes_is_shown_nowhere(reply, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    for ask in (
        lambda client: client.rag.query("x", libraries="a"),
        lambda client: client.rag.agent.query("x", libraries="a"),
    ):
        client = KnowledgeClient(QUOTED, transport=Keyed(reply), retries=0)
        with pytest.raises(KnowledgeError) as caught:
            ask(client)
        error = caught.value
        assert QUOTED not in f"{error} {error.args!r} {vars(error)!r} {caplog.text}"


def test_a_servers_short_words_stay_on_their_line() -> None:
    odd = {"message": "no", "code": "a\nFORGED", "request_id": "b\r\n\x1b[31m"}
    fake = FakeTransport(script=[Scripted(400, json=odd)])
    with pytest.raises(KnowledgeError) as caught:
        KnowledgeClient(transport=fake).libraries.get("a")
    assert str(caught.value) == "no (status 400, code aFORGED, request id b[31m)"


@pytest.mark.parametrize(
    "reply", [Scripted(), Scripted(204), Scripted(json={}), Scripted(json={"message": "away"})]
)
def test_an_empty_reply_is_no_empty_list(reply) -> None:
    fake = FakeTransport(script=[reply])
    with pytest.raises(UnexpectedResponseError):
        KnowledgeClient(transport=fake).libraries.get_or_create("Physics")
    assert len(fake.requests) == 1


def test_an_error_object_under_200_is_an_error_and_no_success() -> None:
    body = {"object": "error", "message": "rate limited", "code": "1300"}
    for ask in (
        lambda client: list(client.libraries.list()),
        lambda client: client.libraries.delete("a"),
    ):
        with pytest.raises(KnowledgeError, match="rate limited"):
            ask(KnowledgeClient(transport=FakeTransport(script=[Scripted(json=body)]), retries=0))


@pytest.mark.parametrize("seconds", [float("inf"), 1e12, 10**400, float("nan"), 0, -1])
@pytest.mark.parametrize("limit", ["connect", "write", "first_byte", "idle", "total"])
def test_a_limit_that_no_system_can_wait_for_is_refused(limit: str, seconds: float) -> None:
    with pytest.raises(InvalidArgumentError, match="None for no limit"):
        Timeout(**{limit: seconds})


@pytest.mark.parametrize("status", [101, 206])
def test_a_status_that_is_no_whole_result_is_no_success(status: int) -> None:
    fake = FakeTransport(script=[Scripted(status, steps=[b"part"])])
    with pytest.raises(UnexpectedResponseError, match=str(status)):
        KnowledgeClient(transport=fake).files.download("a")


def test_an_argument_that_nests_too_deep_is_refused() -> None:
    deep: List[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidArgumentError, match="too deep"):
        encoded(deep)
