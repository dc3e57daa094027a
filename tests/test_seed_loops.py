"""The two loops of R2R's streaming retrieval interface run over our streams as they are written.

LOOPS is the documented interface that is being checked (seed 004, "Basic Streaming RAG" and "Basic
Streaming Agent"). Only its import lines and the statements that make the streams are replaced.
"""

import contextlib
import io
import json
import re

import pytest

import mistral_knowledge
from mistral_knowledge.fake_api import KnowledgeApi

RAG_LOOP = """
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

AGENT_LOOP = """
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

TEXT = "DeepSeek R1 is a reasoning model.\n\nIts future will imply cheaper AI."
PAGE = {"title": "AI", "url": "https://ai.test", "text": "DeepSeek R1 made waves."}
DOCUMENT = "DeepSeek_R1.md"


@pytest.fixture
def api():
    with KnowledgeApi(polls_until_done=0, seed=7, web_pages=[PAGE]) as made:
        yield made


@pytest.fixture
def library(client):
    made = client.libraries.create("Papers")
    client.documents.upload(made, (DOCUMENT, TEXT), wait=True)
    return made


def printed(loop, **streams):
    """What a loop prints."""
    names = {name: getattr(mistral_knowledge, name) for name in mistral_knowledge.__all__}
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(loop, {**names, **streams})
    return out.getvalue()


def told(text, label):
    """What stands behind a label, line by line."""
    return [line[len(label) :] for line in text.splitlines() if line.startswith(label)]


@pytest.mark.parametrize("web_search", [False, True])
def test_the_loop_over_a_rag_stream_prints_results_text_citations_and_the_answer(
    client, library, web_search
):
    question = "What is DeepSeek R1?"
    result_stream = client.rag.stream(question, libraries=library, web_search=web_search)
    out = printed(RAG_LOOP, result_stream=result_stream)
    answer = result_stream.answer
    assert f"Final answer: {answer.text}\n" in out
    assert len(told(out, "New citation detected: ")) == len(answer.citations) > 0
    assert DOCUMENT in told(out, "Search results: ")[0]
    assert ("https://ai.test" in out) == web_search
    first = eval(told(out, "Partial message: ")[0])
    assert answer.text.startswith(first["content"][0]["payload"]["value"])
    citations = eval(told(out, "Citations: ")[0])
    assert [one["source_title"] for one in citations] == [one.title for one in answer.sources]


def test_a_citation_that_the_loop_prints_has_the_documented_fields(client, library):
    agent_stream = client.rag.agent.stream("What is DeepSeek R1?", libraries=library)
    (citation,) = map(eval, told(printed(AGENT_LOOP, agent_stream=agent_stream), "📑 Citation: "))
    (document,) = client.documents.list(library)
    end = agent_stream.answer.citations[0].end_index
    wanted = {
        "object": "citation",
        "raw_index": 1,
        "index": 1,
        "start_index": end,
        "end_index": end,
        "source_type": "chunk",
        "document_id": document.id,
        "source_title": DOCUMENT,
    }
    assert {name: citation[name] for name in wanted} == wanted
    assert citation["id"]
    assert citation["source_id"]


@pytest.mark.parametrize("streaming", [True, False])
def test_the_loop_over_an_agent_stream_prints_every_kind_of_event(client, library, streaming):
    agent_stream = client.rag.agent.stream(
        "What does DeepSeek R1 imply for the future of AI?",
        libraries=library,
        mode="research",
        streaming=streaming,
    )
    out = printed(AGENT_LOOP, agent_stream=agent_stream)
    answer = agent_stream.answer
    assert "".join(told(out, "🧠 Thinking: ")) == answer.thinking
    names = [call.partition("(")[0] for call in told(out, "🔧 Tool call: ")]
    assert names == ["document_library", "web_search_premium"]
    queries = [call.partition("(")[2][:-1] for call in told(out, "🔧 Tool call: ")]
    assert all("DeepSeek R1" in json.loads(query)["query"] for query in queries)
    assert all(result.startswith('{"results": [{') for result in told(out, "📊 Tool result: "))
    assert len(told(out, "📑 Citation: ")) == len(answer.citations) == 2
    messages = re.findall("^💬 Message: (.*?)\n(?=[📑💬✅])", out, re.MULTILINE | re.DOTALL)
    assert "".join(messages) == answer.text
    assert f"✅ Final answer: {answer.text[:100]}" in out
    assert told(out, "   Citations: ") == ["2 sources referenced"]
