"""/v1/chat/completions as wire.md 2 describes it, answered by retrieval."""

import json

import pytest

from mistral_knowledge.fake_api import KnowledgeApi

from .asking import FEES, NOWHERE, Asker, asking, issues

QUESTION = "What is the entry fee?"


def chunks_of(events):
    assert events[-1] == b"data: [DONE]\n\n"
    return [json.loads(event[len(b"data: ") :]) for event in events[:-1]]


def merged(chunks):
    """The content that the deltas add up to: text joined, everything else as it is."""
    content = []
    for chunk in chunks:
        delta = chunk["choices"][0]["delta"]["content"]
        if isinstance(delta, list):
            content += delta
        elif content and content[-1]["type"] == "text":
            content[-1]["text"] += delta
        elif delta:
            content.append({"type": "text", "text": delta})
    return content


def test_the_answer_quotes_the_passage_and_cites_the_document_behind_it(ask, museum):
    text, citation = ask.content(museum, QUESTION)
    assert text == {"type": "text", "text": "“Fees — The entry fee is 12 euros.”"}
    assert (citation["type"], citation["document_name"]) == ("document_url", "fees.md")
    assert ask.reply("GET", citation["document_url"]).body() == FEES


def test_the_one_shot_body_has_the_fields_of_a_chat_completion(ask, museum):
    answer = ask.answer(museum, QUESTION)
    assert set(answer) == {"id", "object", "created", "model", "choices", "usage"}
    choice = answer["choices"][0]
    assert (answer["object"], choice["finish_reason"]) == ("chat.completion", "stop")
    assert set(choice["message"]) == {"role", "content", "tool_calls", "prefix"}


def test_the_stream_adds_up_to_the_one_shot_content(ask, museum):
    ask.ready(museum, "more.md", b"The fee for a group is 90 euros.\n\n" + b"Filler. " * 90)
    question = "Which fee is there for a group, and for entry?"
    streamed = chunks_of(ask.events(museum, question))
    assert merged(streamed) == ask.content(museum, question)
    assert len(streamed) > 8


def test_a_stream_begins_with_the_role_and_ends_with_the_reason_and_the_usage(ask, museum):
    chunks = chunks_of(ask.events(museum, QUESTION))
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in chunks]
    assert reasons == [None] * (len(chunks) - 1) + ["stop"]
    with_usage = [chunk for chunk in chunks if "usage" in chunk]
    assert with_usage == chunks[-1:]
    assert chunks[-1]["usage"] == ask.answer(museum, QUESTION)["usage"]


def test_each_event_carries_a_few_words_and_padding_of_some_length(ask, museum):
    chunks = chunks_of(ask.events(museum, QUESTION))
    deltas = [chunk["choices"][0]["delta"]["content"] for chunk in chunks]
    assert all(len(delta.split()) <= 3 for delta in deltas if isinstance(delta, str))
    assert len({len(chunk["p"]) for chunk in chunks}) > 1


def test_the_same_seed_pads_and_cuts_in_the_same_way():
    def shape():
        with KnowledgeApi(seed=7, polls_until_done=0) as api:
            ask = Asker(api)
            library = ask.library()
            ask.upload(library, "fees.md", FEES)
            return [len(event) for event in ask.events(library, QUESTION)]

    assert shape() == shape()


def test_usage_counts_words_of_question_passages_and_answer(ask, museum):
    usage = ask.answer(museum, QUESTION)["usage"]
    expected = {
        "prompt_tokens": 6 + 9,
        "completion_tokens": 11,
        "total_tokens": 26,
        "num_cached_tokens": 0,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
    assert usage == expected


@pytest.mark.parametrize("stream", [False, True])
def test_max_tokens_cuts_both_forms_at_the_same_place(ask, museum, stream):
    if stream:
        chunks = chunks_of(ask.events(museum, QUESTION, max_tokens=4))
        text, reason = merged(chunks)[0]["text"], chunks[-1]["choices"][0]["finish_reason"]
    else:
        choice = ask.answer(museum, QUESTION, max_tokens=4)["choices"][0]
        text, reason = choice["message"]["content"], choice["finish_reason"]
    assert (text, reason) == ("“Fees — The", "length")


def test_without_the_tool_it_says_what_it_is(ask):
    body = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}
    content = ask("POST", "/v1/chat/completions", body)["choices"][0]["message"]["content"]
    assert "offline stand-in" in content


