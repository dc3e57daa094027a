"""FakeTransport does what networks do, and says what was asked."""

import json
import threading
from typing import Any, List

import pytest

from mistral_knowledge.abort import AbortSignal
from mistral_knowledge.errors import (
    AbortedError,
    ConnectionLostError,
    NotSentError,
    RequestTimeoutError,
    TransportError,
)
from mistral_knowledge.fake_api import KnowledgeApi
from mistral_knowledge.transports import Request, Timeout, Transport
from mistral_knowledge.transports.fake import (
    Cut,
    Delay,
    FakeTransport,
    Raise,
    Scripted,
    Stall,
)

URL = "https://api.mistral.ai/v1/libraries"


class Upload:
    """A `Body` that counts how far it was read."""

    repeatable = True

    def __init__(self, *blocks: bytes) -> None:
        self.blocks = blocks
        self.read = 0

    @property
    def length(self) -> int:
        return sum(map(len, self.blocks))

    def __iter__(self) -> Any:
        for block in self.blocks:
            self.read += 1
            yield block


def get(url: str = URL, **fields: Any) -> Request:
    return Request("GET", url, **fields)


def post(body: Any, **headers: str) -> Request:
    return Request("POST", URL, headers=headers, body=body)


def scripted(*steps: Any, **fields: Any) -> FakeTransport:
    return FakeTransport(script=[Scripted(steps=steps, **fields)])


def reads(reply: Any) -> List[bytes]:
    """The pieces of a body up to its end or its error, and the error's class."""
    pieces: List[Any] = []
    try:
        for piece in reply:
            pieces.append(piece)
    except (TransportError, AbortedError) as error:
        pieces.append(type(error))
    return pieces


def test_it_is_a_transport_that_needs_no_key():
    transport: Transport = FakeTransport()
    assert transport.needs_key is False


def test_by_default_the_in_memory_api_answers():
    fake = FakeTransport()
    made = fake.send(post(b'{"name":"Physics"}'))
    assert (made.status, made.headers["content-type"]) == (201, "application/json")
    assert json.loads(b"".join(made))["name"] == "Physics"
    assert json.loads(b"".join(fake.send(get())))["data"][0]["name"] == "Physics"


def test_an_api_that_is_given_outlives_the_transport():
    with KnowledgeApi() as api:
        fake = FakeTransport(api)
        list(fake.send(post(b'{"name":"a"}')))
        fake.close()
        assert len(json.loads(b"".join(FakeTransport(api).send(get())))["data"]) == 1


def test_a_closed_transport_sends_nothing():
    fake = FakeTransport()
    fake.close()
    with pytest.raises(NotSentError):
        fake.send(get())


def test_each_scripted_bytes_object_is_a_read_of_its_own():
    reply = scripted(b"a", b"", b"bc", status=202, headers={"X-One": "1"}).send(get())
    assert (reply.status, reply.headers) == (202, {"x-one": "1"})
    assert reads(reply) == [b"a", b"bc"]


def test_json_and_events_set_their_content_type():
    fake = FakeTransport(script=[Scripted(json={"a": 1}), Scripted.events(b"data: 1\n\n")])
    replies = [fake.send(get()) for _ in range(2)]
    types = [reply.headers["content-type"] for reply in replies]
    assert types == ["application/json", "text/event-stream"]
    assert [b"".join(reply) for reply in replies] == [b'{"a":1}', b"data: 1\n\n"]


def test_time_passes_only_on_the_fake_clock():
    fake = scripted(b"a", Delay(100), b"b", Delay(100), b"c")
    assert reads(fake.send(get())) == [b"a", b"b", b"c"]
    assert fake.clock.now == 200


