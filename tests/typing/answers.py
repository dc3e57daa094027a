"""What a type checker knows of answers, streams and events."""

# pyright: strict

from __future__ import annotations

from typing import Iterator, List, Optional, assert_type

from mistral_knowledge import (
    Answer,
    AnswerError,
    AnswerStream,
    Chunk,
    Citation,
    CitationEvent,
    Event,
    FinalAnswerEvent,
    KnowledgeClient,
    Library,
    MessageEvent,
    PartialAnswer,
    SearchResultsEvent,
    Source,
    ThinkingEvent,
    ToolCallEvent,
    ToolResultEvent,
    UnknownEvent,
    Usage,
)


def ask(client: KnowledgeClient, library: Library) -> None:
    answer = client.rag.query("What was measured?", libraries=library, temperature=0.2)
    assert_type(answer, Answer)
    assert_type(answer.text, str)
    assert_type(answer.citations, List[Citation])
    assert_type(answer.sources, List[Source])
    assert_type(answer.chunks, List[Chunk])
    assert_type(answer.usage, Optional[Usage])
    assert_type(answer.render("markdown"), str)
    assert_type(client.rag.show("And then?", libraries=library), Answer)


def ask_an_agent(client: KnowledgeClient, library: Library) -> None:
    first = client.rag.agent.query("What was measured?", libraries=[library], web_search=True)
    assert_type(first, Answer)
    with client.rag.agent.stream("And then?", conversation=first, mode="research") as stream:
        assert_type(stream, AnswerStream)


def watch(client: KnowledgeClient, library: Library) -> None:
    def grown(partial: PartialAnswer) -> None:
        assert_type(partial.text, str)

    client.rag.query("What was measured?", libraries=library, on_update=grown)


def read(client: KnowledgeClient) -> Iterator[str]:
    with client.rag.stream("What was measured?", libraries=["id-1", "id-2"]) as stream:
        assert_type(stream, AnswerStream)
        for event in stream:
            assert_type(event, Event)
            yield told(event)
    assert_type(stream.answer, Optional[Answer])


def told(event: Event) -> str:
    """Every kind is named: a checker sees that nothing is left."""
    if isinstance(event, MessageEvent):
        return assert_type(event.delta, str)
    if isinstance(event, ThinkingEvent):
        return assert_type(event.delta, str)
    if isinstance(event, CitationEvent):
        return assert_type(event.citation, Citation).title or ""
    if isinstance(event, SearchResultsEvent):
        return ", ".join(source.title or "" for source in assert_type(event.results, List[Source]))
    if isinstance(event, ToolCallEvent):
        return f"{event.name}({assert_type(event.arguments, str)})"
    if isinstance(event, ToolResultEvent):
        return assert_type(event.content, str)
    if isinstance(event, UnknownEvent):
        return assert_type(event.name, str)
    assert_type(event, FinalAnswerEvent)
    return assert_type(event.answer, Answer).text


def read_text(stream: AnswerStream) -> Answer:
    assert_type(stream.text_stream, Iterator[str])
    assert_type(next(stream), Event)
    return assert_type(stream.get_answer(), Answer)


def rescued(error: AnswerError) -> Optional[PartialAnswer]:
    return assert_type(error.partial, Optional[PartialAnswer])


def mistakes(client: KnowledgeClient) -> None:
    """Each line is refused; a checker that let one pass would find its ignore unneeded."""
    client.rag.query("Why?")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    client.rag.query("Why?", "id-1")  # type: ignore  # pyright: ignore
    client.rag.query(5, libraries="id-1")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    client.rag.query("Why?", libraries=5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
