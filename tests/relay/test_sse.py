"""`sse`: the bytes of each style, errors, silence, slow readers, and the end from outside."""

from __future__ import annotations

import json
import threading
import uuid
from typing import Any, List

import pytest

from mistral_knowledge import (
    AnswerStream,
    ConnectionLostError,
    FakeTransport,
    InvalidArgumentError,
    KnowledgeClient,
)
from mistral_knowledge.relay import sse
from mistral_knowledge.relay._json import wire_json
from mistral_knowledge.relay.styles import HEARTBEAT
from mistral_knowledge.transports.fake import Cut, Raise, Scripted, Stall

from .running import PATIENCE, events_in, wait_for_no_relay_threads

DONE = b"event: done\ndata: [DONE]\n\n"
QUIET = 60.0  # a heartbeat that no test lives to see


def chunk(text: Any, **choice: Any) -> bytes:
    payload = {"id": "a", "choices": [{"index": 0, "delta": {"content": text}, **choice}]}
    return b"data: %s\n\n" % json.dumps(payload).encode()


END = chunk("", finish_reason="stop") + b"data: [DONE]\n\n"


def stream_of(*steps: Any) -> AnswerStream:
    fake = FakeTransport(script=[Scripted.events(*steps)])
    stream = KnowledgeClient(transport=fake, retries=0).rag.stream("Why?", libraries="lib")
    stream.fake = fake  # type: ignore[attr-defined]
    return stream


def body_of(*steps: Any, style: str = "r2r") -> List[bytes]:
    return list(sse(stream_of(*steps), style, heartbeat=QUIET))


def test_r2r_frames_are_exactly_a_name_a_line_of_data_and_a_blank_line() -> None:
    message, _, done = body_of(chunk("Yes"), END)
    data = (
        b'{"id":"msg_00000000","object":"agent.message.delta",'
        b'"delta":{"content":[{"type":"text","payload":{"value":"Yes","annotations":[]}}]}}'
    )
    assert message == b"event: message\ndata: " + data + b"\n\n"
    assert done == DONE


def test_envelopes_are_one_write_an_event_and_have_no_end_mark() -> None:
    frames = body_of(chunk("Yes"), END, style="envelope")
    read = [json.loads(frame[len(b"data: ") : -2].decode("ascii")) for frame in frames]
    assert [one["event"] for one in read] == ["message", "final_answer"]
    assert all(frame.startswith(b"data: ") and frame.endswith(b"}\n\n") for frame in frames)
    assert all(frame.count(b"\n") == 2 for frame in frames)


@pytest.mark.parametrize("style", ["r2r", "envelope"])
def test_nothing_in_a_text_can_break_a_frame(style: str) -> None:
    text = "a\u2028b\u2029c\x85d\x0b\x0c\x1c\ne\r\n\n\nf\ud83d \U0001f600"
    frames = body_of(chunk(text), END, style=style)
    assert all(byte < 128 for frame in frames for byte in frame)
    data = json.loads(frames[0].split(b"data: ", 1)[1].decode("ascii"))
    data = data.get("data", data)
    assert data["delta"]["content"][0]["payload"]["value"] == text


@pytest.mark.parametrize(("style", "end"), [("r2r", [DONE]), ("envelope", [])])
def test_an_error_is_an_event_and_then_the_end(style: str, end: List[bytes]) -> None:
    frames = body_of(chunk("Yes"), Cut(), style=style)
    error = json.loads(frames[1].split(b"data: ", 1)[1].decode("ascii"))
    error = error.get("data", error)
    assert error["object"] == "agent.error"
    assert error["error"]["type"] == "agent_error"
    assert error["error"]["error_type"] == "AnswerTruncatedError"
    assert "broke" in error["error"]["message"]
    assert frames[2:] == end


def test_the_server_s_own_words_come_redacted() -> None:
    words = "no https://files.test/a?sig=s3cret for Bearer abc.def"
    _, error, done = body_of(
        chunk("Yes"), b'data: {"error": {"message": "%s"}}\n\n' % words.encode()
    )
    assert b"s3cret" not in error
    assert b"abc.def" not in error
    assert b"https://files.test/a?***" in error
    assert done == DONE


def test_what_is_no_error_of_ours_keeps_its_words_to_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    _, error, done = body_of(chunk("Yes"), Raise(RuntimeError("/home/me/key")))
    assert b"the answer failed inside the relay" in error
    assert b"/home/me" not in error
    assert b"Traceback" not in error
    assert done == DONE
    assert [record.getMessage() for record in caplog.records] == ["an answer failed: RuntimeError"]


def test_silence_is_filled_with_comments() -> None:
    stall = Stall()
    body = sse(stream_of(chunk("Yes"), stall), heartbeat=0.01)
    assert b"Yes" in next(body)
    assert [next(body), next(body)] == [HEARTBEAT, HEARTBEAT]
    body.close()
    wait_for_no_relay_threads()