@pytest.mark.parametrize(
    ("timeout", "which", "expected"),
    [
        (Timeout(idle=15), "idle", 15),
        (Timeout(idle=100, total=25), "total", 25),
        (Timeout(idle=20, total=20), "idle", 20),
    ],
)
def test_a_delay_beyond_a_limit_ends_the_body_and_says_which(timeout, which, expected):
    fake = scripted(Delay(10), Delay(20), b"late")
    with pytest.raises(RequestTimeoutError) as caught:
        list(fake.send(get(timeout=timeout)))
    assert (caught.value.which, fake.clock.now) == (which, expected)


def test_the_idle_limit_starts_anew_with_each_piece():
    fake = scripted(Delay(10), b"a", Delay(10), b"b")
    assert reads(fake.send(get(timeout=Timeout(idle=15)))) == [b"a", b"b"]


def test_a_delay_before_the_headers_runs_into_the_first_byte_limit():
    fake = scripted(b"a", before=[Delay(10)])
    with pytest.raises(RequestTimeoutError) as caught:
        fake.send(get(timeout=Timeout(first_byte=5)))
    assert (caught.value.which, fake.clock.now) == ("first_byte", 5)


def test_no_limit_means_no_limit():
    fake = scripted(Delay(10**6), b"a", before=[Delay(10**6)])
    assert reads(fake.send(get(timeout=Timeout.of(None)))) == [b"a"]


def test_a_cut_body_is_a_lost_connection_after_what_came():
    assert reads(scripted(b"a", Cut(), b"b").send(get())) == [b"a", ConnectionLostError]


class SoftTimeLimitExceeded(Exception):
    pass


def test_what_is_raised_comes_out_as_the_same_object_and_closes_the_reply():
    error = SoftTimeLimitExceeded()
    fake = scripted(b"a", Raise(error))
    reply = fake.send(get())
    with pytest.raises(SoftTimeLimitExceeded) as caught:
        list(reply)
    assert (caught.value, fake.open_replies) == (error, 0)


@pytest.mark.parametrize("error", [SoftTimeLimitExceeded(), ConnectionLostError, KeyboardInterrupt])
def test_send_itself_can_raise(error):
    body = Upload(b"a", b"b")
    kind = error if isinstance(error, type) else type(error)
    with pytest.raises(kind):
        FakeTransport(script=[Scripted(raises=error)]).send(post(body))
    assert body.read == 2


def test_a_connection_that_fails_reads_nothing_of_the_body():
    body = Upload(b"a", b"b")
    with pytest.raises(NotSentError):
        FakeTransport(script=[Scripted(raises=NotSentError("no route"))]).send(post(body))
    assert body.read == 0


def ended_from_another_thread(stall, end):
    def wait_then_end():
        assert stall.reached.wait(10)
        end()

    thread = threading.Thread(target=wait_then_end)
    thread.start()
    return thread


def test_a_stall_lasts_until_the_signal_aborts():
    signal, stall = AbortSignal(), Stall()
    reply = scripted(b"a", stall).send(get(signal=signal))
    thread = ended_from_another_thread(stall, lambda: signal.abort("enough"))
    with pytest.raises(AbortedError) as caught:
        list(reply)
    thread.join()
    assert (caught.value.reason, signal._callbacks) == ("enough", {})


def test_a_stall_lasts_until_the_reply_is_closed():
    stall = Stall()
    reply = scripted(b"a", stall).send(get())
    thread = ended_from_another_thread(stall, reply.close)
    assert reads(reply) == [b"a", AbortedError]
    thread.join()


def test_a_send_that_waits_for_headers_ends_with_the_signal():
    signal, stall = AbortSignal(), Stall()
    thread = ended_from_another_thread(stall, signal.abort)
    with pytest.raises(AbortedError):
        scripted(before=[stall]).send(get(signal=signal))
    thread.join()


def test_an_aborted_signal_sends_nothing():
    signal, fake = AbortSignal(), FakeTransport()
    signal.abort(RequestTimeoutError("over", "total"))
    with pytest.raises(RequestTimeoutError):
        fake.send(get(signal=signal))
    assert fake.requests == []


