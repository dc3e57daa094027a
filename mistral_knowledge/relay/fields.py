"""What each field of R2R's request bodies becomes here; docs/relay.md shows the same table.

A field with no counterpart is refused where leaving it out would change what may be read or
what comes back, and else ignored, with a word to the caller.
"""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Tuple

import attr

from .problems import invalid

USED, IGNORED, REFUSED = "used", "ignored", "refused"
# R2R's client sends its whole form: what only says "not set" is nothing to speak of.
_NOTHING: Tuple[Any, ...] = (None, False, "", [], {})


@attr.s(auto_attribs=True, frozen=True, slots=True)
class Field:
    """One field: `fate` is used, ignored or refused; `words` say what becomes of it, or why not."""

    fate: str
    words: str
    quiet: Any = None


_TITLES = Field(IGNORED, "titles are in the citations", quiet=True)
_SEARCH = Field(IGNORED, "the server decides how it searches")
_GENERATION = Field(USED, "the table below")

RAG: Dict[str, Field] = {
    "query": Field(USED, "the question"),
    "rag_generation_config": _GENERATION,
    "search_settings": Field(USED, "the last table"),
    "task_prompt": Field(USED, "instructions to the model"),
    "include_web_search": Field(USED, "`web_search=True`"),
    "include_title_if_available": _TITLES,
    "search_mode": Field(IGNORED, "the server decides how it searches", quiet="custom"),
}
AGENT: Dict[str, Field] = {
    "message": Field(USED, "the question: its content; only role `user`"),
    "query": Field(USED, "the question, where there is no `message`"),
    "mode": Field(USED, "`mode`: rag or research"),
    "conversation_id": Field(USED, "the conversation to continue, if the relay began it"),
    "rag_generation_config": Field(USED, "in mode rag, the table below; else ignored"),
    "research_generation_config": Field(USED, "in mode research, the table below; else ignored"),
    "generation_config": Field(USED, "the table below, over the others, in any mode"),
    "search_settings": Field(USED, "the last table"),
    "task_prompt": Field(USED, "instructions to the model"),
    "rag_tools": Field(USED, "whether `web_search` is in it; the libraries are there anyway"),
    "research_tools": Field(
        USED, "in mode research: whether `python_executor`, the code interpreter, is in it"
    ),
    "tools": Field(USED, "the older name of `rag_tools`"),
    "include_title_if_available": _TITLES,
    "use_system_context": Field(IGNORED, "Mistral has its own context", quiet=True),
    "search_mode": Field(IGNORED, "the server decides how it searches", quiet="custom"),
    "max_tool_context_length": Field(IGNORED, "the server decides how much a tool may say"),
    "needs_initial_conversation_name": Field(IGNORED, "conversations have no names here"),
    "messages": Field(REFUSED, "send one `message`, and `conversation_id` to go on"),
}
GENERATION: Dict[str, Field] = {
    "stream": Field(USED, "whether the answer is streamed"),
    "model": Field(USED, "`model`; one of another provider's is ignored"),
    "temperature": Field(USED, "`temperature`"),
    "top_p": Field(USED, "`top_p`"),
    "max_tokens_to_sample": Field(USED, "`max_tokens`"),
    "response_format": Field(USED, "`response_format`"),
    "reasoning_effort": Field(USED, "`reasoning_effort`"),
    "extended_thinking": Field(USED, '`reasoning_effort="high"`'),
    "thinking_budget": Field(IGNORED, "Mistral takes an effort, not a budget"),
    "functions": Field(REFUSED, "the relay cannot run functions"),
    "tools": Field(REFUSED, "the relay cannot run functions"),
    "api_base": Field(REFUSED, "the relay asks Mistral and nobody else"),
    "add_generation_kwargs": Field(REFUSED, "name the options that are in this table"),
}
SEARCH: Dict[str, Field] = {
    "filters": Field(USED, "`collection_ids` chooses among the relay's libraries; others refused"),
    "limit": Field(IGNORED, "the server decides how much it retrieves"),
    "offset": _SEARCH,
    "use_hybrid_search": _SEARCH,
    "use_semantic_search": _SEARCH,
    "use_fulltext_search": _SEARCH,
    "search_strategy": _SEARCH,
    "hybrid_settings": _SEARCH,
    "chunk_settings": _SEARCH,
    "graph_settings": _SEARCH,
    "num_sub_queries": _SEARCH,
    "include_scores": Field(IGNORED, "Mistral gives no scores"),
    "include_metadatas": Field(IGNORED, "what is known of a source is always there"),
}
PAGE: Dict[str, Field] = {
    "query": Field(USED, "the question"),
    "stream": Field(USED, "whether the answer is streamed; true if left out"),
    "conversation": Field(USED, "true asks in a conversation: thinking and tool calls show"),
    "conversation_id": Field(USED, "the conversation to continue, from `final_answer`"),
    "web_search": Field(USED, "`web_search=True`"),
}


def used(
    body: Mapping[str, Any], table: Mapping[str, Field], ignored: List[str], place: str = ""
) -> Dict[str, Any]:
    """The fields of `body` that are used and set; notes the ignored ones, refuses the refused."""
    found = {}
    for name, value in body.items():
        field = table.get(name, Field(IGNORED, "no such field"))
        if _is_nothing(value, field.quiet):
            continue
        if field.fate == REFUSED:
            raise invalid(f"{place}{name}: {field.words}")
        if field.fate == IGNORED:
            ignored.append(f"{place}{name}: {field.words}")
        else:
            found[name] = value
    return found


def _is_nothing(value: Any, quiet: Any) -> bool:
    # Not `in`: 0 would be taken for False, and a temperature of 0 is one.
    same = any(value is one or (type(value) is type(one) and value == one) for one in _NOTHING)
    return same or (quiet is not None and value == quiet)
