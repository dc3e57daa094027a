"""Chat completions: what their payloads mean, streamed and one-shot."""

import json

import pytest

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
from mistral_knowledge.errors import (
    AnswerFailedError,
    AnswerRateLimitError,
    AnswerTruncatedError,
    MalformedEventError,
    RateLimitError,
    UnexpectedResponseError,
)
from mistral_knowledge.models.answers import ToolCall, Usage

from .wire import JSON, USAGE, chunk, completion, good, one_shot, sse, stream_of

TOKENS = Usage(10, 5, 15)


def answer(body, **reply):
    return stream_of(body, **reply).get_answer()


def test_text_deltas_become_message_events_and_the_text():
    stream = stream_of(good("Hel", "lo ", "wörld"))
    events = list(stream)
    expected = [MessageEvent("Hel", 0), MessageEvent("lo ", 3), MessageEvent("wörld", 6)]
    assert events[:-1] == expected
    assert isinstance(events[-1], FinalAnswerEvent)
    assert stream.answer.text == "Hello wörld"


def test_the_answer_carries_usage_model_ids_and_why_it_ended():
    whole = answer(good("x"))
    facts = (whole.usage, whole.model, whole.id, whole.request_id, whole.finish_reason)
    assert facts == (TOKENS, "m", "cmpl-1", "req-1", "stop")
    assert whole.raw == {"id": "cmpl-1", "object": "chat.completion.chunk", "model": "m"}


@pytest.mark.parametrize("content", [None, "", [], [""], {"type": "text", "text": None}])
def test_content_without_words_adds_nothing(content):
    assert answer(good("a", content, "b")).text == "ab"


@pytest.mark.parametrize(
    "content",
    [
        "42",
        {"type": "text", "text": "42"},
        ["4", "2"],
        [{"text": "4"}, {"type": "text", "text": "2"}],
    ],
)
def test_content_may_be_text_one_chunk_or_a_list_in_both_forms(content):
    assert answer(good(content)).text == "42"
    assert one_shot(completion(content)).get_answer().text == "42"


def test_a_reference_with_visible_text_is_part_of_the_answer_and_of_the_citation():
    reference = {"type": "reference", "reference_ids": [0, "d-7"], "text": "42"}
    whole = answer(good("The answer is ", [reference, {"type": "text", "text": "."}]))
    assert whole.text == "The answer is 42."
    spans = [
        (c.source_id, c.index, whole.text[c.start_index : c.end_index]) for c in whole.citations
    ]
    assert spans == [(0, 1, "42"), ("d-7", 2, "42")]
    assert [chunk.type for chunk in whole.chunks] == ["text", "reference", "text"]


def test_a_reference_that_nothing_explains_says_so():
    whole = answer(good("x", [{"type": "reference", "reference_ids": ["lost"]}]))
    assert [(c.source_id, c.resolved, c.title) for c in whole.citations] == [("lost", False, None)]


def test_a_reference_is_explained_by_the_tool_message_that_named_it():
    found = json.dumps({"0": {"title": "Euro", "url": "https://e.eu", "document_id": "d1"}})
    body = sse(
        chunk(
            tool_calls=[{"id": "c1", "function": {"name": "document_library", "arguments": "{}"}}]
        ),
        chunk(found, role="tool", tool_call_id="c1", index=1),
        chunk("Euro", index=2),
        chunk([{"type": "reference", "reference_ids": [0]}], index=2),
        chunk("", "stop"),
        done=True,
    )
    events = list(stream_of(body))
    kinds = [type(event) for event in events]
    assert kinds == [
        ToolCallEvent,
        ToolResultEvent,
        MessageEvent,
        SearchResultsEvent,
        CitationEvent,
        FinalAnswerEvent,
    ]
    citation = events[-1].answer.citations[0]
    assert (citation.title, citation.url, citation.document_id) == ("Euro", "https://e.eu", "d1")
    assert citation.resolved is True