def test_an_abort_in_the_middle_of_an_upload_ends_it_there():
    signal, fake = AbortSignal(), FakeTransport()

    class Aborting(Upload):
        def __iter__(self):
            for block in super().__iter__():
                yield block
                signal.abort()

    body = Aborting(b"{", b"}", b" ")
    with pytest.raises(AbortedError):
        fake.send(Request("POST", URL, body=body, signal=signal))
    assert (body.read, fake.requests[0].body) == (2, b"{")


def test_an_abort_between_two_pieces_raises_at_the_next():
    signal = AbortSignal()
    pieces = iter(scripted(b"a", b"b").send(get(signal=signal)))
    assert next(pieces) == b"a"
    signal.abort()
    with pytest.raises(AbortedError):
        next(pieces)


def test_a_closed_reply_never_just_ends():
    reply = scripted(b"a", b"b").send(get())
    assert next(iter(reply)) == b"a"
    reply.close()
    reply.close()
    assert reads(reply) == [AbortedError]


def test_a_reply_that_was_read_to_its_end_stays_at_its_end():
    reply = scripted(b"a").send(get())
    assert (reads(reply), reads(reply)) == ([b"a"], [])
    reply.close()
    assert reads(reply) == []


def test_leaving_a_loop_early_loses_nothing_of_the_rest():
    reply = scripted(b"a", b"b").send(get())
    for _ in reply:
        break
    assert reads(reply) == [b"b"]


def test_replies_that_nobody_finished_are_counted():
    fake = FakeTransport(script=[Scripted(steps=[b"a"]) for _ in range(3)])
    first, second, third = (fake.send(get()) for _ in range(3))
    list(first)
    second.close()
    assert fake.open_replies == 1
    assert [request.reply_closed for request in fake.requests] == [True, True, False]
    third.close()
    assert fake.open_replies == 0


def test_a_request_beyond_the_script_fails_the_test():
    fake = scripted(b"a")
    fake.send(get()).close()
    with pytest.raises(AssertionError, match="used up: GET /v1/libraries"):
        fake.send(get())


def test_a_request_that_the_script_does_not_expect_fails_the_test():
    fake = FakeTransport(script=[Scripted(method="POST", path="/v1/files/*")])
    with pytest.raises(AssertionError, match=r"GET /v1/libraries, expected: POST /v1/files/\*"):
        fake.send(get())


def test_replies_can_be_scripted_in_front_of_the_api():
    fake = FakeTransport()
    fake.reply_next(status=201, json={"a": 1})
    fake.reply_next(Scripted(steps=[b"x"]), Scripted(steps=[b"y"]))
    bodies = [b"".join(fake.send(get())) for _ in range(4)]
    assert bodies[:3] == [b'{"a":1}', b"x", b"y"]
    assert json.loads(bodies[3])["data"] == []


def test_failures_come_as_often_as_asked_for_then_the_api_answers():
    fake = FakeTransport()
    fake.fail_next(429, headers={"Retry-After": "0"}, times=2)
    replies = [fake.send(get()) for _ in range(3)]
    assert [reply.status for reply in replies] == [429, 429, 200]
    assert replies[0].headers["retry-after"] == "0"
    assert json.loads(b"".join(replies[0]))["message"] == "Rate limit exceeded"


def test_a_failure_can_be_an_error_and_wait_for_its_request():
    fake = FakeTransport()
    fake.fail_next(error=ConnectionLostError("gone"), method="POST", path="/v1/lib*")
    assert fake.send(get()).status == 200
    with pytest.raises(ConnectionLostError, match="gone"):
        fake.send(post(b"{}"))


def test_a_failure_leaves_the_script_as_it_is():
    fake = scripted(b"a")
    fake.fail_next(500, json={"detail": "no"})
    assert b"".join(fake.send(get())) == b'{"detail":"no"}'
    assert b"".join(fake.send(get())) == b"a"


