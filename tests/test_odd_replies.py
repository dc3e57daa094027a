"""Whatever a server answers, only errors of this library come out, and every call ends."""

import contextlib
import json

import pytest

from mistral_knowledge import Answer, Entry, FakeTransport, KnowledgeClient, KnowledgeError, Usage
from mistral_knowledge.transports.fake import Scripted

ID = "11111111-1111-4111-8111-111111111111"

ODD_CHUNKS = [
    {"type": "reference", "reference_ids": None},
    {"type": "document_url", "document_url": 5},
    {"type": "tool_reference", "tool": 5, "title": [], "url": {}},
    {"type": ["x"]},
    {"type": "thinking", "thinking": {"a": [1]}},
]
ODD_CALLS = [
    1,
    {"function": 5},
    {"index": [1], "id": {}, "function": {"name": 5, "arguments": [1]}},
    {"index": {"a": 1}, "id": [], "function": {}},
    {"id": "a", "function": {"name": "f"}},
    {"id": ["b"], "function": {"name": "g"}},
]
ODD_ENTRIES = [
    5,
    {"type": []},
    {"type": "message.output", "content": {"type": 5}},
    {"type": "message.output", "id": [1], "content": ODD_CHUNKS},
    {"type": "tool.execution", "id": [], "name": [], "arguments": [1], "info": [1]},
    {"type": "tool.execution", "id": {"a": 1}, "info": {"results": [1, {"title": 5, "url": []}]}},
    {"type": "function.call", "id": [], "tool_call_id": {}, "name": 5, "confirmation_status": [1]},
]
ANY = [None, True, 0, -1, 1.5, 1e400, "", "x", "null", [], {}, [None], [1], ["a"], {"a": 1}]
OBJECTS = [
    {"id": None},
    {"id": "a"},
    {"data": None},
    {"data": [{"id": "a"}]},
    {"data": [1]},
    {"data": {}},
    {"pagination": {"has_more": True}, "data": [{"id": "a"}]},
    {"next_page_token": ["x"], "data": [{"id": "a"}]},
    {"next_page_token": {"x": 1}, "data": [{"id": "b"}]},
    {"total": "x", "data": [{"id": "c"}]},
    {"url": 5},
    {"text": 5},
    "https://x y",
]
ERRORS = [
    {"detail": 5},
    {"message": {"detail": [1, {"loc": 3}]}},
    {"error": [1]},
    {"error": {"error": {"error": 1}}},
]
CHAT = [
    {"choices": {"a": 1}},
    {"choices": "abc"},
    {"choices": 5},
    {"choices": [{"message": {"content": ODD_CHUNKS}}]},
    {"choices": [{"message": {"content": {"type": {}}}}], "usage": {"connectors": [1]}},
    {"choices": [{"index": {"a": 1}, "message": {"content": "x"}}]},
    {"choices": [{"index": [], "delta": {"tool_calls": ODD_CALLS, "role": [], "index": [1]}}]},
    {
        "choices": [
            {"messages": [1, {"role": "tool", "content": {"a": 1}}, {"tool_calls": ODD_CALLS}]}
        ]
    },
    {"choices": [{"message": 5, "finish_reason": ["x"]}], "usage": [1], "model": 5, "id": []},
]
CONVERSATIONS = [
    {"outputs": ODD_ENTRIES, "conversation_id": [1], "usage": {"connectors": 5}},
    {"type": []},
    {"type": ["x"]},
    {"outputs": [{"type": ["x"]}, {"type": 5}, {"type": True}]},
    {"type": "conversation.response.started", "conversation_id": 5},
    {"type": "tool.execution.done"},
    {"type": "function.call.delta"},
    {"type": "message.output.delta", "id": []},
    {"type": "conversation.response.done", "usage": {"connectors": [1]}},
]
REPLIES = [*ANY, *OBJECTS, *ERRORS, *CHAT, *CONVERSATIONS]


