"""What the chat endpoint accepts, and what it reads out of a request."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence

import attr

from .checks import Field, Fields, issues_of
from .conversation_tools import issues_of_tool
from .problems import ApiProblem, Issue, chat_problem, invalid_chat, issue

_ROLES = ("system", "user", "assistant", "tool")
_TOOLS = ("function", "image_generation", "document_library", "connector")
_ELSEWHERE = ("web_search", "web_search_premium", "code_interpreter")
_OPTIONAL = {
    "temperature": Field("number", low=0, high=1.5),
    "top_p": Field("number", low=0, high=1),
    "max_tokens": Field("int", low=0),
    "min_tokens": Field("int", low=0),
    "stream": Field("bool", nullable=False),
    "random_seed": Field("int", low=0),
    "metadata": Field("object"),
    "tools": Field("list"),
    "presence_penalty": Field("number", low=-2, high=2),
    "frequency_penalty": Field("number", low=-2, high=2),
    "repetition_penalty": Field("number"),
    "n": Field("int", low=1),
    "parallel_tool_calls": Field("bool", nullable=False),
    "reasoning_effort": Field("str"),
    "prompt_mode": Field("str", choices=("reasoning",)),
    "guardrails": Field("list"),
    "prompt_cache_key": Field("str"),
    "service_tier": Field("str", choices=("auto", "standard_only")),
    "safe_prompt": Field("bool", nullable=False),
    "top_k": Field("int"),
    "response_format": Field("object"),
    "prediction": Field("object"),
}
_OPEN = (
    "stop",
    "tool_choice",
    "logprobs",
    "top_logprobs",
    "prompt_logprobs",
    "top_prompt_logprobs",
)
FIELDS: Fields = {
    "model": Field("str", required=True, nullable=False),
    "messages": Field("list", required=True, nullable=False),
    **_OPTIONAL,
    **{name: Field() for name in _OPEN},
}
_LIBRARY_TOOL = {
    "type": Field("str", required=True),
    "library_ids": Field("list", required=True, nullable=False),
    "tool_configuration": Field("object"),
}


@attr.s(auto_attribs=True, slots=True, frozen=True)
class ChatRequest:
    """What a chat request asks for."""

    model: str
    question: str = attr.ib(repr=False)
    words: str = attr.ib(repr=False)
    library_ids: Optional[List[str]]
    stream: bool
    max_tokens: Optional[int]
    choices: int


def read_chat_request(body: Any, accept_stream_options: bool) -> ChatRequest:
    """The request, checked as the real endpoint checks it."""
    fields = {**FIELDS, "stream_options": Field("object")} if accept_stream_options else FIELDS
    issues = issues_of(body, fields, forbid_extra=True) or _message_issues(body["messages"])
    if issues:
        raise invalid_chat(_within_stream_options(issues))
    texts = [text_of_content(message.get("content")) for message in body["messages"]]
    return ChatRequest(
        model=body["model"],
        question=_question(body["messages"]),
        words="\n".join(texts),
        library_ids=library_ids_of(body.get("tools") or []),
        stream=body.get("stream", False),
        max_tokens=body.get("max_tokens"),
        choices=body.get("n") or 1,
    )


def text_of_content(content: Any) -> str:
    """The text in a message's content: a string, or the text chunks of a list."""
    if isinstance(content, str):
        return content
    chunks = content if isinstance(content, list) else []
    texts = [chunk.get("text") for chunk in chunks if isinstance(chunk, dict)]
    return " ".join(text for text in texts if isinstance(text, str))


def library_ids_of(tools: Sequence[Any]) -> Optional[List[str]]:
    """The libraries that the tools name, each once; None if no tool looks into libraries."""
    found = None
    for number, tool in enumerate(tools):
        kind = _tool_type(tool, number)
        if kind == "document_library":
            found = (found or []) + _libraries(tool, ("body", "tools", number))
        elif kind == "function":
            _check_function(tool, number)
    return None if found is None else list(dict.fromkeys(found))


def _tool_type(tool: Any, number: int) -> str:
    kind = tool.get("type", "function") if isinstance(tool, dict) else None
    if kind in _ELSEWHERE:
        raise chat_problem(400, f"Tool {kind} is not supported on this endpoint")
    if kind not in _TOOLS:
        words = "Input tag does not match any of the expected tags"
        raise invalid_chat([issue(["body", "tools", number], "union_tag_invalid", words, tool)])
    return str(kind)


def _check_function(tool: Dict[str, Any], number: int) -> None:
    issues = issues_of_tool(tool, ("body", "tools", number))
    if issues:
        raise invalid_chat(issues)


def _libraries(tool: Dict[str, Any], place: Any) -> List[str]:
    issues = issues_of(tool, _LIBRARY_TOOL, place, forbid_extra=True)
    ids = tool.get("library_ids")
    if not issues and not ids:
        words = "List should have at least 1 item after validation, not 0"
        issues.append(issue([*place, "library_ids"], "too_short", words, ids))
    for number, library_id in enumerate(ids if isinstance(ids, list) else []):
        issues += Field("uuid", nullable=False).issues((*place, "library_ids", number), library_id)
    if issues:
        raise invalid_chat(issues)
    return [library_id.lower() for library_id in ids or []]


def _message_issues(messages: List[Any]) -> List[Issue]:
    issues = [] if messages else [issue(["body", "messages"], "too_short", "List is empty", [])]
    for number, message in enumerate(messages):
        role = message.get("role", "user") if isinstance(message, dict) else None
        if role not in _ROLES:
            words = "Input tag does not match any of the expected tags"
            issues.append(issue(["body", "messages", number], "union_tag_invalid", words, message))
    return issues


def _within_stream_options(issues: List[Issue]) -> List[Issue]:
    # The real server names the option inside, not the object.
    for entry in issues:
        inner = entry.get("input")
        if entry["loc"] == ["body", "stream_options"] and isinstance(inner, dict) and inner:
            name, value = next(iter(inner.items()))
            entry["loc"], entry["input"] = ["body", "stream_options", name], value
    return issues


def _question(messages: List[Dict[str, Any]]) -> str:
    asked = [message for message in messages if message.get("role", "user") == "user"]
    return text_of_content(asked[-1].get("content")) if asked else ""


def unknown_library(library_id: str) -> ApiProblem:
    """404 for a library that a tool names."""
    return chat_problem(404, f"Library {library_id} not found")