@pytest.mark.parametrize(
    ("after", "expected"), [(0, []), (2, [b"ab"]), (3, [b"ab", b"c"]), (9, [b"ab", b"cd"])]
)
def test_a_body_can_be_cut_after_any_byte(after, expected):
    fake = scripted(b"ab", b"cd")
    fake.cut_next(after)
    assert reads(fake.send(get())) == [*expected, ConnectionLostError]


def test_a_body_without_a_length_can_just_end():
    fake = scripted(b"ab", b"cd")
    fake.cut_next(3, clean=True)
    assert reads(fake.send(get())) == [b"ab", b"c"]


def test_an_error_can_come_in_the_middle_of_the_next_stream():
    fake = FakeTransport(
        script=[Scripted(json={}), Scripted.events(b"data: 1\n\n", b"data: 2\n\n")]
    )
    fake.error_in_stream_next("overloaded", code="1000", after_events=1)
    assert reads(fake.send(get())) == [b"{}"]
    first, error = reads(fake.send(get()))
    payload = json.loads(error[len(b"data: ") :])
    assert first == b"data: 1\n\n"
    assert (payload["object"], payload["message"], payload["code"]) == (
        "error",
        "overloaded",
        "1000",
    )


def test_what_was_asked_is_recorded_without_secrets():
    fake = FakeTransport()
    request = Request(
        "POST",
        f"{URL}?a=1",
        headers={"Authorization": "Bearer s3cret", "X-A": "b"},
        body=b'{"name":"private"}',
    )
    list(fake.send(request))
    record = fake.requests[0]
    assert (record.method, record.path, record.query) == ("POST", "/v1/libraries", "a=1")
    assert record.headers == {"authorization": "***", "x-a": "b"}
    assert (record.json, record.body_size) == ({"name": "private"}, 18)
    assert "s3cret" not in repr(vars_of(record))
    assert "private" not in repr(record)


def vars_of(record):
    return {name: getattr(record, name) for name in ("headers", "query", "path", "body", "parts")}


def test_uploads_are_recorded_part_by_part():
    fake = FakeTransport()
    body = Upload(
        b'--B\r\nContent-Disposition: form-data; name="purpose"\r\n\r\noc',
        b'r\r\n--B\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n',
        b"Content-Type: text/plain\r\n\r\n" + b"x" * 1000,
        b"x" * 1000 + b"\r\n--B--\r\n",
    )
    headers = {"Content-Type": "multipart/form-data; boundary=B"}
    request = Request("POST", "https://h/v1/files", headers=headers, body=body)
    assert json.loads(b"".join(fake.send(request)))["bytes"] == 2000
    purpose, file = fake.requests[0].parts
    assert (purpose.name, purpose.value, purpose.filename) == ("purpose", "ocr", None)
    assert (file.name, file.filename, file.content_type, file.size, file.value) == (
        "file",
        "a.txt",
        "text/plain",
        2000,
        None,
    )


def test_of_a_long_body_only_the_start_is_kept():
    fake = FakeTransport(keep_body=5)
    list(fake.send(post(Upload(b"abc", b"defg"))))
    assert (fake.requests[0].body, fake.requests[0].body_size) == (b"abcde", 7)


def test_a_body_that_the_api_does_not_read_is_sent_all_the_same():
    body = Upload(b"a", b"b", b"c")
    reply = FakeTransport().send(Request("POST", "https://h/v1/nothing", body=body))
    assert (reply.status, body.read) == (404, 3)


def test_what_the_body_raises_comes_out_as_it_is():
    class Broken(Upload):
        def __iter__(self):
            yield b"{"
            raise SoftTimeLimitExceeded

    for fake in (FakeTransport(), scripted(b"a")):
        with pytest.raises(SoftTimeLimitExceeded):
            fake.send(post(Broken()))


def test_one_transport_serves_many_threads():
    fake = FakeTransport()

    def work(number):
        name = f"n{number}"
        made = json.loads(b"".join(fake.send(post(json.dumps({"name": name}).encode()))))
        results[number] = made["name"]

    results: Any = {}
    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: f"n{number}" for number in range(20)}
    assert len(fake.requests) == 20
