"""The caller's end of an answer: one end, one reader, and no connection left behind."""

import copy
import gc
import pickle
import queue
import threading
import tracemalloc
import weakref

import pytest

from mistral_knowledge.abort import AbortSignal
from mistral_knowledge.answers import source
from mistral_knowledge.answers.chat import ChatReader
from mistral_knowledge.answers.events import FinalAnswerEvent, MessageEvent
from mistral_knowledge.answers.stream import AnswerStream
from mistral_knowledge.errors import (
    AbortedError,
    AnswerTruncatedError,
    ConnectionLostError,
    InvalidArgumentError,
    MalformedEventError,
    RequestTimeoutError,
)

from .wire import USAGE, Reply, chunk, good, sse, stream_of

BODY = good("one ", "two ", "three")


def pieces(body=BODY):
    return [block + b"\n\n" for block in body.split(b"\n\n") if block]


def opened(body_pieces, signal=None):
    reply = Reply(body_pieces)
    return AnswerStream(reply, ChatReader(), signal), reply


class Silence:
    """A body that stalls where it is told to, until the reply is closed."""

    headers = {"content-type": "text/event-stream"}
    status = 200

    def __init__(self, start):
        self.start = start
        self.stalling = queue.SimpleQueue()
        self._closed = queue.SimpleQueue()
        self.was_closed = False

    def __iter__(self):
        yield self.start
        self.stalling.put(True)
        self._closed.get(timeout=30)
        raise AbortedError("the reply was closed")

    def close(self):
        self.was_closed = True
        self._closed.put(True)


def test_the_last_event_is_the_final_answer_and_nothing_follows_it():
    stream = stream_of(BODY)
    events = list(stream)
    assert [type(event) for event in events] == [MessageEvent] * 3 + [FinalAnswerEvent]
    assert stream.answer is events[-1].answer
    with pytest.raises(StopIteration):
        next(stream)


def test_every_prefix_of_a_good_body_ends_in_an_answer_only_once_its_end_mark_is_in():
    mark = BODY.index(b"}\n\n", BODY.index(b'"stop"')) + 3
    for end in range(len(BODY) + 1):
        stream = stream_of(BODY[:end])
        if end >= mark:
            assert stream.get_answer().text == "one two three", end
        else:
            with pytest.raises(AnswerTruncatedError):
                stream.get_answer()
            assert stream.answer is None


@pytest.mark.parametrize(
    "body", [sse(chunk("x")), sse(chunk("x")) + b"data: {", sse(chunk("x"))[:-1]]
)
def test_a_stream_that_just_stops_carries_what_came_and_is_no_answer(body):
    with pytest.raises(AnswerTruncatedError) as caught:
        stream_of(body).get_answer()
    assert caught.value.partial.text in ("x", "")


def test_a_connection_lost_before_the_end_mark_is_a_truncation_and_keeps_its_cause():
    lost = ConnectionLostError("reset")
    with pytest.raises(AnswerTruncatedError) as caught:
        stream_of([sse(chunk("x")), lost]).get_answer()
    assert (caught.value.partial.text, caught.value.__cause__) == ("x", lost)


@pytest.mark.parametrize(
    "error", [ConnectionLostError("reset"), RequestTimeoutError("silent", "idle")]
)
def test_what_is_lost_behind_the_end_mark_costs_at_most_the_usage(error):
    whole = stream_of([sse(chunk("x"), chunk("", "stop")), error]).get_answer()
    assert (whole.text, whole.usage) == ("x", None)


def test_silence_behind_the_end_mark_does_not_hold_the_answer_back(monkeypatch):
    monkeypatch.setattr(source, "USAGE_SECONDS", 0.01)
    for ending in (chunk("", "stop"), chunk("", "stop", usage=USAGE)):
        reply = Silence(sse(chunk("x"), ending))
        assert AnswerStream(reply, ChatReader()).get_answer().text == "x"
        assert reply.was_closed