def test_the_question_is_the_text_of_the_last_user_message(ask, museum):
    messages = [
        {"role": "system", "content": "museum closes"},
        {"role": "user", "content": "When does the museum close?"},
        {"role": "assistant", "content": "At five."},
        {"role": "user", "content": [{"type": "text", "text": QUESTION}]},
    ]
    body = {**asking(museum, ""), "messages": messages}
    content = ask("POST", "/v1/chat/completions", body)["choices"][0]["message"]["content"]
    assert "12 euros" in content[0]["text"]


def test_several_choices_are_numbered(ask, museum):
    answer = ask.answer(museum, QUESTION, n=2)
    assert [choice["index"] for choice in answer["choices"]] == [0, 1]
    chunks = chunks_of(ask.events(museum, QUESTION, n=2))
    assert {chunk["choices"][0]["index"] for chunk in chunks} == {0, 1}
    assert sum("usage" in chunk for chunk in chunks) == 1


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"max_completion_tokens": 3}, (["body", "max_completion_tokens"], "extra_forbidden")),
        ({"temperature": 3}, (["body", "temperature"], "less_than_equal")),
        ({"stream": "yes"}, (["body", "stream"], "bool_type")),
        ({"messages": []}, (["body", "messages"], "too_short")),
        ({"messages": [{"role": "wizard"}]}, (["body", "messages", 0], "union_tag_invalid")),
        ({"tools": [{"type": "magic"}]}, (["body", "tools", 0], "union_tag_invalid")),
        (
            {"tools": [{"type": "document_library", "library_ids": []}]},
            (["body", "tools", 0, "library_ids"], "too_short"),
        ),
        (
            {"tools": [{"type": "document_library", "library_ids": ["x"]}]},
            (["body", "tools", 0, "library_ids", 0], "uuid_parsing"),
        ),
        (
            {"tools": [{"type": "document_library", "library_ids": [NOWHERE], "k": 1}]},
            (["body", "tools", 0, "k"], "extra_forbidden"),
        ),
    ],
)
def test_a_request_that_does_not_fit_is_422_inside_an_error_object(ask, museum, change, expected):
    reply = ask("POST", "/v1/chat/completions", {**asking(museum, QUESTION), **change})
    assert (reply["object"], reply["raw_status_code"]) == ("error", 422)
    assert issues(reply) == [expected]


def test_model_and_messages_are_required(ask):
    found = issues(ask("POST", "/v1/chat/completions", {}))
    assert found == [(["body", "model"], "missing"), (["body", "messages"], "missing")]


def test_a_library_that_is_not_there_is_404(ask):
    reply = ask.reply("POST", "/v1/chat/completions", asking(NOWHERE, QUESTION))
    assert reply.status == 404


def test_web_search_does_not_work_on_this_endpoint(ask):
    body = {**asking(NOWHERE, QUESTION), "tools": [{"type": "web_search"}]}
    assert ask.status("POST", "/v1/chat/completions", body) == 400


def test_stream_options_are_accepted(ask, museum):
    events = ask.events(museum, QUESTION, stream_options={"include_usage": True})
    assert "usage" in chunks_of(events)[-1]


def test_stream_options_are_422_on_servers_as_they_were():
    with KnowledgeApi(accept_stream_options=False) as api:
        ask = Asker(api)
        body = asking(ask.library(), QUESTION, stream=True)
        body["stream_options"] = {"include_usage": True}
        reply = ask("POST", "/v1/chat/completions", body)
        place = ["body", "stream_options", "include_usage"]
        assert issues(reply) == [(place, "extra_forbidden")]


# functions

LOOK_UP = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Look a word up.",
        "parameters": {
            "type": "object",
            "properties": {"word": {"type": "string"}},
            "required": ["word"],
        },
    },
}
CALLING = 'What does look_up say about "fees"?'


def chatting(question, *further, **fields):
    messages = [{"role": "user", "content": question}, *further]
    return {"model": "m", "messages": messages, "tools": [LOOK_UP], **fields}


def calling(call_id="call-1", arguments='{"word":"fees"}'):
    function = {"name": "look_up", "arguments": arguments}
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": call_id, "function": function}],
    }


