"""The nine tools against the in-memory API, streaming and one-shot."""

from __future__ import annotations

import pickle
import re
import threading
import typing
from typing import Any, Callable, Dict, List

import jsonschema
import pytest

from mistral_knowledge import (
    AbortSignal,
    FakeTransport,
    InvalidArgumentError,
    KnowledgeClient,
    Library,
    Retry,
)
from mistral_knowledge.tools import KnowledgeTool, ToolResult, knowledge_tools
from mistral_knowledge.transports.fake import Raise, Scripted, Stall

from ..answers.wire import chunk, good, sse
from .conftest import QUESTION, every_call

NAMES = [
    "mistral_file_upload",
    "mistral_library_create",
    "mistral_library_list",
    "mistral_document_upload",
    "mistral_document_list",
    "mistral_document_status",
    "mistral_document_signed_url",
    "mistral_document_reprocess",
    "mistral_document_query",
]
READ_ONLY = [
    "mistral_library_list",
    "mistral_document_list",
    "mistral_document_status",
    "mistral_document_signed_url",
    "mistral_document_query",
]
ID = "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10"

Run = Callable[..., ToolResult]
Tools = Dict[str, KnowledgeTool]


def asking(*script: Scripted, **options: Any) -> KnowledgeTool:
    client = KnowledgeClient(transport=FakeTransport(script=script), retries=Retry(0), **options)
    return knowledge_tools(client, only=["mistral_document_query"])[0]


def ask(tool: KnowledgeTool, **options: Any) -> ToolResult:
    return tool.execute({"question": QUESTION, "library_ids": [ID]}, **options)


# What there is


def test_there_are_exactly_nine_in_their_order(client: KnowledgeClient) -> None:
    assert [tool.name for tool in knowledge_tools(client)] == NAMES


def test_only_those_that_are_named_are_given(client: KnowledgeClient) -> None:
    some = knowledge_tools(client, only=["mistral_document_query", "mistral_library_list"])
    assert [tool.name for tool in some] == ["mistral_library_list", "mistral_document_query"]


def test_read_only_leaves_what_changes_nothing(client: KnowledgeClient) -> None:
    assert [tool.name for tool in knowledge_tools(client, read_only=True)] == READ_ONLY


@pytest.mark.parametrize("only", [["mistral_file_uplod"], [], "query"])
def test_a_name_that_no_tool_has_is_refused(client: KnowledgeClient, only: Any) -> None:
    with pytest.raises(InvalidArgumentError, match="mistral_document_query"):
        knowledge_tools(client, only=only)


def test_what_costs_money_says_so(client: KnowledgeClient) -> None:
    costly = [tool.name for tool in knowledge_tools(client) if "Costs money" in tool.description]
    assert costly == [NAMES[0], NAMES[3], NAMES[7], NAMES[8]]


# Schemas


def test_every_schema_is_valid_json_schema_that_allows_nothing_unknown(
    client: KnowledgeClient,
) -> None:
    for tool in knowledge_tools(client):
        for schema in (tool.parameters, tool.output_schema):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        assert tool.parameters["additionalProperties"] is False
        described = [one["description"] for one in tool.parameters["properties"].values()]
        assert all(described), tool.name


def test_every_tool_gives_what_its_output_schema_says(
    tools: Tools, client: KnowledgeClient, library: Library
) -> None:
    for name, arguments in zip(NAMES, every_call(client, library)):
        tool = tools[name]
        jsonschema.validate(arguments, tool.parameters)
        result = tool.execute(arguments)
        assert (result.is_error, result.details["tool"]) == (False, name), result
        assert result.content.strip()
        jsonschema.validate(result.structured_content, tool.output_schema)


def test_a_schema_that_is_changed_by_its_reader_stays_as_it_was(client: KnowledgeClient) -> None:
    tool = knowledge_tools(client)[0]
    tool.parameters["properties"]["visibility"]["enum"].clear()
    assert tool.execute({"text": "x", "name": "x.txt"}).is_error is False
    assert tool.parameters["properties"]["visibility"]["enum"] == ["user", "workspace"]


