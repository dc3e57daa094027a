"""What a model sends may be anything: it gets words that help it, and nothing is raised."""

from __future__ import annotations

from typing import Any, Callable, Dict, List

import jsonschema
import pytest
from hypothesis import given, settings, strategies as st

from mistral_knowledge import FakeTransport, KnowledgeClient, Library
from mistral_knowledge.tools import KnowledgeTool, ToolResult, knowledge_tools

Run = Callable[..., ToolResult]
ID = "0b2b1c1e-5f3a-4a57-9c43-3e3f5d1f7a10"


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("library_create", {}, "name is missing: What to call it."),
        ("library_create", {"name": ""}, "name must be text that is not empty"),
        ("library_create", {"name": " "}, "name must be text that is not empty"),
        ("library_create", {"name": 5}, "name must be text, not an integer"),
        ("library_create", {"name": ["x"]}, "name must be text, not a list"),
        ("library_create", {"name": "a\0b"}, "name must be text without NUL"),
        ("library_create", {"name": "\ud800"}, "name must be text without NUL"),
        ("library_create", {"nam": "x"}, "'nam'; did you mean name?"),
        ("library_create", {"name": "x", "zzz": 1}, "'zzz'; there are: name, description"),
        ("library_list", {"limit": "5"}, "limit must be an integer, not text"),
        ("library_list", {"limit": True}, "limit must be an integer, not a boolean"),
        ("library_list", {"limit": 1.5}, "limit must be an integer, not a number"),
        ("library_list", {"limit": 0}, "limit must be between 1 and 500"),
        ("library_list", {"limit": 10**400}, "limit must be between 1 and 500"),
        ("library_list", {"limit": float("nan")}, "limit must be an integer, not a number"),
        ("file_upload", {"visibility": "all"}, "visibility must be one of user, workspace"),
        ("file_upload", {}, "give either path or text"),
        ("file_upload", {"path": "a", "text": "b"}, "give either path or text"),
        ("file_upload", {"text": "b"}, "name is missing"),
        ("document_status", {"library_id": ID}, "document_id is missing"),
        ("document_status", {"library_id": "../x", "document_id": ID}, "not the id of a Library"),
        ("document_query", {"question": "x", "library_ids": ID}, "must be a list, not text"),
        ("document_query", {"question": "x", "library_ids": []}, "a list that is not empty"),
        ("document_query", {"question": "x", "library_ids": [5]}, "each is text, not an integer"),
        ("document_query", {"question": "", "library_ids": [ID]}, "text that is not empty"),
        ("document_query", {"question": None, "library_ids": [ID]}, "question is missing"),
    ],
)
def test_bad_arguments_are_told_before_any_request(
    run: Run, fake: FakeTransport, tool: str, arguments: Dict[str, Any], words: str
) -> None:
    result = run(tool, **arguments)
    assert result.is_error is True
    assert words in result.content
    assert fake.requests == []


@pytest.mark.parametrize("params", [None, 5, "x", ["name"], True])
def test_arguments_that_are_no_object_are_told(client: KnowledgeClient, params: Any) -> None:
    result = knowledge_tools(client)[1].execute(params)
    assert "must be a JSON object" in result.content


def test_all_problems_are_told_at_once(run: Run) -> None:
    content = run("document_list", limit="x", library="y").content
    assert "limit must be" in content
    assert "did you mean library_id?" in content
    assert "library_id is missing" in content


def test_a_name_that_is_no_text_is_told(client: KnowledgeClient) -> None:
    result = knowledge_tools(client)[2].execute({10**5000: 1})
    assert "there is no argument 'of type int'" in result.content


def test_too_many_libraries_are_told(run: Run) -> None:
    result = run("document_query", question="x", library_ids=[ID] * 101)
    assert "library_ids must be a list of 1 to 100" in result.content


def test_a_flood_of_unknown_arguments_gets_a_short_reply(run: Run) -> None:
    flood = {f"x{number}": 1 for number in range(10_000)}
    assert len(run("library_list", **flood).content) < 1_000


def test_null_stands_for_what_is_left_out(run: Run) -> None:
    assert run("library_create", name="x", description=None).is_error is False


def test_a_whole_number_written_as_a_float_is_an_integer(run: Run) -> None:
    assert run("library_list", limit=2.0).is_error is False


def test_what_is_no_id_is_kept_out_of_details(run: Run) -> None:
    secret = "https://files.example/d.pdf?sig=giraffe"
    result = run("document_list", library_id=secret)
    assert result.details == {
        "tool": "mistral_document_list",
        "error": "InvalidArgumentError",
    }
    assert "giraffe" not in result.content


def anything() -> st.SearchStrategy[Any]:
    plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    return st.recursive(
        plain | st.just(ID),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=6,
    )


KIT: List[KnowledgeTool] = []


def kit() -> List[KnowledgeTool]:
    if not KIT:
        KIT.extend(knowledge_tools(KnowledgeClient(transport=FakeTransport(), retries=0)))
    return KIT


def odd_arguments(tool: KnowledgeTool) -> st.SearchStrategy[Any]:
    names = st.sampled_from(list(tool.parameters["properties"])) | st.text(max_size=10)
    return st.dictionaries(names, anything(), max_size=5) | anything()


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_nothing_that_a_model_sends_is_raised(data: st.DataObject) -> None:
    tool = data.draw(st.sampled_from(kit()))
    result = tool.execute(data.draw(odd_arguments(tool)))
    assert isinstance(result.content, str)
    if result.is_error:
        assert result.content.startswith("Error: ")
    else:
        jsonschema.validate(result.structured_content, tool.output_schema)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_what_the_schema_refuses_is_refused(data: st.DataObject) -> None:
    tool = data.draw(st.sampled_from(kit()))
    params = data.draw(odd_arguments(tool))
    # null for what is optional is the one thing that is borne beyond the schema.
    sent = (
        {k: v for k, v in params.items() if v is not None} if isinstance(params, dict) else params
    )
    result = tool.execute(params)
    assert result.is_error or jsonschema.Draft202012Validator(tool.parameters).is_valid(sent)


def test_a_library_made_by_a_model_can_be_found(run: Run, client: KnowledgeClient) -> None:
    made = run("library_create", name="Ünïcode ☃").structured_content or {}
    found: Library = client.libraries.get(made["id"])
    assert found.name == "Ünïcode ☃"
