"""From a model's tool call to the message that answers it."""

from __future__ import annotations

import json
import types
from typing import Any, Dict, List

import pytest

from mistral_knowledge import FakeTransport, InvalidArgumentError, KnowledgeClient, Library
from mistral_knowledge.models.answers import ToolCall
from mistral_knowledge.tools import KnowledgeTool, as_functions, dispatch, knowledge_tools


@pytest.fixture
def kit(client: KnowledgeClient) -> List[KnowledgeTool]:
    return knowledge_tools(client)


def call(name: str, arguments: Any) -> Dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_call_is_run_and_answered_by_a_tool_message(
    kit: List[KnowledgeTool], client: KnowledgeClient
) -> None:
    message = dispatch(kit, call("mistral_library_create", '{"name": "Notes"}'))
    assert {name: message[name] for name in ("role", "tool_call_id", "name")} == {
        "role": "tool",
        "tool_call_id": "c1",
        "name": "mistral_library_create",
    }
    assert [library.name for library in client.libraries.list()] == ["Notes"]
    assert message["content"].startswith("Created the library Notes")


def objects() -> List[Any]:
    function = types.SimpleNamespace(name="mistral_library_list", arguments={"limit": 3})
    return [
        types.SimpleNamespace(id="c1", function=function),
        ToolCall("c1", "mistral_library_list", '{"limit": 3}'),
        call("mistral_library_list", {"limit": 3}),
        call("mistral_library_list", ""),
        call("mistral_library_list", None),
    ]


@pytest.mark.parametrize("tool_call", objects(), ids=["sdk", "ours", "dict", "empty", "none"])
def test_every_form_of_a_tool_call_is_taken(kit: List[KnowledgeTool], tool_call: Any) -> None:
    message = dispatch(kit, tool_call)
    assert (message["tool_call_id"], message["content"]) == ("c1", "There are no such libraries.")


@pytest.mark.parametrize(
    ("tool_call", "words"),
    [
        (call("mistral_nothing", "{}"), "there is no tool 'mistral_nothing'; there are: mistral_"),
        (call("mistral_library_list", "{"), "the arguments are no JSON"),
        (call("mistral_library_list", "[" * 100_000), "the arguments are no JSON"),
        (call("mistral_library_list", "[1]"), "must be a JSON object, not a list"),
        (call("mistral_library_list", 5), "must be a JSON object, not an integer"),
        (call("mistral_library_list", []), "must be a JSON object, not a list"),
        (call("mistral_library_list", False), "must be a JSON object, not a boolean"),
    ],
)
def test_what_a_model_got_wrong_is_in_the_message(
    kit: List[KnowledgeTool], tool_call: Any, words: str
) -> None:
    content = dispatch(kit, tool_call)["content"]
    assert content.startswith("Error: ")
    assert words in content


def test_a_huge_name_of_a_tool_gets_a_short_reply(kit: List[KnowledgeTool]) -> None:
    content = dispatch(kit, call("x" * 1_000_000, "{}"))["content"]
    assert content.startswith("Error: there is no tool 'xxx")
    assert len(content) < 1_000


@pytest.mark.parametrize("tool_call", [None, {}, {"function": {}}, "x", {"function": {"name": 5}}])
def test_what_is_no_tool_call_is_refused(kit: List[KnowledgeTool], tool_call: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="no tool call"):
        dispatch(kit, tool_call)


def test_a_model_of_the_in_memory_api_calls_tools_through_the_agent(
    kit: List[KnowledgeTool], client: KnowledgeClient, library: Library, fake: FakeTransport
) -> None:
    asked = json.dumps({"question": "What colour is the sky?", "library_ids": [library.id]})
    answer = client.rag.agent.query(
        f"Use mistral_document_query {asked}",
        tools=[tool.as_function() for tool in kit],
        functions=as_functions(kit),
    )
    assert [one.name for one in answer.tool_calls] == ["mistral_document_query"]
    assert "The sky is blue" in answer.text
    posted = [record.path.split("/")[2] for record in fake.requests if record.method == "POST"]
    assert posted[-3:] == ["conversations", "chat", "conversations"]


def test_a_bad_call_of_the_agents_model_comes_back_to_it(
    kit: List[KnowledgeTool], client: KnowledgeClient
) -> None:
    answer = client.rag.agent.query(
        'Use mistral_library_create {"nam": "Notes"}',
        tools=[tool.as_function() for tool in kit],
        functions=as_functions(kit),
    )
    assert "did you mean name?" in answer.text


def test_a_chat_loop_ends_in_an_answer(kit: List[KnowledgeTool], library: Library) -> None:
    """The loop that docs/tools.md shows, with a model that is scripted here."""
    asked = json.dumps({"question": "What colour is the sky?", "library_ids": [library.id]})
    turns: List[Any] = [
        {"role": "assistant", "tool_calls": [call("mistral_document_query", asked)]},
        {"role": "assistant", "content": "It is blue."},
    ]
    messages: List[Dict[str, Any]] = [{"role": "user", "content": "What colour is the sky?"}]
    while True:
        reply = turns.pop(0)
        messages.append(reply)
        if not reply.get("tool_calls"):
            break
        messages += [dispatch(kit, one) for one in reply["tool_calls"]]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert "The sky is blue" in messages[2]["content"]