def test_document_urls_are_citations_and_a_new_signature_is_no_new_document():
    def cited(signature):
        url = f"https://files/d1?sig={signature}"
        return [{"type": "document_url", "document_url": url, "document_name": "a.pdf"}]

    whole = answer(good("One.", cited(1), " Two.", cited(2)))
    assert [(c.index, c.start_index, c.end_index) for c in whole.citations] == [
        (1, 4, 4),
        (1, 9, 9),
    ]
    assert [(s.title, s.spans) for s in whole.sources] == [("a.pdf", [(4, 4), (9, 9)])]
    assert "sig" not in repr(whole)


def test_tool_references_keep_every_field_optional_and_web_pages_apart_by_their_query():
    def cited(**fields):
        return [{"type": "tool_reference", **fields}]

    page = {"tool": "web_search", "title": "T", "source": "brave"}
    contents = [
        cited(**page, url="https://w/?id=1"),
        cited(**page, url="https://w/?id=2"),
        cited(tool="document_library", title="a.pdf", url=None),
        cited(),
    ]
    whole = answer(good("x", *contents))
    facts = [(c.index, c.source_type, c.title, c.resolved) for c in whole.citations]
    assert facts == [
        (1, "web", "T", True),
        (2, "web", "T", True),
        (3, "document", "a.pdf", True),
        (4, "tool", None, False),
    ]
    assert whole.citations[0].raw["source"] == "brave"


def test_one_odd_chunk_reaches_the_caller_and_spoils_no_neighbour():
    odd = [
        {"type": "hologram", "beam": 1},
        {"type": "reference", "reference_ids": {"a": 1}},
        {"type": "text", "text": 5},
        {"type": 7},
        {},
        17,
    ]
    events = list(
        stream_of(good([{"type": "text", "text": "a"}, *odd, {"type": "text", "text": "b"}]))
    )
    unknown = [event for event in events if isinstance(event, UnknownEvent)]
    assert [event.payload for event in unknown] == odd
    assert events[-1].answer.text == "ab"


def test_thinking_is_kept_apart_from_the_text():
    thought = [
        {"type": "text", "text": "Let me "},
        {"type": "reference", "reference_ids": [1]},
        "see",
        {"type": "future"},
    ]
    contents = [
        [{"type": "thinking", "thinking": thought}],
        [{"type": "thinking", "thinking": "!", "closed": True}, {"type": "text", "text": "Yes"}],
    ]
    events = list(stream_of(good(*contents)))
    thinking = [event for event in events if isinstance(event, ThinkingEvent)]
    assert [(event.delta, event.offset) for event in thinking] == [("Let me see", 0), ("!", 10)]
    assert (events[-1].answer.thinking, events[-1].answer.text) == ("Let me see!", "Yes")


def test_sources_are_announced_before_the_first_citation_that_uses_them():
    reference = {"type": "reference", "reference_ids": [1, 2]}
    again = {"type": "reference", "reference_ids": [2, 3]}
    events = list(stream_of(good("x", [reference], "y", [again])))
    told = [
        [source.source_id for source in event.results]
        if isinstance(event, SearchResultsEvent)
        else (event.citation.source_id, event.is_new)
        for event in events
        if isinstance(event, (SearchResultsEvent, CitationEvent))
    ]
    assert told == [[1, 2], (1, True), (2, True), [3], (2, False), (3, True)]


def test_chunks_without_choices_are_metadata_and_their_usage_counts():
    late = {"id": "cmpl-1", "choices": [], "usage": {**USAGE, "num_cached_tokens": 4}}
    none = {"id": "cmpl-1", "usage": None}
    body = sse(none, chunk("x"), chunk("", "stop", usage={"total_tokens": 1}), late, done=True)
    assert answer(body).usage == Usage(10, 5, 15, extra={"num_cached_tokens": 4})


def test_counts_that_come_as_text_are_counts():
    usage = {"prompt_tokens": "10", "completion_tokens": "5", "total_tokens": "15"}
    assert answer(sse(chunk("x"), chunk("", "stop", usage=usage), done=True)).usage == Usage(
        10, 5, 15
    )