def giving(content, call_id="call-1"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def choice_of(ask, body):
    return ask("POST", "/v1/chat/completions", body)["choices"][0]


def called(calls):
    return [(call["index"], call["type"], call["function"]) for call in calls]


THE_CALL = [(0, "function", {"name": "look_up", "arguments": '{"word": "fees"}'})]


def test_a_function_is_called_where_the_question_names_it(ask):
    choice = choice_of(ask, chatting(CALLING))
    assert (choice["finish_reason"], choice["message"]["content"]) == ("tool_calls", "")
    assert called(choice["message"]["tool_calls"]) == THE_CALL


def test_a_stream_has_the_call_in_its_last_chunk(ask):
    reply = ask.reply("POST", "/v1/chat/completions", chatting(CALLING, stream=True))
    *_, last = chunks_of(list(reply.pieces))
    choice = last["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert called(choice["delta"]["tool_calls"]) == THE_CALL


@pytest.mark.parametrize("content", ["12 euros", [{"type": "text", "text": "12 euros"}]])
def test_the_answer_tells_what_the_function_gave(ask, content):
    choice = choice_of(ask, chatting(CALLING, calling(), giving(content)))
    assert choice["finish_reason"] == "stop"
    assert choice["message"]["content"] == "look_up gave: 12 euros"


def test_the_next_question_calls_the_function_anew(ask):
    further = {"role": "user", "content": 'And look_up "hours"?'}
    choice = choice_of(ask, chatting(CALLING, calling(), giving("12 euros"), further))
    assert choice["finish_reason"] == "tool_calls"


def test_what_functions_gave_stands_before_what_libraries_say(ask, museum):
    library = {"type": "document_library", "library_ids": [museum.rpartition("/")[2]]}
    question = "Use look_up: what is the entry fee?"
    body = chatting(question, calling(), giving("12"), tools=[LOOK_UP, library])
    text, citation = choice_of(ask, body)["message"]["content"]
    assert text["text"] == "look_up gave: 12\n\n“Fees — The entry fee is 12 euros.”"
    assert citation["document_name"] == "fees.md"


def test_a_function_that_is_not_named_is_not_called(ask):
    choice = choice_of(ask, chatting(QUESTION))
    assert choice["finish_reason"] == "stop"
    assert "look_up" in choice["message"]["content"]


@pytest.mark.parametrize(
    ("tool_choice", "question", "reason"),
    [
        ("any", QUESTION, "tool_calls"),
        ("required", QUESTION, "tool_calls"),
        ("none", CALLING, "stop"),
        ({"type": "function", "function": {"name": "look_up"}}, QUESTION, "tool_calls"),
        ({"type": "function", "function": {"name": "other"}}, CALLING, "stop"),
        ({"type": "function", "function": 5}, CALLING, "stop"),
    ],
)
def test_tool_choice_says_whether_a_function_is_called(ask, tool_choice, question, reason):
    body = chatting(question, tool_choice=tool_choice)
    assert choice_of(ask, body)["finish_reason"] == reason


@pytest.mark.parametrize(
    "further", [[giving("12")], [calling()], [calling(), giving("1", "other")]]
)
def test_results_that_do_not_fit_the_calls_are_refused(ask, further):
    body = chatting(CALLING, *further)
    assert ask.status("POST", "/v1/chat/completions", body) == 400


@pytest.mark.parametrize(
    ("further", "place"),
    [
        ({"role": "assistant", "tool_calls": 5}, ["tool_calls"]),
        ({"role": "assistant", "tool_calls": [{"id": "x"}]}, ["tool_calls", 0, "function"]),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]},
            ["tool_calls", 0, "function", "arguments"],
        ),
        ({"role": "tool", "tool_call_id": [1], "content": ""}, ["tool_call_id"]),
    ],
)
def test_calls_that_are_none_are_refused(ask, further, place):
    refused = ask("POST", "/v1/chat/completions", chatting(CALLING, further))
    assert [where for where, _ in issues(refused)] == [["body", "messages", 1, *place]]


def test_a_function_without_a_name_is_refused(ask):
    tools = [{"type": "function", "function": {"parameters": {}}}]
    refused = ask("POST", "/v1/chat/completions", chatting(CALLING, tools=tools))
    assert issues(refused) == [(["body", "tools", 0, "function", "name"], "missing")]
