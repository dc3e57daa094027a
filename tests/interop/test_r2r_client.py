"""R2R's own client runs the loops of its guide, as printed there, against the relay.

Not part of the usual run, since the client is heavy: `make interop`. The code of the
snippets is the documented interface that is being checked (seed 004). Only what the installed
client cannot take is changed: its `agent` has `message` and `research_generation_config` where the
guide has `query` and `generation_config`.
"""

from __future__ import annotations

import contextlib
import io
from typing import Any, Dict, Iterator, List

import pytest
import r2r
from r2r import R2RClient, R2RException

from mistral_knowledge import FakeTransport, KnowledgeClient
from mistral_knowledge.fake_api import KnowledgeApi
from mistral_knowledge.relay import relay_app
from tests.relay.running import running

RAG = """
from r2r import (
    CitationEvent,
    FinalAnswerEvent,
    MessageEvent,
    SearchResultsEvent,
    R2RClient,
)

client = R2RClient("http://localhost:7272")

result_stream = client.retrieval.rag(
    query="What is DeepSeek R1?",
    search_settings={"limit": 25},
    rag_generation_config={"stream": True},
)

for event in result_stream:
    if isinstance(event, SearchResultsEvent):
        print("Search results:", event.data)
    elif isinstance(event, MessageEvent):
        print("Partial message:", event.data.delta)
    elif isinstance(event, CitationEvent):
        print("New citation detected:", event.data)
    elif isinstance(event, FinalAnswerEvent):
        print("Final answer:", event.data.generated_answer)
        print("Citations:", event.data.citations)
"""

WEB = """
result_stream = client.retrieval.rag(
    query="What are the latest developments with DeepSeek R1?",
    rag_generation_config={"stream": True},
    include_web_search=True
)

for event in result_stream:
    # Process events as shown in previous example
    pass
"""

AGENT = """
from r2r import (
    ThinkingEvent,
    ToolCallEvent,
    ToolResultEvent,
    CitationEvent,
    MessageEvent,
    FinalAnswerEvent,
)

agent_stream = client.retrieval.agent(
    message={"role": "user", "content": "What does DeepSeek R1 imply for the future of AI?"},
    research_generation_config={"stream": True},
    mode="research"
)

for event in agent_stream:
    if isinstance(event, ThinkingEvent):
        print(f"🧠 Thinking: {event.data.delta.content[0].payload.value}")
    elif isinstance(event, ToolCallEvent):
        print(f"🔧 Tool call: {event.data.name}({event.data.arguments})")
    elif isinstance(event, ToolResultEvent):
        print(f"📊 Tool result: {event.data.content[:60]}...")
    elif isinstance(event, CitationEvent):
        print(f"📑 Citation: {event.data}")
    elif isinstance(event, MessageEvent):
        print(f"💬 Message: {event.data.delta.content[0].payload.value}")
    elif isinstance(event, FinalAnswerEvent):
        print(f"✅ Final answer: {event.data.generated_answer[:100]}...")
        print(f"   Citations: {len(event.data.citations)} sources referenced")
"""

ALL_SEVEN = {
    "SearchResultsEvent",
    "MessageEvent",
    "CitationEvent",
    "ThinkingEvent",
    "ToolCallEvent",
    "ToolResultEvent",
    "FinalAnswerEvent",
}
TEXT = "DeepSeek R1 is a reasoning model.\n\nIts future will imply cheaper AI."
PAGE = {
    "title": "AI",
    "url": "https://ai.test",
    "text": "Latest developments: DeepSeek R1 made waves.",
}


@pytest.fixture
def client() -> Iterator[R2RClient]:
    with KnowledgeApi(polls_until_done=0, seed=7, web_pages=[PAGE]) as api:
        ours = KnowledgeClient(transport=FakeTransport(api))
        library = ours.libraries.create("Papers")
        ours.documents.upload(library, ("DeepSeek_R1.md", TEXT), wait=True)
        with running(relay_app(ours, libraries=library)) as port:
            yield R2RClient(f"http://localhost:{port}")


def run(snippet: str, client: R2RClient) -> str:
    """What the snippet prints; the client that it makes becomes `client`."""
    names: Dict[str, Any] = {"client": client}
    made = r2r.R2RClient
    r2r.R2RClient = lambda base_url: client
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(snippet, names)
    finally:
        r2r.R2RClient = made
    return out.getvalue()


def kinds(events: List[Any]) -> List[str]:
    return [type(event).__name__ for event in events]


def test_the_basic_rag_loop_prints_results_text_citations_and_the_answer(client: R2RClient) -> None:
    out = run(RAG, client)
    assert "Search results: " in out
    assert "DeepSeek_R1.md" in out
    assert "New citation detected: " in out
    assert "Final answer: “DeepSeek R1" in out
    assert "Partial message: content=[MessageDelta(type='text'" in out


def test_the_web_search_loop_runs_and_cites_the_page(client: R2RClient) -> None:
    run(WEB, client)
    stream = client.retrieval.rag(
        query="What are the latest developments with DeepSeek R1?",
        rag_generation_config={"stream": True},
        include_web_search=True,
    )
    found = [event for event in stream if type(event).__name__ == "SearchResultsEvent"]
    pages = [page for event in found for page in event.data.data.web_page_search_results]
    assert [(page.title, page.link) for page in pages] == [("AI", "https://ai.test")]


def test_the_agent_loop_prints_every_kind_of_event(client: R2RClient) -> None:
    out = run(AGENT, client)
    for label in ("🧠 Thinking", "🔧 Tool call", "📊 Tool result", "📑 Citation", "💬 Message"):
        assert label in out
    assert "✅ Final answer: “DeepSeek R1" in out
    assert "   Citations: 2 sources referenced" in out


def test_all_seven_kinds_of_events_arrive_and_then_the_end(client: R2RClient) -> None:
    stream = client.retrieval.agent(
        message={"role": "user", "content": "What does DeepSeek R1 imply for the future of AI?"},
        research_generation_config={"stream": True},
        mode="research",
    )
    events = list(stream)
    assert set(kinds(events)) == ALL_SEVEN | {"NoneType"}
    assert kinds(events)[-2:] == ["FinalAnswerEvent", "NoneType"]


def test_what_comes_in_one_piece_is_parsed_too(client: R2RClient) -> None:
    rag = client.retrieval.rag(query="What is DeepSeek R1?").results
    assert rag.generated_answer.startswith("“DeepSeek R1")
    assert rag.search_results.chunk_search_results[0].metadata["title"] == "DeepSeek_R1.md"
    message = {"role": "user", "content": "What is DeepSeek R1?"}
    first = client.retrieval.agent(message=message).results
    assert first.messages[0].role == "assistant"
    more = client.retrieval.agent(message=message, conversation_id=first.conversation_id).results
    assert more.messages[0].content


def test_the_clients_own_settings_objects_are_taken(client: R2RClient) -> None:
    stream = client.retrieval.rag(
        query="What is DeepSeek R1?",
        search_settings=r2r.SearchSettings(limit=5),
        rag_generation_config=r2r.GenerationConfig(stream=True),
    )
    assert kinds(list(stream))[-2:] == ["FinalAnswerEvent", "NoneType"]


def test_an_error_reaches_the_client_with_its_status(client: R2RClient) -> None:
    with pytest.raises(R2RException) as caught:
        client.retrieval.rag(query=" ")
    assert caught.value.status_code == 422
    assert "query: there is no question in it" in str(caught.value)