def test_a_declaration_fits_function_calling(client: KnowledgeClient) -> None:
    tool = knowledge_tools(client)[1]
    assert tool.as_function() == {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }


# What each does


def test_each_asks_its_endpoint(
    tools: Tools, client: KnowledgeClient, library: Library, fake: FakeTransport
) -> None:
    asked = {}
    for name, arguments in zip(NAMES, every_call(client, library)):
        fake.requests.clear()
        tools[name].execute(arguments)
        asked[name] = [
            f"{record.method} {re.sub('[0-9a-f-]{36}', '{id}', record.path)}"
            for record in fake.requests
        ]
    documents = "/v1/libraries/{id}/documents"
    assert asked == {
        "mistral_file_upload": ["POST /v1/files"],
        "mistral_library_create": ["POST /v1/libraries"],
        "mistral_library_list": ["GET /v1/libraries"],
        "mistral_document_upload": [f"POST {documents}"],
        "mistral_document_list": [f"GET {documents}"],
        "mistral_document_status": [f"GET {documents}/{{id}}/status", f"GET {documents}/{{id}}"],
        "mistral_document_signed_url": [f"GET {documents}/{{id}}/extracted-text-signed-url"],
        "mistral_document_reprocess": [f"POST {documents}/{{id}}/reprocess"],
        "mistral_document_query": ["POST /v1/chat/completions"],
    }


def test_a_file_is_the_users_own_unless_the_model_asks_for_more(
    run: Run, fake: FakeTransport
) -> None:
    run("file_upload", text="x", name="a.txt")
    run("file_upload", text="x", name="a.txt", visibility="workspace")
    sent = [{part.name: part.value for part in record.parts} for record in fake.requests]
    assert [fields["visibility"] for fields in sent] == ["user", "workspace"]


def test_the_same_document_twice_is_there_once_and_the_model_is_told(
    run: Run, library: Library
) -> None:
    first = run("document_upload", library_id=library.id, text="New.", name="n.txt")
    second = run("document_upload", library_id=library.id, text="New.", name="n.txt")
    told = [result.structured_content or {} for result in (first, second)]
    assert [one["created"] for one in told] == [True, False]
    assert told[0]["document_id"] == told[1]["document_id"]
    assert "already there" in second.content


def test_a_list_says_whether_there_is_more(run: Run, client: KnowledgeClient) -> None:
    for number in range(3):
        client.libraries.create(f"L{number}")
    some, all_of_them = run("library_list", limit=2), run("library_list")
    assert (some.structured_content or {})["more"] is True
    assert "There are more." in some.content
    assert (all_of_them.structured_content or {})["more"] is False
    assert len((all_of_them.structured_content or {})["libraries"]) == 3


def test_an_empty_list_is_said_in_words(run: Run) -> None:
    assert run("library_list", search="none").content == "There are no such libraries."


def test_the_status_is_that_of_the_status_endpoint_with_the_metadata(
    run: Run, client: KnowledgeClient, library: Library, fake: FakeTransport
) -> None:
    document = next(iter(client.documents.list(library)))
    fake.requests.clear()
    result = run("document_status", library_id=library.id, document_id=document.id)
    paths = [record.path.rpartition("/")[2] for record in fake.requests]
    assert paths == ["status", document.id]
    told = result.structured_content or {}
    assert (told["name"], told["status"], told["ready"]) == ("sky.txt", "done", True)


@pytest.mark.parametrize("kind", ["original", "extracted_text"])
def test_a_signed_url_is_in_content_and_url_only(
    run: Run, client: KnowledgeClient, library: Library, kind: str
) -> None:
    document = next(iter(client.documents.list(library)))
    ids = {"library_id": library.id, "document_id": document.id}
    result = run("document_signed_url", kind=kind, **ids)
    told = result.structured_content or {}
    assert told["url"] in result.content
    signature = told["url"].partition("signature=")[2]
    assert signature
    assert signature not in repr(result) + str(result) + str(result.details)
    assert result.details == {"tool": "mistral_document_signed_url", **ids, "kind": kind}


