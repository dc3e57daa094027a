"""A kit of all nine tools over the in-memory API, and a library with a document in it."""

from __future__ import annotations

import pathlib
import sys
from typing import Any, Callable, Dict, List

import pytest

from mistral_knowledge import KnowledgeClient, Library
from mistral_knowledge.tools import KnowledgeTool, ToolResult, knowledge_tools

# The mcp package needs 3.10; tests/tools/test_mcp_command.py says what older Pythons get instead.
collect_ignore = ["test_mcp_server.py"] if sys.version_info < (3, 10) else []

QUESTION = "What colour is the sky?"


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "allowed"
    folder.mkdir()
    return folder


@pytest.fixture(params=[True, False], ids=["streaming", "one-shot"])
def tools(
    request: pytest.FixtureRequest, client: KnowledgeClient, root: pathlib.Path
) -> Dict[str, KnowledgeTool]:
    asking = client.with_options(streaming=request.param)
    return {tool.name: tool for tool in knowledge_tools(asking, roots=[root])}


@pytest.fixture
def library(client: KnowledgeClient) -> Library:
    made = client.libraries.create("Notes")
    client.documents.upload(made, ("sky.txt", "The sky is blue. Birds fly in it."))
    return made


@pytest.fixture
def run(tools: Dict[str, KnowledgeTool]) -> Callable[..., ToolResult]:
    """Executes a tool; its name comes first, what the model sends are keywords."""

    def execute(tool: str, /, **arguments: Any) -> ToolResult:
        return tools[f"mistral_{tool}"].execute(arguments)

    return execute


def every_call(client: KnowledgeClient, library: Library) -> List[Dict[str, Any]]:
    """Good arguments for each of the nine, in their order."""
    document = next(iter(client.documents.list(library)))
    named = {"library_id": library.id, "document_id": document.id}
    note = {"name": "note.md", "text": "Grass is green."}
    return [
        note,
        {"name": "Second", "description": "for tests"},
        {"search": "Notes", "limit": 5},
        {"library_id": library.id, **note},
        {"library_id": library.id},
        named,
        {**named, "kind": "extracted_text"},
        named,
        {"library_ids": [library.id], "question": QUESTION},
    ]
