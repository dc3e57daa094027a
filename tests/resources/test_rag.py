"""`client.rag`: what goes out, and that both ways of asking give one answer."""

import json
import threading

import pytest

from mistral_knowledge import (
    AbortedError,
    AbortSignal,
    AnswerFailedError,
    AnswerTruncatedError,
    FakeTransport,
    FinalAnswerEvent,
    InvalidArgumentError,
    InvalidRequestError,
    KnowledgeClient,
    MessageEvent,
    RequestTimeoutError,
    Timeout,
)
from mistral_knowledge.transports.fake import Cut, Delay, Scripted, Stall
from tests.answers.wire import USAGE, chunk, completion, good, sse

TEXT = ("sky.md", "# The sky\n\nThe sky is blue because short waves are scattered more.\n")
LIBRARY = "11111111-1111-4111-8111-111111111111"


def scripted(*replies, **options):
    fake = FakeTransport(script=replies)
    return KnowledgeClient(transport=fake, retries=0, **options), fake


def streamed(*contents):
    return Scripted.events(good(*contents))


@pytest.fixture
def library(client):
    made = client.libraries.create("Notes")
    client.documents.upload(made, TEXT, wait=True)
    return made


def test_a_question_is_answered_from_the_documents_with_a_citation(client, library):
    answer = client.rag.query("Why is the sky blue?", libraries=library)
    assert "short waves are scattered" in answer.text
    assert [source.title for source in answer.sources] == ["sky.md"]
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def test_the_streamed_and_the_one_shot_answer_are_equal(client, library):
    question = "Why is the sky blue?"
    one_shot = client.rag.query(question, libraries=library, streaming=False)
    assert client.rag.query(question, libraries=library, streaming=True) == one_shot


