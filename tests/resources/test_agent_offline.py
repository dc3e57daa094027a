"""`client.rag.agent` against the in-memory API: all of it runs without a network."""

import pytest

from mistral_knowledge import (
    AnswerError,
    AnswerTruncatedError,
    CitationEvent,
    FakeTransport,
    FinalAnswerEvent,
    InvalidRequestError,
    KnowledgeClient,
    MessageEvent,
    NotFoundError,
    SearchResultsEvent,
    ThinkingEvent,
    ToolCallEvent,
    ToolResultEvent,
)
from mistral_knowledge.fake_api import KnowledgeApi

PAGES = [{"title": "Optics", "url": "https://optics.test", "text": "Light bends in glass."}]
QUESTION = "How fast does light travel?"
BOTH = pytest.mark.parametrize("streaming", [True, False])


@pytest.fixture
def api():
    with KnowledgeApi(polls_until_done=0, seed=7, web_pages=PAGES) as made:
        yield made


@pytest.fixture
def agent(client):
    return client.rag.agent


@pytest.fixture
def library(client):
    made = client.libraries.create("Physics")
    text = "Light travels at 299792458 m/s.\n\n# Speed\n\nLight is fast: nothing travels as fast."
    client.documents.upload(made, ("light.md", text), wait=True)
    return made


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


def kinds(events):
    """The kinds of events in order, each run of one kind once."""
    names = [type(event) for event in events]
    return [name for number, name in enumerate(names) if names[number - 1 : number] != [name]]


def test_research_gives_all_seven_kinds_of_events_in_their_order(agent, library):
    with agent.stream(QUESTION, libraries=library, mode="research") as stream:
        events = list(stream)
    assert kinds(events)[:5] == [
        ThinkingEvent,
        ToolCallEvent,
        ToolResultEvent,
        SearchResultsEvent,
        ToolCallEvent,
    ]
    assert kinds(events)[-3:] == [MessageEvent, CitationEvent, FinalAnswerEvent]
    assert "document_library" in events[-1].answer.thinking


@pytest.mark.parametrize("mode", ["rag", "research"])
def test_one_shot_and_streamed_give_equal_answers(agent, library, mode):
    def ask(streaming):
        answer = agent.query(QUESTION, libraries=library, mode=mode, streaming=streaming)
        for call in answer.tool_calls:
            call.tool_call_id = None  # a new one for each answer
        return answer

    assert ask(True) == ask(False)


@BOTH
def test_a_citation_has_its_document_and_a_page_its_url(agent, client, library, streaming):
    answer = agent.query(QUESTION, libraries=library, web_search=True, streaming=streaming)
    document, page = answer.sources
    (uploaded,) = client.documents.list(library)
    assert (document.title, document.document_id) == ("light.md", uploaded.id)
    assert (page.source_type, page.title, page.url) == ("web", "Optics", "https://optics.test")
    assert answer.usage.connectors == {"document_library": 1, "web_search": 1}


def test_a_document_found_in_two_passages_is_one_result(agent, library):
    with agent.stream(QUESTION, libraries=library) as stream:
        (found,) = [event for event in stream if isinstance(event, SearchResultsEvent)]
    assert [source.title for source in found.results] == ["light.md"]
    assert len(stream.answer.citations) == 2


def test_web_search_in_a_plain_question_takes_this_road(client, library):
    answer = client.rag.query(QUESTION, libraries=library, web_search=True)
    assert "Light bends in glass." in answer.text
    assert answer.conversation_id


@BOTH
def test_functions_are_run_until_the_answer_is_there(agent, streaming):
    answer = agent.query("add 41 and 1", functions={"add": add}, streaming=streaming)
    assert answer.text == "add gave: 42"
    assert [entry.type for entry in agent.conversations.history(answer)] == [
        "message.input",
        "function.call",
        "function.result",
        "message.output",
    ]


def test_a_call_without_functions_is_answered_by_the_caller(agent):
    tool = {"type": "function", "function": {"name": "add", "parameters": {}}}
    asked = agent.query('add {"a": 1}', tools=[tool])
    (call,) = asked.tool_calls
    assert (call.name, call.arguments, call.by_server) == ("add", '{"a":1}', False)
    result = {"type": "function.result", "tool_call_id": call.tool_call_id, "result": "2"}
    assert agent.query(inputs=[result], conversation=asked).text == "add gave: 2"


def asking_first(library):
    configuration = {"requires_confirmation": ["document_library"]}
    tool = {"type": "document_library", "library_ids": [library.id]}
    return {**tool, "tool_configuration": configuration}


@BOTH
@pytest.mark.parametrize(
    ("allowed", "words", "status"),
    [(True, "299792458", "allowed"), (False, "leave was refused", "denied")],
)
def test_a_tool_that_needs_leave_runs_only_with_it(
    agent, library, streaming, allowed, words, status
):
    tools = [asking_first(library)]
    answer = agent.query(QUESTION, tools=tools, confirm=lambda call: allowed, streaming=streaming)
    assert words in answer.text
    assert answer.tool_calls[0].confirmation == status
    entry = agent.conversations.history(answer)[1]
    assert entry.raw["confirmation_status"] == status


def test_without_a_callback_leave_is_not_given(agent, library):
    with pytest.raises(AnswerError, match="confirm="):
        agent.query(QUESTION, tools=[asking_first(library)])


def test_a_conversation_goes_on_restarts_and_is_deleted(agent, library):
    first = agent.query(QUESTION, libraries=library, metadata={"a": 1})
    second = agent.query("Does light bend?", conversation=first)
    assert second.conversation_id == first.conversation_id
    entries = agent.conversations.history(second)
    third = agent.query("And glass?", conversation=second, from_entry=entries[0])
    assert third.conversation_id != first.conversation_id
    listed = [one.id for one in agent.conversations.list(metadata={"a": 1}, page_size=1)]
    assert listed == [third.conversation_id, first.conversation_id]
    messages = agent.conversations.messages(third)
    assert [one.text for one in messages[:2]] == [QUESTION, "And glass?"]
    agent.conversations.delete(first)
    with pytest.raises(NotFoundError):
        agent.query("And?", conversation=first)


def test_a_conversation_that_is_not_stored_cannot_be_continued(agent, library):
    answer = agent.query(QUESTION, libraries=library, store=False)
    with pytest.raises(NotFoundError):
        agent.conversations.get(answer)


def test_an_agent_that_was_made_known_answers_with_its_tools(api, agent, library):
    tool = {"type": "document_library", "library_ids": [library.id]}
    answer = agent.query(QUESTION, agent=api.add_agent(tools=[tool]))
    assert "299792458" in answer.text
    assert agent.conversations.get(answer).agent_id.startswith("ag_")
    with pytest.raises(NotFoundError):
        agent.query(QUESTION, agent="ag_0")


def test_what_the_server_refuses_names_the_field(agent, library):
    with pytest.raises(InvalidRequestError, match="temperature"):
        agent.query(QUESTION, libraries=library, temperature=1.2)


def test_a_stream_that_breaks_off_is_no_answer(agent, fake, library):
    fake.cut_next(after_bytes=3000, clean=True, path="/v1/conversations")
    with pytest.raises(AnswerTruncatedError):
        agent.query(QUESTION, libraries=library)


def test_without_pages_the_answer_says_that_there_is_no_web():
    with KnowledgeClient(transport=FakeTransport()) as client:
        assert "no web here" in client.rag.agent.query(QUESTION, web_search=True).text