def test_a_comment_is_no_chunk_that_a_page_would_parse() -> None:
    text = (HEARTBEAT + b"data: {}\n\n").decode("ascii")
    chunks = [one for one in text.split("\n\n") if one]
    assert [one for one in chunks if one.startswith("data: ")] == ["data: {}"]


@pytest.mark.parametrize("read", [0, 1])
def test_closing_the_body_ends_the_answer_upstream(read: int) -> None:
    stall = Stall()
    stream = stream_of(chunk("Yes"), stall)
    body = sse(stream, heartbeat=QUIET)
    for _ in range(read):
        next(body)
        assert stall.reached.wait(PATIENCE)
    body.close()
    body.close()
    assert stream.fake.requests[0].reply_closed  # type: ignore[attr-defined]
    assert list(body) == []
    wait_for_no_relay_threads()


def test_dropping_the_body_ends_the_answer_upstream() -> None:
    stall = Stall()
    stream = stream_of(chunk("Yes"), stall)
    body = sse(stream, heartbeat=QUIET)
    next(body)
    assert stall.reached.wait(PATIENCE)
    del body
    assert stream.fake.requests[0].reply_closed  # type: ignore[attr-defined]
    wait_for_no_relay_threads()


class Counted:
    """Counts how often it is reached."""

    def __init__(self, at: int) -> None:
        self.count = 0
        self.at = at
        self.reached = threading.Event()

    def run(self, moment: Any) -> None:
        self.count += 1
        if self.count == self.at:
            self.reached.set()


def test_a_slow_reader_holds_the_answer_back() -> None:
    counted = Counted(10)
    steps = [one for _ in range(500) for one in (counted, chunk("x"))]
    body = sse(stream_of(*steps, END), heartbeat=QUIET)
    next(body)
    assert counted.reached.wait(PATIENCE)
    assert counted.count < 40
    assert sum(frame.count(b"event: message") for frame in body) == 499
    wait_for_no_relay_threads()


def test_no_thread_is_left_after_a_whole_answer() -> None:
    body_of(chunk("Yes"), END)
    wait_for_no_relay_threads()


def test_another_style_is_refused_and_the_stream_ended() -> None:
    stream = stream_of(chunk("Yes"), END)
    with pytest.raises(InvalidArgumentError, match="'r2r' or 'envelope'"):
        sse(stream, "xml")


def test_what_mistral_invents_is_passed_on_under_unknown_and_not_under_its_own_name() -> None:
    body = [
        b'data: {"type": "conversation.response.started", "conversation_id": "c"}\n\n',
        b'data: {"type": "final_answer", "hint": NaN}\n\n',
        b'data: {"type": "conversation.response.done", "usage": {}}\n\n',
    ]
    fake = FakeTransport(script=[Scripted.events(b"".join(body))])
    stream = KnowledgeClient(transport=fake).rag.agent.stream("Why?", libraries="lib")
    (first, final, _) = events_in(b"".join(sse(stream, heartbeat=QUIET)))
    payload = {"type": "final_answer", "hint": None}
    assert first == ("unknown", {"name": "final_answer", "payload": payload})
    assert final[0] == "final_answer"


def test_ids_of_sources_are_uuids_the_same_each_time(client: KnowledgeClient) -> None:
    library = client.libraries.create("Sky")
    client.documents.upload(library, ("sky.md", "The sky is blue."), wait=True)
    seen = []
    for _ in range(2):
        stream = client.rag.stream("Why is the sky blue?", libraries=library)
        events = dict(events_in(b"".join(sse(stream, heartbeat=QUIET))))
        (found,) = events["search_results"]["data"]["chunk_search_results"]
        assert set(found) >= {"owner_id", "collection_ids", "score", "text", "metadata"}
        assert events["citation"]["source_id"] == found["id"]
        assert events["citation"]["payload"] == found
        assert events["final_answer"]["citations"][0]["payload"] == found
        seen.append((str(uuid.UUID(found["id"])), str(uuid.UUID(found["document_id"]))))
    assert seen[0][1] == seen[1][1]


def test_wire_json_is_json_whatever_it_is_given() -> None:
    deep: List[Any] = []
    for _ in range(200_000):
        deep = [deep]
    assert wire_json(float("nan")) == b"null"
    assert wire_json({"a": [float("inf"), 1]}) == b'{"a":[null,1]}'
    assert wire_json(deep) == b'{"omitted":"it nests too deep"}'
    assert wire_json(uuid.UUID(int=0)) == b'"00000000-0000-0000-0000-000000000000"'


def test_an_error_before_the_first_event_is_told_too() -> None:
    frames = body_of(Raise(ConnectionLostError("lost")))
    assert b"event: error" in frames[0]
    assert frames[1:] == [DONE]
