"""Conversations: what their events mean, streamed and one-shot."""

import json

import pytest
from hypothesis import given, strategies as st

from mistral_knowledge.answers.conversations import ConversationReader
from mistral_knowledge.answers.events import (
    CitationEvent,
    FinalAnswerEvent,
    MessageEvent,
    SearchResultsEvent,
    ThinkingEvent,
    ToolCallEvent,
    ToolResultEvent,
    UnknownEvent,
)
from mistral_knowledge.answers.stream import AnswerStream
from mistral_knowledge.errors import (
    AnswerFailedError,
    AnswerTruncatedError,
    RateLimitError,
    UnexpectedResponseError,
)
from mistral_knowledge.models.answers import ToolCall, Usage

from .test_both_ways import CONTENTS, WORDS
from .wire import JSON, Reply, cut_at

USAGE = {
    "prompt_tokens": 188,
    "completion_tokens": 55,
    "total_tokens": 7355,
    "connector_tokens": 7112,
    "connectors": {"document_library": 1},
}


def event(kind, **fields):
    return kind, {"type": kind, **fields}


def started(conversation_id="conv_1"):
    return event("conversation.response.started", conversation_id=conversation_id)


def delta(content, index=1, **fields):
    shared = {"output_index": index, "id": f"msg_{index}", "role": "assistant"}
    return event("message.output.delta", content=content, **shared, **fields)


def done(usage=USAGE):
    return event("conversation.response.done", usage=usage)


def wire(*events, named=True):
    """The bytes of events; without their `event:` lines if not `named`."""
    blocks = [
        (f"event: {name}\n" if named else "") + f"data: {json.dumps(payload)}\n\n"
        for name, payload in events
    ]
    return "".join(blocks).encode("utf-8")


def stream_of(body, headers=None):
    pieces = [body] if isinstance(body, bytes) else body
    reply = Reply(pieces, headers or {"content-type": "text/event-stream"})
    return AnswerStream(reply, ConversationReader("req-1"))


def answer(*events, **options):
    return stream_of(wire(*events, **options)).get_answer()


def one_shot(outputs, **fields):
    body = {"object": "conversation.response", "conversation_id": "conv_1", "usage": USAGE}
    body = {**body, "outputs": outputs, **fields}
    return stream_of(json.dumps(body).encode("utf-8"), JSON)


def test_an_answer_has_text_usage_with_connectors_and_its_conversation():
    whole = answer(started(), delta("Spain"), delta("."), done())
    expected = Usage(188, 55, 7355, 7112, {"document_library": 1})
    facts = (whole.text, whole.usage, whole.conversation_id, whole.id, whole.request_id)
    assert facts == ("Spain.", expected, "conv_1", "msg_1", "req-1")