@pytest.mark.parametrize("index", [0, 1, 7, None])
def test_the_first_choice_of_a_body_is_the_answer_whatever_its_number(index):
    choice = {"index": index, "message": {"content": "x"}, "finish_reason": "stop"}
    assert one_shot({"choices": [choice]}).get_answer().text == "x"


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        ({"reference_ids": [1], "text": "x"}, ["reference"]),
        ({"tool": "web_search", "title": "t", "url": "https://a.test"}, ["tool_reference"]),
        ({"document_url": "https://a.test", "document_name": "a"}, ["document_url"]),
        ({"text": "x", "type": None}, ["text"]),
        ({"invented": 1}, ["untyped"]),
    ],
)
def test_a_chunk_without_a_type_is_known_by_its_fields(content, kinds):
    whole = answer(sse(chunk([content]), chunk("", "stop"), done=True))
    assert [one.type for one in whole.chunks] == kinds


def test_missing_usage_is_none_and_never_zero():
    assert answer(sse(chunk("x"), chunk("", "stop"), done=True)).usage is None


@pytest.mark.parametrize("reason", ["length", "model_length"])
def test_an_answer_that_ran_into_a_length_limit_is_whole_and_says_so(reason):
    whole = answer(sse(chunk("x"), chunk("", reason), done=True))
    assert (whole.truncated, whole.finish_reason) == (True, reason)


def test_an_unknown_finish_reason_stays_as_it_came():
    whole = answer(sse(chunk("x"), chunk("", "bored"), done=True))
    assert (whole.finish_reason, whole.truncated) == ("bored", False)


def test_an_answer_is_whole_at_the_finish_reason_of_every_choice():
    body = sse(chunk("x"), chunk("y", choice=1), chunk("", "stop"))
    with pytest.raises(AnswerTruncatedError):
        answer(body)
    assert answer(body + sse(chunk("", "stop", choice=1))).text == "x"


def test_an_answer_is_whole_at_done_even_without_a_finish_reason():
    assert answer(sse(chunk("x"), done=True)).text == "x"


@pytest.mark.parametrize("done", ["[DONE]", "[DONE] ", " [DONE]"])
def test_blanks_around_done_do_no_harm(done):
    assert answer(sse(chunk("x"), done)).text == "x"


def test_nothing_behind_done_is_read():
    assert answer(sse(chunk("x"), "[DONE]", "garbage")).text == "x"


FAILURES = {
    "object error": {"object": "error", "message": "no", "type": "t", "code": "1500"},
    "error object": {"error": {"message": "no", "code": 1500, "type": "t"}},
    "error text": {"error": "no"},
    "message without choices": {"message": "no", "code": "1500"},
    "detail": {"detail": "no"},
}


@pytest.mark.parametrize("payload", FAILURES.values(), ids=FAILURES)
def test_an_error_inside_a_200_raises_with_the_servers_words_and_the_partial(payload):
    stream = stream_of(sse(chunk("so far"), payload, chunk("never"), done=True))
    got = []
    with pytest.raises(AnswerFailedError, match="no") as caught:
        for event in stream:
            got.append(event)
    assert got == [MessageEvent("so far", 0)]
    error = caught.value
    assert (error.status, error.request_id, error.partial.text) == (200, "req-1", "so far")
    assert error.code in ("1500", None)


@pytest.mark.parametrize("payload", FAILURES.values(), ids=FAILURES)
def test_an_error_as_plain_json_under_a_200_raises_too(payload):
    with pytest.raises(AnswerFailedError, match="no"):
        one_shot(payload).get_answer()


def test_an_event_named_error_is_an_error_whatever_it_holds():
    body = sse(chunk("x")) + b'event: error\ndata: {"reason": "no"}\n\n'
    with pytest.raises(AnswerFailedError, match="no"):
        answer(body)


