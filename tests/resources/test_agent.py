"""`client.rag.agent`: what goes out, functions of the caller, and leave for tools."""

import attr
import pytest

from mistral_knowledge import (
    AnswerError,
    FakeTransport,
    InvalidArgumentError,
    KnowledgeClient,
    ToolCallEvent,
    ToolResultEvent,
)
from mistral_knowledge.models.answers import Usage
from mistral_knowledge.resources._agent_request import Asked
from mistral_knowledge.transports.fake import Scripted
from tests.answers.wire import sse

LIBRARY = "11111111-1111-4111-8111-111111111111"
LIBRARY_TOOL = {"type": "document_library", "library_ids": [LIBRARY]}
COUNTS = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


def reply(*events, conversation="conv_1", usage=COUNTS):
    started = {"type": "conversation.response.started", "conversation_id": conversation}
    done = {"type": "conversation.response.done", "usage": usage}
    return Scripted.events(sse(started, *events, done))


def text(words):
    return {"type": "message.output.delta", "id": "msg_1", "content": words}


def call(name, arguments="{}", call_id="c1", **fields):
    shared = {"type": "function.call.delta", "id": f"fc_{call_id}", "tool_call_id": call_id}
    return {**shared, "name": name, "arguments": arguments, **fields}


def scripted(*replies):
    fake = FakeTransport(script=replies)
    return KnowledgeClient(transport=fake, retries=0).rag.agent, fake


def asked(**arguments):
    """The path and body of one question."""
    agent, fake = scripted(reply(text("x")))
    agent.query(**{"question": "Why?", **arguments})
    return fake.requests[0].path, fake.requests[0].json


def body_of(**arguments):
    return {key: value for key, value in asked(**arguments)[1].items() if key != "stream"}


def test_a_question_starts_a_conversation_with_the_libraries_as_a_tool():
    path, body = asked(libraries=LIBRARY)
    assert (path, body) == (
        "/v1/conversations",
        {
            "inputs": "Why?",
            "model": "mistral-medium-latest",
            "tools": [LIBRARY_TOOL],
            "stream": True,
        },
    )


def test_everything_that_was_given_goes_to_its_place_and_nothing_else():
    entries = [{"role": "user", "content": "Why?"}]
    connector = {"type": "connector", "connector_id": "c"}
    assert body_of(
        question=None,
        inputs=entries,
        libraries=[LIBRARY],
        web_search="premium",
        code_interpreter=True,
        tools=[connector],
        model="m",
        instructions="Be short.",
        store=False,
        temperature=0.2,
        max_tokens=None,
        name="n",
        metadata={"a": 1},
    ) == {
        "inputs": entries,
        "model": "m",
        "instructions": "Be short.",
        "tools": [
            LIBRARY_TOOL,
            {"type": "web_search_premium"},
            {"type": "code_interpreter"},
            connector,
        ],
        "store": False,
        "completion_args": {"temperature": 0.2},
        "name": "n",
        "metadata": {"a": 1},
    }


def test_an_agent_takes_the_place_of_the_model():
    assert body_of(agent="ag_1") == {"inputs": "Why?", "agent_id": "ag_1"}


RESEARCH = [
    ({}, ["web_search_premium", "code_interpreter"], "high"),
    ({"web_search": True}, ["web_search", "code_interpreter"], "high"),
    ({"web_search": False}, ["code_interpreter"], "high"),
    ({"code_interpreter": False}, ["web_search_premium"], "high"),
    ({"reasoning_effort": "low"}, ["web_search_premium", "code_interpreter"], "low"),
]


@pytest.mark.parametrize(("given", "tools", "effort"), RESEARCH)
def test_research_mode_turns_on_what_is_not_told_otherwise(given, tools, effort):
    body = body_of(mode="research", **given)
    assert [tool["type"] for tool in body["tools"]] == tools
    assert body["completion_args"] == {"reasoning_effort": effort}


REFUSED = [
    {},
    {"agent": "ag_1", "model": "m"},
    {"question": None, "libraries": LIBRARY},
    {"question": " ", "libraries": LIBRARY},
    {"inputs": [{}], "libraries": LIBRARY},
    {"question": None, "inputs": [], "libraries": LIBRARY},
    {"question": None, "inputs": "text", "libraries": LIBRARY},
    {"mode": "fast", "libraries": LIBRARY},
    {"web_search": "deluxe"},
    {"from_entry": "msg_1", "libraries": LIBRARY},
    {"conversation": "conv_1", "libraries": LIBRARY},
    {"conversation": "conv_1", "model": "m"},
    {"conversation": "conv_1", "web_search": True},
    {"conversation": "conv_1", "tools": [{}]},
    {"conversation": "conv/../1"},
    {"functions": {"f": 5}},
    {"functions": {"f": len}, "store": False},
    {"stream": True, "libraries": LIBRARY},
]


