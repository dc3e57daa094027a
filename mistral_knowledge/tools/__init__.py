"""Nine tools with which a model works on Mistral's knowledge APIs, for any function calling.

>>> from mistral_knowledge import FakeTransport, KnowledgeClient
>>> from mistral_knowledge.tools import knowledge_tools
>>> client = KnowledgeClient(transport=FakeTransport())
>>> create = knowledge_tools(client, only=["mistral_library_create"])[0]
>>> result = create.execute({"name": "Notes"})
>>> result.is_error, result.structured_content["name"]
(False, 'Notes')

`mcp_server` serves them to MCP hosts (`python -m mistral_knowledge mcp`).
"""

from __future__ import annotations

from .calling import as_functions, dispatch
from .kit import knowledge_tools
from .result import OnUpdate, ToolResult
from .tool import KnowledgeTool

__all__ = [
    "KnowledgeTool",
    "OnUpdate",
    "ToolResult",
    "as_functions",
    "dispatch",
    "knowledge_tools",
]