def test_a_finish_reason_of_error_is_an_error_in_both_forms():
    with pytest.raises(AnswerFailedError):
        answer(sse(chunk("x"), chunk("", "error"), done=True))
    failed = completion("x")
    failed["choices"][0]["finish_reason"] = "error"
    with pytest.raises(AnswerFailedError):
        one_shot(failed).get_answer()


@pytest.mark.parametrize(
    "payload",
    [
        {"object": "error", "type": "rate_limited", "message": "slow", "code": "1300"},
        {"error": {"message": "slow", "code": 429}},
    ],
)
def test_a_rate_limit_in_the_stream_is_caught_like_an_http_429(payload):
    with pytest.raises(RateLimitError) as caught:
        answer(sse(payload))
    assert type(caught.value) is AnswerRateLimitError


@pytest.mark.parametrize("text", ["{", "null", "42", "[1]", '"x"', "<html>", "{} {}"])
def test_a_whole_event_that_is_no_json_object_is_malformed_and_carries_the_partial(text):
    with pytest.raises(MalformedEventError) as caught:
        answer(sse(chunk("so far"), text, done=True))
    assert (caught.value.event, caught.value.partial.text) == ("message", "so far")
    assert text[:5] in str(caught.value)


def test_the_preview_of_a_malformed_event_is_short_and_redacted():
    body = sse("https://files/x?sig=SECRET " + "y" * 500)
    with pytest.raises(MalformedEventError) as caught:
        answer(body)
    assert "SECRET" not in str(caught.value)
    assert len(str(caught.value)) < 200


ODD_CHOICES = [None, 5, {"delta": None}, {"delta": 5}, {}, {"index": None, "delta": {}}]


@pytest.mark.parametrize("choice", ODD_CHOICES)
def test_odd_choices_do_not_break_the_stream(choice):
    body = sse({"choices": [choice]}, chunk("x"), chunk("", "stop"), done=True)
    assert answer(body).text == "x"


def test_a_further_choice_reaches_the_caller_as_unknown():
    events = list(stream_of(sse(chunk("other", choice=1), chunk("x"), done=True)))
    assert [type(event) for event in events] == [UnknownEvent, MessageEvent, FinalAnswerEvent]


def call(index=0, call_id=None, name=None, arguments=None):
    return {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}


def test_tool_calls_are_complete_at_done_even_without_a_finish_reason():
    body = sse(chunk(tool_calls=[call(0, "a", "f", "1")]), done=True)
    assert answer(body).tool_calls == [ToolCall("a", "f", "1")]


TOOL_CALLS = {
    "whole": [[call(0, "a", "f", '{"x":1}')]],
    "arguments in pieces": [[call(0, "a", "f", '{"x"')], [call(0, None, None, ":1}")]],
    "name in pieces": [[call(0, "a", "f", "")], [call(0, "null", "", '{"x":1}')]],
    "name repeated": [[call(0, "a", "f", '{"x"')], [call(0, "a", "f", ":1}")]],
    "arguments as an object": [[call(0, "a", "f", {"x": 1})]],
    "without index": [[{"id": "a", "function": {"name": "f", "arguments": '{"x":1}'}}]],
}


@pytest.mark.parametrize("deltas", TOOL_CALLS.values(), ids=TOOL_CALLS)
def test_fragments_of_a_tool_call_are_joined_to_one_event(deltas):
    chunks = [chunk(tool_calls=calls) for calls in deltas]
    events = list(stream_of(sse(*chunks, chunk("", "tool_calls"), done=True)))
    calls = [event for event in events if isinstance(event, ToolCallEvent)]
    assert [(c.tool_call_id, c.name, json.loads(c.arguments)) for c in calls] == [
        ("a", "f", {"x": 1})
    ]


def test_several_calls_are_told_apart_by_index_or_by_id():
    by_index = [chunk(tool_calls=[call(0, "a", "f", "1"), call(1, "b", "g", "2")])]
    by_id = [chunk(tool_calls=[call(0, "a", "f", "1")]), chunk(tool_calls=[call(0, "b", "g", "2")])]
    expected = [ToolCall("a", "f", "1"), ToolCall("b", "g", "2")]
    for chunks in (by_index, by_id):
        assert answer(sse(*chunks, chunk("", "tool_calls"), done=True)).tool_calls == expected