def test_a_document_is_processed_again(
    run: Run, client: KnowledgeClient, library: Library, fake: FakeTransport
) -> None:
    document = next(iter(client.documents.list(library)))
    result = run("document_reprocess", library_id=library.id, document_id=document.id)
    assert fake.requests[-1].path.endswith(f"{document.id}/reprocess")
    assert result.is_error is False


def test_an_answer_has_text_with_citations_chunks_and_usage(run: Run, library: Library) -> None:
    result = run("document_query", question=QUESTION, library_ids=[library.id])
    assert "blue" in result.content
    assert "[1] sky.txt" in result.content
    told = result.structured_content or {}
    assert [one["type"] for one in told["chunks"]] == ["text", "document_url"]
    assert told["chunks"][1]["citations"][0]["title"] == "sky.txt"
    assert result.usage is not None
    assert (result.usage.total_tokens or 0) > 0


def test_streamed_and_one_shot_are_the_same(client: KnowledgeClient, library: Library) -> None:
    results = []
    for streaming in (True, False):
        over = client.with_options(streaming=streaming)
        tool = knowledge_tools(over, only=["mistral_document_query"])[0]
        result = tool.execute({"question": QUESTION, "library_ids": [library.id]})
        results.append((result.content, result.structured_content, result.usage))
    assert results[0] == results[1]


def test_no_url_of_a_document_is_told() -> None:
    url = "https://files.example/d.pdf?sig=giraffe"
    cited = [{"type": "document_url", "document_url": url, "document_name": "d.pdf"}]
    result = ask(asking(Scripted.events(good("Yes.", cited))))
    assert "giraffe" not in repr(result) + result.content + str(result.structured_content)


def test_a_truncated_answer_says_so() -> None:
    result = ask(asking(Scripted.events(sse(chunk("Half"), chunk(None, "length"), done=True))))
    assert "length limit" in result.content
    assert (result.structured_content or {})["truncated"] is True


# Partial results


def test_updates_grow_and_are_joined_only_when_they_are_read() -> None:
    pieces = [sse(chunk("The ")), sse(chunk("sky ")), good("is blue.")]
    seen: List[ToolResult] = []
    result = ask(asking(Scripted.events(*pieces)), on_update=seen.append)
    assert [one.content for one in seen[:3]] == ["The ", "The sky ", "The sky is blue."]
    assert all(one.details["partial"] for one in seen)
    assert not any(one.is_error for one in seen)
    assert result.content.startswith("The sky is blue.")


def test_what_the_callers_update_raises_comes_out() -> None:
    class SoftTimeLimitExceeded(Exception):
        pass

    def fail(_: ToolResult) -> None:
        raise SoftTimeLimitExceeded

    with pytest.raises(SoftTimeLimitExceeded):
        ask(asking(Scripted.events(good("Yes."))), on_update=fail)


def test_results_survive_pickle() -> None:
    seen: List[ToolResult] = []
    result = ask(asking(Scripted.events(good("Yes."))), on_update=seen.append)
    assert [pickle.loads(pickle.dumps(one)) for one in (result, seen[0])] == [result, seen[0]]


# Odd replies


@pytest.mark.parametrize("status", [200, 400])
def test_unpaired_surrogates_of_a_server_do_not_reach_a_result(status: int) -> None:
    odd = {"id": ID, "name": "a\ud800b", "message": "a\ud800b", "code": "a\ud800b"}
    client = KnowledgeClient(transport=FakeTransport(script=[Scripted(status, json=odd)]))
    (tool,) = knowledge_tools(client, only=["mistral_library_create"])
    result = tool.execute({"name": "x"})
    told = [result.content, repr(result.structured_content), str(result.details)]
    assert "a?b" in result.content
    assert [text for text in told if "\\ud800" in ascii(text)] == []