def test_all_event_types_come_in_their_order():
    results = [{"title": "euro.pdf", "url": None}, {"title": "other.pdf"}]
    reference = {"type": "tool_reference", "tool": "document_library", "title": "euro.pdf"}
    tool = {"output_index": 0, "id": "tool_1", "name": "document_library"}
    body = wire(
        started(),
        event("tool.execution.started", **tool, arguments='{"q"'),
        event("tool.execution.delta", **tool, arguments=": 1}"),
        event("tool.execution.done", **tool, info={"results": results}),
        delta({"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}),
        delta("Spain"),
        delta(reference),
        done(),
    )
    events = list(stream_of(body))
    assert [type(one) for one in events] == [
        ToolCallEvent,
        ToolResultEvent,
        SearchResultsEvent,
        ThinkingEvent,
        MessageEvent,
        CitationEvent,
        FinalAnswerEvent,
    ]
    assert events[0] == ToolCallEvent("tool_1", "document_library", '{"q": 1}')
    assert json.loads(events[1].content) == {"results": results}
    assert [source.title for source in events[2].results] == ["euro.pdf", "other.pdf"]
    assert events[5].citation.source_type == "document"


def test_a_tool_may_start_without_arguments_and_end_without_info():
    tool = {"id": "tool_1", "name": "web_search"}
    events = list(
        stream_of(
            wire(
                started(),
                event("tool.execution.started", **tool),
                event("tool.execution.done", **tool),
                delta("x"),
                done(),
            )
        )
    )
    assert events[:2] == [
        ToolCallEvent("tool_1", "web_search", ""),
        ToolResultEvent("tool_1", "", "web_search"),
    ]


def test_sources_that_a_search_did_not_tell_come_just_before_their_first_citation():
    page = {"type": "tool_reference", "tool": "web_search", "title": "T", "url": "https://t"}
    events = list(stream_of(wire(started(), delta("x"), delta(page), delta(page), done())))
    kinds = [type(one) for one in events]
    assert kinds == [
        MessageEvent,
        SearchResultsEvent,
        CitationEvent,
        CitationEvent,
        FinalAnswerEvent,
    ]


FRAGMENTS = {
    "whole": [{"id": "fc_1", "tool_call_id": "a", "name": "f", "arguments": '{"x":1}'}],
    "pieces": [
        {"id": "fc_1", "tool_call_id": "a", "name": "f", "arguments": '{"x"'},
        {"id": "fc_1", "tool_call_id": "a", "name": "f", "arguments": ":1}"},
    ],
    "name in pieces": [
        {"id": "fc_1", "tool_call_id": "null", "name": "ge", "arguments": ""},
        {"id": "fc_1", "tool_call_id": "a", "name": "t", "arguments": '{"x":1}'},
    ],
    "object": [{"id": "fc_1", "tool_call_id": "a", "name": "f", "arguments": {"x": 1}}],
    "no ids but a place": [
        {"tool_call_id": None, "output_index": 3, "name": "f", "arguments": '{"x"'},
        {"output_index": 3, "name": "f", "arguments": ":1}"},
    ],
}


@pytest.mark.parametrize("fragments", FRAGMENTS.values(), ids=FRAGMENTS)
def test_fragments_of_a_function_call_are_joined_to_one_event(fragments):
    calls = [event("function.call.delta", **fragment) for fragment in fragments]
    events = list(stream_of(wire(started(), *calls, done())))
    made = [one for one in events if isinstance(one, ToolCallEvent)]
    assert [json.loads(one.arguments) for one in made] == [{"x": 1}]
    assert made[0].name in ("f", "get")


def test_interleaved_function_calls_are_kept_apart():
    def part(n, text):
        return event("function.call.delta", id=f"fc_{n}", tool_call_id=n, name="f", arguments=text)

    whole = answer(
        started(), part("a", "[1"), part("b", "[2"), part("a", "]"), part("b", "]"), done()
    )
    assert whole.tool_calls == [ToolCall("a", "f", "[1]"), ToolCall("b", "f", "[2]")]


def test_the_type_in_the_json_counts_with_or_without_an_event_name():
    unnamed = answer(started(), delta("x"), done(), named=False)
    renamed = answer(("odd", started()[1]), ("odd", delta("x")[1]), ("odd", done()[1]))
    assert unnamed == renamed == answer(started(), delta("x"), done())


def test_handoffs_and_events_of_tomorrow_reach_the_caller_and_end_nothing():
    odd = [event("agent.handoff.started", id="h"), event("future.event", message="hello")]
    events = list(stream_of(wire(started(), *odd, delta("x"), done())))
    unknown = [(one.name, one.payload) for one in events if isinstance(one, UnknownEvent)]
    assert unknown == odd
    assert events[-1].answer.text == "x"


@pytest.mark.parametrize("content", ["x", {"type": "text", "text": "x"}, ["x"], [None, "x"]])
def test_content_may_be_text_a_chunk_or_a_list(content):
    assert answer(started(), delta(content), done()).text == "x"


def test_an_odd_chunk_in_a_delta_spoils_no_neighbour():
    odd = {"type": "hologram"}
    events = list(stream_of(wire(started(), delta(["a", odd, {"no": "type"}, "b"]), done())))
    unknown = [one.payload for one in events if isinstance(one, UnknownEvent)]
    assert unknown == [odd, {"no": "type"}]
    assert events[-1].answer.text == "ab"


@pytest.mark.parametrize(
    "payload",
    [
        {"type": "conversation.response.error", "message": "no", "code": 1500},
        {"object": "error", "message": "no", "code": "1500"},
        {"error": {"message": "no", "code": 1500}},
        {"message": "no", "code": "1500"},
    ],
)
def test_an_error_in_the_stream_raises_with_the_servers_words_and_the_partial(payload):
    with pytest.raises(AnswerFailedError, match="no") as caught:
        stream_of(wire(started(), delta("so far"), ("message", payload), done())).get_answer()
    assert (caught.value.code, caught.value.partial.text) == ("1500", "so far")


def test_a_rate_limit_in_the_stream_is_caught_like_an_http_429():
    with pytest.raises(RateLimitError):
        answer(event("conversation.response.error", message="slow", code=429))


def test_an_error_as_plain_json_raises():
    with pytest.raises(AnswerFailedError, match="no"):
        stream_of(b'{"object":"error","message":"no"}', JSON).get_answer()


@pytest.mark.parametrize("tail", [b"", b"data: [DONE]\n\n", b"data: {"])
def test_without_its_done_event_no_answer_is_whole(tail):
    with pytest.raises(AnswerTruncatedError) as caught:
        stream_of(wire(started(), delta("x")) + tail).get_answer()
    assert caught.value.partial.text == "x"


def test_every_prefix_ends_in_an_answer_only_once_the_done_event_is_in():
    body = wire(started(), delta("one "), delta("two"), done())
    for end in range(len(body)):
        with pytest.raises(AnswerTruncatedError):
            stream_of(body[:end]).get_answer()
    assert stream_of(body).get_answer().text == "one two"


@pytest.mark.parametrize("body", [{}, {"outputs": None}, {"id": "x"}])
def test_json_that_is_no_conversation_is_an_unexpected_response(body):
    with pytest.raises(UnexpectedResponseError):
        stream_of(json.dumps(body).encode(), JSON).get_answer()


def test_the_one_shot_example_of_the_documentation_is_read():
    outputs = [
        {"type": "tool.execution", "name": "document_library", "id": "tool_1"},
        {"type": "message.output", "id": "msg_1", "content": [{"type": "text", "text": "Hi"}]},
    ]
    whole = one_shot(outputs).get_answer()
    assert whole.text == "Hi"
    assert whole.tool_calls == [ToolCall("tool_1", "document_library", "", by_server=True)]


def test_a_pending_confirmation_is_told_in_both_forms():
    fields = {"id": "fc_1", "tool_call_id": "a", "name": "f", "arguments": "{}"}
    fields["confirmation_status"] = "pending"
    expected = [ToolCall("a", "f", "{}", confirmation="pending")]
    assert answer(started(), event("function.call.delta", **fields), done()).tool_calls == expected
    assert one_shot([{"type": "function.call", **fields}]).get_answer().tool_calls == expected


MESSAGES = CONTENTS.map(lambda content: {"type": "message.output", "content": content})
TOOLS = st.builds(
    lambda name, arguments, info: {
        "type": "tool.execution",
        "name": name,
        "arguments": arguments,
        "info": info,
    },
    WORDS,
    WORDS,
    st.sampled_from([None, {}, {"results": [{"title": "A", "url": "https://w/?1"}]}]),
)
CALLS = st.builds(
    lambda name, arguments: {"type": "function.call", "name": name, "arguments": arguments},
    WORDS,
    WORDS,
)
ODD = st.sampled_from([{"type": "agent.handoff"}, {"type": "future"}, {"x": 1}])


@st.composite
def conversations(draw):
    """(outputs, the same in random deltas)."""
    outputs, events = draw(st.lists(st.one_of(MESSAGES, TOOLS, CALLS, ODD), max_size=6)), []
    for index, entry in enumerate(outputs):
        entry["id"] = f"e{index}"
        rest = {**entry, "output_index": index}
        if entry.get("type") == "message.output":
            for part in entry["content"]:
                split = part.get("type") == "text" and draw(st.booleans())
                pieces = list(part["text"]) if split else [part]
                events += [delta(piece, index) for piece in pieces]
        elif entry.get("type") == "tool.execution":
            rest["type"] = "tool.execution.started"
            events += [("", rest), event("tool.execution.done", **{**rest, "type": ""})]
            events[-1][1]["type"] = "tool.execution.done"
        elif entry.get("type") == "function.call":
            half = len(entry["arguments"]) // 2
            for text in (entry["arguments"][:half], entry["arguments"][half:]):
                fields = {**rest, "type": "function.call.delta", "tool_call_id": f"c{index}"}
                events.append(("", {**fields, "arguments": text}))
            entry["tool_call_id"] = f"c{index}"
        elif entry.get("type"):
            events.append(("", dict(entry)))
    return outputs, events


@given(conversations(), st.lists(st.integers(0, 20_000), max_size=20))
def test_random_conversations_cut_into_random_deltas_and_bytes_are_equal(made, places):
    outputs, events = made
    body = wire(started(), *events, done(), named=False)
    streamed = stream_of(cut_at(body, places)).get_answer()
    assert streamed == one_shot(outputs).get_answer()


@pytest.mark.parametrize("odd", [["x"], 5, True, {"a": 1}])
def test_an_odd_type_is_no_type_and_does_no_harm(odd):
    running = event("tool.execution.started", id="t", name="web_search")
    body = [started(), running, ("future", {"type": odd}), delta("x"), done()]
    assert answer(*body).text == "x"