def test_a_timeout_before_the_end_mark_is_raised_as_it_is():
    with pytest.raises(RequestTimeoutError) as caught:
        stream_of([sse(chunk("x")), RequestTimeoutError("silent", "idle")]).get_answer()
    assert caught.value.which == "idle"


def test_a_stream_that_failed_never_ends_as_if_it_were_whole():
    stream = stream_of(sse(chunk("x")))
    next(stream)
    for _ in range(2):
        with pytest.raises(AnswerTruncatedError) as caught:
            next(stream)
        assert caught.value.partial.text == "x"
    with pytest.raises(AnswerTruncatedError):
        list(stream)
    with pytest.raises((AnswerTruncatedError, InvalidArgumentError)):
        stream.get_answer()


def test_a_stream_whose_reading_was_interrupted_gives_no_answer():
    stream = stream_of([sse(chunk("x")), KeyboardInterrupt()])
    next(stream)
    with pytest.raises(KeyboardInterrupt):
        next(stream)
    with pytest.raises(AnswerTruncatedError):
        stream.get_answer()


def test_an_abort_wins_over_what_the_reading_met():
    signal = AbortSignal()

    def body():
        yield sse(chunk("x"))
        signal.abort("stop")
        yield sse("{")

    stream, _ = opened(body(), signal)
    next(stream)
    with pytest.raises(AbortedError) as caught:
        next(stream)
    assert caught.value.reason == "stop"


def test_a_failure_is_raised_once_and_the_stream_stays_closed():
    stream = stream_of(sse(chunk("x")))
    with pytest.raises(AnswerTruncatedError):
        stream.get_answer()
    with pytest.raises(AbortedError):
        next(stream)


@pytest.mark.parametrize("leave", ["break", "raise", "with", "close", "drop"])
def test_leaving_early_closes_the_connection_at_once(leave):
    stream, reply = opened(pieces())
    held = [stream]
    if leave == "break":
        for _ in stream:
            break
    elif leave == "raise":
        with pytest.raises(ZeroDivisionError):
            for _ in stream:
                raise ZeroDivisionError
    elif leave == "with":
        with stream:
            next(stream)
    elif leave == "close":
        next(stream)
        stream.close()
        stream.close()
    else:
        next(stream)
        held.clear()
        del stream
    assert reply.closed >= 1


def test_a_dropped_stream_is_freed_without_the_garbage_collector():
    gc.disable()
    try:
        stream, _ = opened(pieces())
        next(stream)
        gone = weakref.ref(stream)
        del stream
        assert gone() is None
    finally:
        gc.enable()


def test_what_the_loop_body_raises_is_never_wrapped():
    class Mine(Exception):
        pass

    error = Mine()
    with pytest.raises(Mine) as caught:
        for _ in stream_of(BODY):
            raise error
    assert caught.value is error


def test_a_foreign_exception_from_the_reading_comes_out_as_the_same_object():
    class SoftTimeLimitExceeded(Exception):
        pass

    limit = SoftTimeLimitExceeded()
    stream, reply = opened([pieces()[0], limit])
    with pytest.raises(SoftTimeLimitExceeded) as caught:
        stream.get_answer()
    assert caught.value is limit
    assert reply.closed >= 1


def test_a_second_loop_gets_a_clear_error():
    stream = stream_of(BODY)
    list(stream)
    with pytest.raises(InvalidArgumentError, match="already looped"):
        list(stream)


def test_next_may_come_before_the_loop():
    stream = stream_of(BODY)
    assert [next(stream).delta, *stream.text_stream] == ["one ", "two ", "three"]


def test_get_answer_reads_the_rest_and_gives_the_same_answer_again():
    stream = stream_of(BODY)
    next(stream)
    assert stream.get_answer() is stream.get_answer()


def test_a_second_thread_gets_a_clear_error_while_the_first_one_reads():
    reply = Silence(sse(chunk("x")))
    stream = AnswerStream(reply, ChatReader())
    outcome = queue.SimpleQueue()
    reader = threading.Thread(target=lambda: outcome.put(_outcome(stream.get_answer)))
    reader.start()
    reply.stalling.get(timeout=30)
    with pytest.raises(InvalidArgumentError, match="another thread"):
        next(stream)
    stream.close()
    assert isinstance(outcome.get(timeout=30), AbortedError)
    reader.join(30)