def test_unpaired_surrogates_do_not_reach_a_partial_result() -> None:
    seen: List[str] = []
    body = good("a\ud800b")
    ask(asking(Scripted.events(body)), on_update=lambda partial: seen.append(partial.content))
    assert seen[0] == "a?b"


# Failures


def test_an_abort_in_mid_stream_is_an_error_without_the_partial_text() -> None:
    signal = AbortSignal()
    seen: List[str] = []

    def stop(partial: ToolResult) -> None:
        seen.append(partial.content)
        signal.abort()

    result = ask(
        asking(Scripted.events(sse(chunk("Secret so far")), Stall())),
        signal=signal,
        on_update=stop,
    )
    assert seen == ["Secret so far"]
    assert (result.is_error, result.details["aborted"]) == (True, True)
    assert "Secret" not in result.content + repr(result)
    assert result.structured_content is None


def test_every_tool_gives_an_aborted_result_for_a_signal_that_was_aborted_before(
    tools: Tools, client: KnowledgeClient, library: Library
) -> None:
    signal = AbortSignal()
    signal.abort()
    for name, arguments in zip(NAMES, every_call(client, library)):
        result = tools[name].execute(arguments, signal)
        assert (result.is_error, result.details["aborted"]) == (True, True), name


@pytest.mark.parametrize(
    ("name", "more"), [("mistral_file_upload", {}), ("mistral_document_upload", {"library_id": ID})]
)
def test_an_abort_of_an_upload_is_an_aborted_result(name: str, more: Dict[str, Any]) -> None:
    signal, stall = AbortSignal(), Stall()
    fake = FakeTransport(script=[Scripted(before=[stall])])
    (tool,) = knowledge_tools(KnowledgeClient(transport=fake), only=[name])
    aborting = threading.Thread(target=lambda: stall.reached.wait(30) and signal.abort())
    aborting.start()
    result = tool.execute({"text": "x", "name": "x.txt", **more}, signal)
    aborting.join()
    assert (result.is_error, result.details.get("aborted")) == (True, True)


@pytest.mark.parametrize(
    "body",
    [
        sse({"object": "error", "message": "it broke", "code": "3505"}),
        sse(chunk("Half an "), {"error": {"message": "it broke"}}),
        sse(chunk("Half an "), chunk(None, "error")),
        sse(chunk("Half an answer")),
    ],
    ids=["error at once", "error object", "finish_reason error", "just stops"],
)
def test_an_error_in_the_stream_is_an_error_result(body: bytes) -> None:
    result = ask(asking(Scripted.events(body)))
    assert result.is_error is True
    assert result.structured_content is None
    assert "Half an" not in result.content


def test_the_servers_words_reach_the_model_redacted() -> None:
    words = "no such library, see https://help.example/x?token=giraffe"
    result = ask(asking(Scripted(404, json={"message": words})))
    assert "no such library" in result.content
    assert "mistral_library_list" in result.content
    assert "giraffe" not in result.content + str(result.details)
    assert result.details["http_status"] == 404
    assert result.details["error"] == "NotFoundError"


def test_a_server_that_puts_a_url_in_its_code_does_not_get_it_into_details() -> None:
    code = "https://help.example/x?token=giraffe"
    result = ask(asking(Scripted(400, json={"message": "no", "code": code})))
    assert "giraffe" not in str(result.details)


def test_a_missing_key_is_an_error_result(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = knowledge_tools(KnowledgeClient())[2]
    result = tool.execute({})
    assert result.is_error is True
    assert "MISTRAL_API_KEY" in result.content


def test_an_error_in_the_program_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        ask(asking(Scripted(before=[Raise(ZeroDivisionError())])))


def test_the_declared_types_can_be_evaluated_by_every_python() -> None:
    from mistral_knowledge.tools import kit

    for declaration in kit._DECLARED:
        assert typing.get_type_hints(declaration.arguments)
        assert typing.get_type_hints(declaration.output)
