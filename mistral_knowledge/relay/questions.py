"""From the body of a request to what is asked of `client.rag`."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

import attr

from ..abort import AbortSignal
from ..answers.stream import AnswerStream
from ..resources._arguments import given
from ..resources.rag import Rag
from . import fields, kinds
from .conversations import Conversations
from .generation import chosen_libraries, generation
from .problems import invalid

_LIBRARY_TOOLS = ("search_file_knowledge", "search_file_descriptions", "get_file_content", "rag")
_KEPT = "{}: kept from the start of the conversation"
_NO_TOOLS = ("web_scrape", "critique")


@attr.s(auto_attribs=True, slots=True)
class Question:
    """What is asked, and how.

    agent: over the Conversations API; else over chat completions
    streamed: whether the answer is sent as it comes
    arguments: of `client.rag.stream` or `client.rag.agent.stream`
    ignored: the fields without a counterpart, and why
    """

    agent: bool
    streamed: bool
    arguments: Dict[str, Any] = attr.ib(repr=False)
    ignored: List[str]

    def ask(self, rag: Rag, signal: AbortSignal) -> AnswerStream:
        """Send it."""
        stream: Callable[..., AnswerStream] = rag.agent.stream if self.agent else rag.stream
        return stream(signal=signal, **self.arguments)


def rag_question(body: Mapping[str, Any], libraries: Sequence[str]) -> Question:
    """The question in a body of R2R's `retrieval/rag`."""
    ignored: List[str] = []
    found = fields.used(body, fields.RAG, ignored)
    config = generation(_config(found, "rag_generation_config"), "rag_generation_config", ignored)
    streamed = config.pop("stream")
    chosen = chosen_libraries(kinds.mapping(found, "search_settings"), libraries, ignored)
    question, prompt = _asked(found, "query"), kinds.text(found, "task_prompt")
    arguments: Dict[str, Any] = {"libraries": chosen, **config}
    # Web search works in conversations only, which take instructions by another way.
    if kinds.flag(found, "include_web_search"):
        arguments.update(given(question=question, web_search=True, instructions=prompt))
        return Question(True, streamed, arguments, ignored)
    if prompt is None:
        return Question(False, streamed, {"question": question, **arguments}, ignored)
    messages = [{"role": "system", "content": prompt}, {"role": "user", "content": question}]
    return Question(False, streamed, {"messages": messages, **arguments}, ignored)


def agent_question(
    body: Mapping[str, Any], libraries: Sequence[str], conversations: Conversations
) -> Question:
    """The question in a body of R2R's `retrieval/agent`, or in the form of its guide."""
    ignored: List[str] = []
    found = fields.used(body, fields.AGENT, ignored)
    mode = kinds.text(found, "mode") or "rag"
    config = _agent_generation(found, mode, ignored)
    streamed = config.pop("stream")
    chosen = chosen_libraries(kinds.mapping(found, "search_settings"), libraries, ignored)
    arguments = given(
        question=_message(found),
        mode=mode,
        libraries=chosen,
        instructions=kinds.text(found, "task_prompt"),
        **{**_tools(found, mode, ignored), **config},
    )
    conversation = kinds.text(found, "conversation_id")
    if conversation is not None:
        if kinds.mapping(found, "search_settings").get("filters"):
            raise invalid("search_settings.filters: the libraries of a conversation are kept")
        arguments = _continued(arguments, ignored)
        arguments["conversation"] = conversations.opened(conversation)
    return Question(True, streamed, arguments, ignored)


def page_question(
    body: Mapping[str, Any], libraries: Sequence[str], conversations: Conversations
) -> Question:
    """The question in a body of `/api/rag`."""
    ignored: List[str] = []
    found = fields.used(body, fields.PAGE, ignored)
    streamed = kinds.flag(body, "stream", default=True)
    arguments: Dict[str, Any] = {"question": _asked(found, "query"), "libraries": list(libraries)}
    web_search, sealed = kinds.flag(found, "web_search"), kinds.text(found, "conversation_id")
    if sealed is not None:
        if web_search:
            ignored.append(_KEPT.format("web_search"))
        kept = {"question": arguments["question"], "conversation": conversations.opened(sealed)}
        return Question(True, streamed, kept, ignored)
    if web_search:
        arguments["web_search"] = True
    return Question(web_search or kinds.flag(found, "conversation"), streamed, arguments, ignored)


def _agent_generation(found: Mapping[str, Any], mode: str, ignored: List[str]) -> Dict[str, Any]:
    # As in R2R each mode has its own: its client takes the other's `stream` for nothing.
    own, other = "rag_generation_config", "research_generation_config"
    if mode == "research":
        own, other = other, own
    if other in found:
        ignored.append(f"{other}: it is for the other mode")
    merged = {**_config(found, own), **_config(found, "generation_config")}
    return generation(merged, "generation_config", ignored)


def _tools(found: Mapping[str, Any], mode: str, ignored: List[str]) -> Dict[str, Any]:
    asked = kinds.names(found, "rag_tools")
    asked = kinds.names(found, "tools") if asked is None else asked
    research = kinds.names(found, "research_tools") if mode == "research" else None
    chosen: Dict[str, Any] = {}
    if asked is not None:
        _check_names("rag_tools", asked, ("web_search", *_LIBRARY_TOOLS), ignored)
        premium = "premium" if mode == "research" else True
        chosen["web_search"] = premium if "web_search" in asked else False
    if research is not None:
        _check_names(
            "research_tools", research, ("python_executor", "reasoning", *_LIBRARY_TOOLS), ignored
        )
        chosen["code_interpreter"] = "python_executor" in research
    return chosen


def _check_names(
    field: str, asked: Sequence[str], known: Sequence[str], ignored: List[str]
) -> None:
    for name in asked:
        if name in _NO_TOOLS:
            ignored.append(f"{field}.{name}: no counterpart")
        elif name not in known:
            raise invalid(f"{field}: there is no tool of that name")


def _continued(arguments: Dict[str, Any], ignored: List[str]) -> Dict[str, Any]:
    """What may be set anew in a conversation that goes on; the rest is as it began."""
    kept = ("web_search", "code_interpreter", "model", "instructions")
    ignored += [_KEPT.format(name) for name in kept if arguments.get(name)]
    return {name: value for name, value in arguments.items() if name not in ("libraries", *kept)}


def _config(found: Mapping[str, Any], name: str) -> Dict[str, Any]:
    return kinds.mapping(found, name)


def _message(found: Mapping[str, Any]) -> str:
    message = found.get("message")
    if message is None:
        return _asked(found, "query")
    if isinstance(message, str):
        return _asked(found, "message")
    if not isinstance(message, dict) or message.get("role", "user") != "user":
        raise invalid("message: an object with role user and a content is expected")
    return _asked(message, "content")


def _asked(body: Mapping[str, Any], name: str) -> str:
    question: Optional[str] = kinds.text(body, name)
    if question is None or not question.strip():
        raise invalid(f"{name}: there is no question in it")
    return question