def test_close_from_another_thread_ends_a_blocked_reader_with_an_error_and_never_an_answer():
    reply = Silence(sse(chunk("x")))
    stream = AnswerStream(reply, ChatReader())
    outcome = queue.SimpleQueue()
    reader = threading.Thread(target=lambda: outcome.put(_outcome(stream.get_answer)))
    reader.start()
    reply.stalling.get(timeout=30)
    stream.close()
    assert isinstance(outcome.get(timeout=30), AbortedError)
    assert stream.answer is None
    reader.join(30)


def _outcome(call):
    try:
        return call()
    except AbortedError as error:
        return error


def test_an_abort_between_two_events_ends_the_stream_although_bytes_are_there():
    signal = AbortSignal()
    stream, reply = opened([BODY], signal)
    next(stream)
    signal.abort("enough")
    with pytest.raises(AbortedError) as caught:
        next(stream)
    assert (caught.value.reason, stream.answer) == ("enough", None)
    assert reply.closed >= 1


def test_an_abort_while_the_last_event_is_made_gives_no_answer():
    signal = AbortSignal()

    def body():
        yield sse(chunk("x"), chunk("", "stop", usage=USAGE))
        signal.abort()
        yield sse(done=True)

    stream, _ = opened(body(), signal)
    with pytest.raises(AbortedError):
        stream.get_answer()
    assert stream.answer is None


def test_on_update_gets_the_growing_partial_and_is_never_called_after_the_end():
    seen = []
    whole = stream_of(BODY).get_answer(seen.append)
    assert [partial.text for partial in seen] == ["one ", "one two ", "one two three"]
    assert whole.text == "one two three"


def test_what_on_update_raises_ends_the_call_and_closes_the_connection():
    stream, reply = opened(pieces())

    def refuse(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stream.get_answer(refuse)
    assert reply.closed >= 1


def test_a_partial_answer_is_a_snapshot_that_does_not_grow():
    stream = stream_of(BODY)
    next(stream)
    partial = stream.partial
    stream.get_answer()
    assert (partial.text, stream.partial.text) == ("one ", "one two three")


def test_every_event_and_answer_survives_pickle_and_deepcopy():
    reference = [{"type": "reference", "reference_ids": [1]}]
    thinking = [{"type": "thinking", "thinking": "hm"}]
    events = list(stream_of(good("x", reference, thinking, [{"type": "odd"}])))
    assert pickle.loads(pickle.dumps(events)) == events
    assert copy.deepcopy(events) == events
    data = [event.data for event in events]
    assert pickle.loads(pickle.dumps(data)) == data


def test_a_pickled_error_keeps_the_text_and_drops_urls_and_raw_chunks():
    url = "https://f/d?sig=SECRET"
    cited = [{"type": "document_url", "document_url": url, "document_name": "a.pdf"}]
    with pytest.raises(MalformedEventError) as caught:
        stream_of(sse(chunk("x"), chunk(cited), "{")).get_answer()
    frozen = pickle.dumps(caught.value)
    again = pickle.loads(frozen)
    assert b"SECRET" not in frozen
    assert (again.partial.text, again.partial.citations[0].title) == ("x", "a.pdf")
    assert str(again) == str(caught.value)


def test_the_repr_of_a_stream_shows_no_text():
    stream = stream_of(good("private"))
    next(stream)
    assert "private" not in repr(stream)


def test_nothing_of_an_event_stays_but_its_text():
    events, packet = 3_000, 100
    body = b"".join(sse(chunk(f" word{number}")) for number in range(packet))
    end = sse(chunk("", finish_reason="stop"), done=True)
    pieces = (body if number else end for number in range(events // packet, -1, -1))
    stream = stream_of(pieces)
    next(stream)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        came = sum(1 for _ in stream)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert came == events
    assert len(stream.answer.text) == sum(len(f" word{number}") for number in range(packet)) * 30
    assert grown < 100 * events