def test_the_request_is_the_documented_one_and_carries_nothing_that_was_not_asked():
    client, fake = scripted(streamed("x"))
    client.rag.query("Why?", libraries=LIBRARY, temperature=0.5, max_tokens=None)
    assert fake.requests[0].json == {
        "model": "mistral-medium-latest",
        "messages": [{"role": "user", "content": "Why?"}],
        "tools": [{"type": "document_library", "library_ids": [LIBRARY]}],
        "temperature": 0.5,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    headers = fake.requests[0].headers
    assert (headers["accept"], headers["accept-encoding"]) == ("text/event-stream", "identity")


def test_the_one_shot_request_says_nothing_of_streams():
    client, fake = scripted(Scripted(json=completion("x")))
    client.rag.query("Why?", libraries=[LIBRARY], streaming=False)
    assert sorted(fake.requests[0].json) == ["messages", "model", "tools"]
    assert fake.requests[0].headers["accept"] == "application/json"


def test_messages_take_the_place_of_the_question_and_tools_are_added():
    client, fake = scripted(streamed("x"))
    messages = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Why?"}]
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    client.rag.query(messages=messages, libraries=LIBRARY, tools=[tool])
    assert fake.requests[0].json["messages"] == messages
    assert fake.requests[0].json["tools"][1:] == [tool]


@pytest.mark.parametrize(
    ("client_model", "call_model", "expected"),
    [(None, None, "mistral-medium-latest"), ("a", None, "a"), ("a", "b", "b")],
)
def test_the_call_beats_the_client_and_the_client_beats_the_default(
    client_model, call_model, expected
):
    client, fake = scripted(streamed("x"), model=client_model)
    client.rag.query("Why?", libraries=LIBRARY, model=call_model)
    assert fake.requests[0].json["model"] == expected


@pytest.mark.parametrize(
    "arguments",
    [
        {"question": " ", "libraries": LIBRARY},
        {"libraries": LIBRARY},
        {"question": "Why?", "messages": [{}], "libraries": LIBRARY},
        {"messages": [], "libraries": LIBRARY},
        {"messages": "abc", "libraries": LIBRARY},
        {"messages": {"role": "user"}, "libraries": LIBRARY},
        {"messages": 5, "libraries": LIBRARY},
        {"question": "Why?", "libraries": []},
        {"question": "Why?", "libraries": "a/../b"},
        {"question": "Why?", "libraries": 5},
        {"question": "Why?", "libraries": LIBRARY, "n": 2},
        {"question": "Why?", "libraries": LIBRARY, "stream": True},
        {"question": "Why?", "libraries": LIBRARY, "stop": {1}},
    ],
)
def test_what_cannot_work_is_refused_before_any_request(arguments):
    client, fake = scripted()
    with pytest.raises(InvalidArgumentError):
        client.rag.query(**arguments)
    assert fake.requests == []


REFUSED = {
    "detail": [
        {
            "type": "extra_forbidden",
            "loc": ["body", "stream_options", "include_usage"],
            "msg": "Extra inputs are not permitted",
            "input": True,
        }
    ]
}


def test_a_server_that_refuses_stream_options_is_asked_once_without_and_remembered():
    client, fake = scripted(
        Scripted(422, json=REFUSED), streamed("x"), streamed("y"), streamed("z")
    )
    assert client.rag.query("Why?", libraries=LIBRARY).text == "x"
    assert client.rag.query("Why?", libraries=LIBRARY).text == "y"
    assert client.with_options(model="m").rag.query("Why?", libraries=LIBRARY).text == "z"
    asked = ["stream_options" in request.json for request in fake.requests]
    assert asked == [True, False, False, False]


def test_another_422_is_raised_as_it_is():
    body = {
        "detail": [{"loc": ["body", "model"], "msg": "unknown", "type": "x", "input": "secret"}]
    }
    client, fake = scripted(Scripted(422, json=body))
    with pytest.raises(InvalidRequestError, match=r"body\.model: unknown") as caught:
        client.rag.query("Why?", libraries=LIBRARY)
    assert "secret" not in str(caught.value)
    assert len(fake.requests) == 1


def test_the_request_is_sent_when_stream_is_called_so_that_its_error_is_raised_there():
    client, _ = scripted(Scripted(401, json={"detail": "Unauthorized"}))
    with pytest.raises(Exception, match="Unauthorized"):
        client.rag.stream("Why?", libraries=LIBRARY)


def test_stream_with_streaming_off_yields_the_events_of_the_whole_answer():
    client, _ = scripted(Scripted(json=completion("whole")))
    events = list(client.rag.stream("Why?", libraries=LIBRARY, streaming=False))
    assert [type(event) for event in events] == [MessageEvent, FinalAnswerEvent]


def test_a_chat_request_is_not_repeated_when_it_may_have_been_executed(fake):
    client = KnowledgeClient(transport=FakeTransport(script=[Scripted(502)]), retries=3)
    with pytest.raises(Exception, match="502"):
        client.rag.query("Why?", libraries=LIBRARY)


@pytest.mark.parametrize(
    "limit", [{"status": 429}, {"status": 503, "headers": {"retry-after": "0"}}]
)
def test_a_chat_request_that_was_turned_away_is_repeated(client, fake, library, limit):
    asked = len(fake.requests)
    fake.fail_next(times=2, **limit)
    assert client.rag.query("Why is the sky blue?", libraries=library).text
    assert len(fake.requests) - asked == 3


def test_the_request_id_is_kept_with_the_answer_and_the_error():
    reply = Scripted(headers={"X-Request-Id": "r7"}, json=completion("x"))
    failed = Scripted(headers={"X-Request-Id": "r8"}, json={"object": "error", "message": "no"})
    client, _ = scripted(reply, failed)
    assert client.rag.query("Why?", libraries=LIBRARY).request_id == "r7"
    with pytest.raises(AnswerFailedError) as caught:
        client.rag.query("Why?", libraries=LIBRARY)
    assert caught.value.request_id == "r8"


def test_on_update_sees_the_answer_grow(client, library):
    seen = []
    answer = client.rag.query("Why is the sky blue?", libraries=library, on_update=seen.append)
    texts = [partial.text for partial in seen]
    assert len(texts) > 3
    assert all(later.startswith(earlier) for earlier, later in zip(texts, texts[1:]))
    assert texts[-1] == answer.text


def test_an_abort_while_the_server_is_silent_ends_the_call_without_a_partial_answer():
    stall = Stall()
    client, fake = scripted(Scripted.events(sse(chunk("half")), stall))
    signal = AbortSignal()
    threading.Thread(target=lambda: (stall.reached.wait(30), signal.abort("stop"))).start()
    with pytest.raises(AbortedError) as caught:
        client.rag.query("Why?", libraries=LIBRARY, signal=signal)
    assert caught.value.reason == "stop"
    assert fake.open_replies == 0


def test_an_abort_while_waiting_for_headers_ends_the_call():
    stall = Stall()
    client, _ = scripted(Scripted(before=[stall]))
    signal = AbortSignal()
    threading.Thread(target=lambda: (stall.reached.wait(30), signal.abort())).start()
    with pytest.raises(AbortedError):
        client.rag.stream("Why?", libraries=LIBRARY, signal=signal)


def test_a_signal_that_was_aborted_before_sends_nothing():
    client, fake = scripted()
    signal = AbortSignal()
    signal.abort()
    with pytest.raises(AbortedError):
        client.rag.query("Why?", libraries=LIBRARY, signal=signal)
    assert fake.requests == []


def test_silence_beyond_the_idle_limit_is_a_timeout_that_says_so():
    client, _ = scripted(Scripted.events(sse(chunk("half")), Delay(61), sse(chunk("late"))))
    with pytest.raises(RequestTimeoutError) as caught:
        client.rag.query("Why?", libraries=LIBRARY, timeout=Timeout(idle=60))
    assert caught.value.which == "idle"


def test_a_reply_that_is_cut_is_truncated_whatever_came():
    client, _ = scripted(Scripted.events(sse(chunk("half")), Cut()))
    with pytest.raises(AnswerTruncatedError) as caught:
        client.rag.query("Why?", libraries=LIBRARY)
    assert caught.value.partial.text == "half"


def test_leaving_the_loop_closes_the_reply(client, fake, library):
    for _ in client.rag.stream("Why is the sky blue?", libraries=library):
        break
    assert fake.open_replies == 0


def test_web_search_takes_the_road_of_conversations():
    done = {"type": "conversation.response.done", "usage": USAGE}
    events = [{"type": "conversation.response.started", "conversation_id": "conv_1"}]
    events += [{"type": "message.output.delta", "id": "m", "content": "x"}, done]
    client, fake = scripted(Scripted.events(sse(*events)))
    answer = client.rag.query("Why?", libraries=LIBRARY, web_search=True, temperature=0.1)
    assert (answer.text, answer.conversation_id) == ("x", "conv_1")
    assert (fake.requests[0].path, fake.requests[0].json) == (
        "/v1/conversations",
        {
            "inputs": "Why?",
            "model": "mistral-medium-latest",
            "tools": [
                {"type": "document_library", "library_ids": [LIBRARY]},
                {"type": "web_search"},
            ],
            "completion_args": {"temperature": 0.1},
            "stream": True,
        },
    )


def test_a_question_of_any_characters_goes_out_as_it_is():
    question = 'What is "\u2028\U0001f600" \\ \ud800?'
    client, fake = scripted(streamed("x"))
    client.rag.query(question, libraries=LIBRARY)
    assert json.loads(fake.requests[0].body)["messages"][0]["content"] == question
