"""`AnswerStream.close()` from another thread ends whatever is under way between two replies."""

import threading

import pytest

from mistral_knowledge import AbortedError, FakeTransport, KnowledgeClient, Retry
from mistral_knowledge._loopback import Server, chunk, head
from mistral_knowledge._scenarios import LONG, Outcome, until
from mistral_knowledge.testing import Gate
from mistral_knowledge.transports.fake import Scripted, Stall
from tests.answers.wire import sse

STARTED = {"type": "conversation.response.started", "conversation_id": "conv_1"}
CALL = {"type": "function.call.delta", "id": "fc", "tool_call_id": "c1", "name": "f"}
DONE = {"type": "conversation.response.done", "usage": {}}
ASKS = sse(STARTED, {**CALL, "arguments": "{}"}, DONE)
SLOW_DOWN = {"retry-after": "20"}


def asked(client, function=str):
    return client.rag.agent.stream("Why?", functions={"f": function})


def closed(stream, reached):
    """What the reader of `stream` ends with when it is closed as soon as `reached()`."""
    reading = Outcome(stream.get_answer)
    until(reached)
    stream.close()
    return reading.raised(AbortedError)


@pytest.mark.parametrize("secure", [False, True], ids=["http", "tls"])
def test_while_the_next_reply_has_no_head_yet(secure, tls):
    waiting, gone = Gate(), Gate()

    def play(connection):
        connection.request()
        kind = {"content_type": "text/event-stream", "transfer_encoding": "chunked"}
        connection.send(head(**kind) + chunk(ASKS) + chunk(b""))
        if connection.request() is not None:
            waiting.open()
            connection.wait_for_end()
            gone.open()

    with Server(play, tls if secure else None) as server:
        client = KnowledgeClient("key", base_url=server.url, timeout=LONG)
        assert closed(asked(client), waiting._opened.is_set).reason == "closed"
        gone.wait()
        client.close()


def test_while_the_next_reply_of_the_fake_has_no_head_yet():
    stall = Stall()
    fake = FakeTransport(script=[Scripted.events(ASKS), Scripted.events(before=[stall])])
    error = closed(asked(KnowledgeClient(transport=fake)), stall.reached.is_set)
    assert (error.reason, fake.open_replies) == ("closed", 0)


def test_while_the_next_request_waits_to_be_tried_again():
    fake = FakeTransport(script=[Scripted.events(ASKS), Scripted(429, SLOW_DOWN)])
    client = KnowledgeClient(transport=fake, retries=Retry(2, cap=60))
    assert closed(asked(client), lambda: len(fake.requests) == 2).reason == "closed"
    assert len(fake.requests) == 2


def test_while_a_function_runs_so_that_its_result_is_not_sent():
    called, returned = threading.Event(), Gate()

    def function():
        called.set()
        returned.wait()

    fake = FakeTransport(script=[Scripted.events(ASKS)])
    stream = asked(KnowledgeClient(transport=fake), function)
    reading = Outcome(stream.get_answer)
    until(called.is_set)
    stream.close()
    returned.open()
    assert reading.raised(AbortedError).reason == "closed"
    assert len(fake.requests) == 1


def test_an_answer_of_several_replies_keeps_its_connection():
    """The end of the loop closes the stream too, and must not shut down what went back."""
    replies = iter([ASKS, sse(STARTED, DONE)] * 3)

    def play(connection):
        for _ in iter(connection.request, None):
            kind = {"content_type": "text/event-stream", "transfer_encoding": "chunked"}
            connection.send(head(**kind) + chunk(next(replies)) + chunk(b""))

    with Server(play) as server, KnowledgeClient("key", base_url=server.url) as client:
        for _ in range(3):
            assert asked(client).get_answer().text == ""
        assert server.connections == 1