def calls(client):
    """Every public call, by name."""
    files, libraries, documents = client.files, client.libraries, client.documents
    agent = client.rag.agent
    return {
        "files.upload": lambda: files.upload(b"x", name="n"),
        "files.list": lambda: list(files.list()),
        "files.get": lambda: files.get(ID),
        "files.delete": lambda: files.delete(ID),
        "files.signed_url": lambda: files.signed_url(ID),
        "libraries.create": lambda: libraries.create("x"),
        "libraries.list": lambda: list(libraries.list()),
        "libraries.find": lambda: libraries.find("x"),
        "libraries.get": lambda: libraries.get(ID),
        "libraries.update": lambda: libraries.update(ID, name="y"),
        "libraries.delete": lambda: libraries.delete(ID),
        "libraries.shares": lambda: libraries.shares(ID),
        "libraries.share": lambda: libraries.share(ID, ID),
        "libraries.unshare": lambda: libraries.unshare(ID, ID),
        "documents.upload": lambda: documents.upload(ID, b"x", name="n"),
        "documents.list": lambda: list(documents.list(ID)),
        "documents.get": lambda: documents.get(ID, ID),
        "documents.status": lambda: documents.status(ID, ID),
        "documents.text": lambda: documents.text(ID, ID),
        "documents.signed_url": lambda: documents.signed_url(ID, ID),
        "documents.reprocess": lambda: documents.reprocess(ID, ID),
        "documents.update": lambda: documents.update(ID, ID, name="x"),
        "documents.delete": lambda: documents.delete(ID, ID),
        "rag.query": lambda: client.rag.query("x", libraries=ID),
        "rag one-shot": lambda: client.rag.query("x", libraries=ID, streaming=False),
        "agent.query": lambda: agent.query("x", libraries=ID),
        "agent one-shot": lambda: agent.query("x", libraries=ID, streaming=False),
        "agent functions": lambda: agent.query("x", functions={"f": dict}, max_rounds=2),
        "conversations.list": lambda: list(agent.conversations.list()),
        "conversations.get": lambda: agent.conversations.get("c"),
        "conversations.history": lambda: agent.conversations.history("c"),
        "conversations.messages": lambda: agent.conversations.messages("c"),
        "conversations.delete": lambda: agent.conversations.delete("c"),
    }


NAMES = list(calls(KnowledgeClient(transport=FakeTransport(script=[]))))


def replies(payload):
    """The payload under every content type, and as an error."""
    body = json.dumps(payload).encode()
    for kind in ("application/json", "text/html", ""):
        yield Scripted(headers={"content-type": kind}, steps=[body])
    yield Scripted.events(b"data: " + body + b"\n\n")
    yield Scripted(422, headers={"content-type": "application/json"}, steps=[body])


def use(value):
    """Everything a caller may do with what came."""
    text = [repr(value)]
    if isinstance(value, Answer):
        text += [value.render("markdown"), repr(value.sources), repr(value.log_fields())]
    return text


@pytest.mark.parametrize("name", NAMES)
def test_an_odd_reply_gives_a_value_or_an_error_of_ours(name):
    for payload in REPLIES:
        for reply in replies(payload):
            # A call that went on asking would use the script up, which is an AssertionError.
            transport = FakeTransport(script=[reply] * 20)
            client = KnowledgeClient(transport=transport, retries=0)
            with contextlib.suppress(KnowledgeError):
                use(calls(client)[name]())
            assert transport.open_replies == 0


@pytest.mark.parametrize(
    "odd", [{"connectors": [1]}, {"connectors": 5}, {"prompt_tokens": "five"}, {"total_tokens": {}}]
)
def test_what_is_no_token_count_stays_in_extra_and_can_be_added(odd):
    usage = Usage.of({"completion_tokens": 2, **odd})
    assert usage == Usage(completion_tokens=2, extra=odd)
    more = usage + Usage(completion_tokens=3, connectors={"web_search": 1})
    assert more == Usage(completion_tokens=5, connectors={"web_search": 1}, extra=odd)


def test_a_count_that_is_null_is_unknown():
    nothing = {"prompt_tokens": None, "connectors": None, "service_tier": None}
    assert Usage.of(nothing) == Usage(extra={"service_tier": None})


@pytest.mark.parametrize(
    "content", ["hi", {"type": "text", "text": "hi"}, [{"text": "h"}, 5, {"text": "i"}]]
)
def test_an_entry_has_its_words_whatever_form_its_content_has(content):
    assert Entry("msg_1", raw={"content": content}).text == "hi"