@pytest.mark.parametrize("arguments", REFUSED)
def test_what_cannot_work_is_refused_before_any_request(arguments):
    agent, fake = scripted()
    with pytest.raises(InvalidArgumentError):
        agent.query(**{"question": "Why?", **arguments})
    assert fake.requests == []


def test_a_conversation_is_continued_with_the_id_that_the_server_returned_last():
    agent, fake = scripted(
        reply(text("x")), reply(text("y"), conversation="conv_2"), reply(text("z"))
    )
    first = agent.query("Why?", libraries=LIBRARY)
    second = agent.query("And?", conversation=first, temperature=0.3)
    agent.conversations.restart(second, "msg_1", "So?")
    assert [request.path for request in fake.requests[1:]] == [
        "/v1/conversations/conv_1",
        "/v1/conversations/conv_2/restart",
    ]
    assert fake.requests[1].json == {
        "inputs": "And?",
        "completion_args": {"temperature": 0.3},
        "stream": True,
    }
    assert fake.requests[2].json == {"inputs": "So?", "from_entry_id": "msg_1", "stream": True}


def test_one_shot_and_streamed_give_equal_answers():
    outputs = [{"type": "message.output", "id": "msg_1", "content": "x"}]
    body = {"conversation_id": "conv_1", "outputs": outputs, "usage": COUNTS}
    agent, fake = scripted(Scripted(json=body), reply(text("x")))
    whole = agent.query("Why?", libraries=LIBRARY, streaming=False)
    assert whole == agent.query("Why?", libraries=LIBRARY)
    assert "stream" not in fake.requests[0].json


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def test_a_function_of_the_caller_is_run_and_its_result_goes_back_until_the_answer_is_there():
    agent, fake = scripted(reply(text("Let me see. "), call("add", '{"a": 41}')), reply(text("42")))
    with agent.stream("What?", functions={"add": add}, temperature=0.1) as stream:
        events = list(stream)
    kinds = [one for one in events if isinstance(one, (ToolCallEvent, ToolResultEvent))]
    assert kinds == [ToolCallEvent("c1", "add", '{"a": 41}'), ToolResultEvent("c1", "42", "add")]
    assert stream.answer.text == "Let me see. 42"
    assert stream.answer.usage == Usage(2, 4, 6)
    assert fake.requests[1].path == "/v1/conversations/conv_1"
    assert fake.requests[1].json == {
        "inputs": [{"type": "function.result", "tool_call_id": "c1", "result": "42"}],
        "completion_args": {"temperature": 0.1},
        "stream": True,
    }


def test_a_function_is_declared_from_its_signature_unless_a_tool_declares_it():
    assert body_of(functions={"add": add})["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "add",
                "description": "Add two numbers.",
                "parameters": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                    "required": ["a"],
                },
            },
        }
    ]
    own = {"type": "function", "function": {"name": "add", "parameters": {}}}
    assert body_of(functions={"add": add}, tools=[own])["tools"] == [own]


BAD_CALLS = {
    "no such function": ("subtract", "{}"),
    "no JSON": ("add", "{"),
    "no object": ("add", "[1]"),
    "wrong names": ("add", '{"x": 1}'),
    "missing": ("add", "{}"),
}