def test_a_one_shot_reply_with_messages_answers_with_the_assistants():
    messages = [
        {"role": "assistant", "content": "", "tool_calls": [call(0, "a", "library", "{}")]},
        {"role": "tool", "tool_call_id": "a", "content": '{"7": {"title": "T"}}'},
        {"role": "assistant", "content": ["x", {"type": "reference", "reference_ids": ["7"]}]},
    ]
    body = {"id": "c", "choices": [{"index": 0, "messages": messages, "finish_reason": "stop"}]}
    both = {"id": "c", "choices": [{**body["choices"][0], "message": messages[-1]}]}
    for reply in (body, both):
        whole = one_shot(reply).get_answer()
        assert (whole.text, whole.citations[0].title) == ("x", "T")
        assert whole.tool_calls == [ToolCall("a", "library", "{}")]


@pytest.mark.parametrize(
    "body", [{}, {"choices": None}, {"choices": []}, {"id": "x"}, [], "x", None]
)
def test_json_that_is_no_completion_is_an_unexpected_response(body):
    with pytest.raises(UnexpectedResponseError):
        one_shot(body).get_answer()


def test_a_whole_answer_as_json_is_taken_where_a_stream_was_asked_for():
    assert one_shot(completion("x")).get_answer() == answer(good("x"))


def test_one_shot_text_is_read_as_utf8_whatever_the_headers_say():
    body = json.dumps(completion("wörld"), ensure_ascii=False).encode("utf-8")
    headers = {"content-type": "application/json; charset=iso-8859-1"}
    assert stream_of(body, headers=headers).get_answer().text == "wörld"


@pytest.mark.parametrize("kind", ["text/plain", "", "text/event-stream; charset=latin-1"])
def test_events_are_taken_under_a_vague_content_type(kind):
    assert stream_of(good("x"), headers={"content-type": kind}).get_answer().text == "x"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/html", b"<html>Login</html>"),
        ("text/plain", b"Login please"),
        ("", b""),
        ("application/json", b"<html>Login</html>"),
        ("application/json", b""),
    ],
)
def test_a_200_that_is_no_answer_is_an_unexpected_response_that_shows_its_start(kind, body):
    headers = {"content-type": kind, "x-request-id": "r9"}
    with pytest.raises(UnexpectedResponseError) as caught:
        stream_of(body, headers=headers).get_answer()
    error = caught.value
    assert (error.status, error.content_type, error.request_id) == (200, kind, "r9")
    assert body.decode() in str(error)


def test_a_stream_of_no_events_is_an_error_and_never_an_empty_answer():
    for body in (b"", b": ping\n\n"):
        with pytest.raises(AnswerTruncatedError):
            answer(body)


def test_a_json_body_that_breaks_off_is_no_answer():
    from mistral_knowledge.errors import ConnectionLostError

    whole = json.dumps(completion("x")).encode()
    with pytest.raises(AnswerTruncatedError):
        stream_of([whole[:50], ConnectionLostError("cut")], headers=JSON).get_answer()


DEEP = "[" * 200_000


@pytest.mark.parametrize("text", [DEEP, '{"choices":' + DEEP, '{"error":' * 100_000])
def test_json_that_nests_without_end_is_malformed(text):
    with pytest.raises(MalformedEventError):
        answer(sse(text))


@pytest.mark.parametrize("depth", [100, 500, 900])
def test_json_that_nests_deep_is_an_error_of_ours_or_an_answer(depth):
    deep = json.loads("[" * depth + "]" * depth)
    thinking = {"type": "thinking", "thinking": deep}
    events = list(stream_of(good("x", [thinking], [{"type": "odd", "deep": deep}])))
    assert events[-1].answer.text == "x"
    with pytest.raises(AnswerFailedError):
        answer(sse(json.loads('{"error":' * depth + "1" + "}" * depth)))