@pytest.mark.parametrize(("name", "arguments"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_a_call_that_does_not_fit_is_told_to_the_model(name, arguments):
    agent, fake = scripted(reply(call(name, arguments)), reply(text("sorry")))
    assert agent.query("What?", functions={"add": add}).text == "sorry"
    assert "error" in fake.requests[1].json["inputs"][0]["result"]


def test_what_a_function_raises_is_raised_as_the_same_object():
    class SoftTimeLimitExceeded(Exception):
        pass

    error = SoftTimeLimitExceeded()

    def fail():
        raise error

    agent, fake = scripted(reply(call("fail")))
    with pytest.raises(SoftTimeLimitExceeded) as caught:
        agent.query("What?", functions={"fail": fail})
    assert caught.value is error
    assert fake.open_replies == 0


def test_reported_errors_of_functions_are_told_to_the_model():
    def fail():
        raise LookupError("nobody home")

    agent, fake = scripted(reply(call("fail")), reply(text("sorry")))
    answer = agent.query("What?", functions={"fail": fail}, reported_errors=(LookupError,))
    assert answer.text == "sorry"
    assert fake.requests[1].json["inputs"][0]["result"] == '{"error": "LookupError: nobody home"}'


def test_a_model_that_calls_for_ever_is_stopped_after_so_many_rounds():
    agent, fake = scripted(*[reply(call("add", '{"a": 1}'))] * 3)
    with pytest.raises(AnswerError, match="max_rounds"):
        agent.query("What?", functions={"add": add}, max_rounds=2)
    assert len(fake.requests) == 3


def test_without_functions_the_calls_are_the_callers_to_answer():
    agent, _ = scripted(reply(call("add", '{"a": 1}')), reply(text("2")))
    tool = {"type": "function", "function": {"name": "add", "parameters": {}}}
    answer = agent.query("What?", tools=[tool])
    assert [(one.name, one.by_server) for one in answer.tool_calls] == [("add", False)]
    result = {"type": "function.result", "tool_call_id": "c1", "result": "2"}
    assert agent.query(inputs=[result], conversation=answer).text == "2"


@pytest.mark.parametrize(("allowed", "decision"), [(True, "allow"), (False, "deny")])
def test_a_tool_that_needs_leave_is_allowed_or_denied_by_the_callback(allowed, decision):
    asking = call("send_mail", confirmation_status="pending")
    agent, fake = scripted(reply(asking), reply(text("done")))
    seen = []
    answer = agent.query(
        "What?", libraries=LIBRARY, confirm=lambda one: seen.append(one) or allowed
    )
    assert (answer.text, [one.name for one in seen]) == ("done", ["send_mail"])
    assert fake.requests[1].json == {
        "tool_confirmations": [{"tool_call_id": "c1", "confirmation": decision}],
        "stream": True,
    }


def test_a_tool_that_needs_leave_is_not_run_without_a_callback():
    agent, fake = scripted(reply(text("so far"), call("send_mail", confirmation_status="pending")))
    with pytest.raises(AnswerError, match="confirm=") as caught:
        agent.query("What?", libraries=LIBRARY)
    assert caught.value.partial.text == "so far"
    assert len(fake.requests) == 1


def test_conversations_are_listed_read_and_deleted():
    conversation = {"id": "conv_1", "model": "m", "name": "n", "created_at": "2026-01-01T00:00:00Z"}
    entries = [
        {"type": "message.input", "id": "msg_0", "role": "user", "content": "Why?"},
        {"type": "tool.execution", "id": "tool_1", "name": "web_search"},
        {"type": "message.output", "id": "msg_1", "content": [{"type": "text", "text": "So."}]},
    ]
    agent, fake = scripted(
        Scripted(json=[conversation]),
        Scripted(json=conversation),
        Scripted(json={"conversation_id": "conv_1", "entries": entries}),
        Scripted(json={"conversation_id": "conv_1", "messages": entries[::2]}),
        Scripted(204),
    )
    rooms = agent.conversations
    assert [one.id for one in rooms.list(metadata={"a": 1})] == ["conv_1"]
    assert rooms.get("conv_1").model == "m"
    history = rooms.history("conv_1")
    assert [(one.type, one.text) for one in history] == [
        ("message.input", "Why?"),
        ("tool.execution", ""),
        ("message.output", "So."),
    ]
    assert rooms.messages("conv_1") == history[::2]
    rooms.delete("conv_1")
    assert [f"{request.method} {request.path}" for request in fake.requests] == [
        "GET /v1/conversations",
        "GET /v1/conversations/conv_1",
        "GET /v1/conversations/conv_1/history",
        "GET /v1/conversations/conv_1/messages",
        "DELETE /v1/conversations/conv_1",
    ]
    assert fake.requests[0].query == "page=0&page_size=100&metadata=%7B%22a%22%3A1%7D"


def test_what_was_asked_shows_no_prompt_in_its_repr() -> None:
    asked = {field.name: None for field in attr.fields(Asked)}
    asked.update(dict.fromkeys(("question", "inputs", "tools", "instructions"), "secret words"))
    asked["options"] = {"guardrails": "secret words"}
    assert "secret words" not in repr(Asked(**asked))
