"""What R2R's own client needs in an event beyond `event.data`: UUIDs, required keys, payloads.

Ids of Mistral's that are no UUID become one, the same each time; what was sent is kept beside it.
"""

from __future__ import annotations

import uuid
from typing import Any, Dict, List, Optional, Tuple, Union

from .._secrets import redact_url
from ..answers.events import (
    CitationEvent,
    Event,
    FinalAnswerEvent,
    SearchResultsEvent,
    ToolCallEvent,
    ToolResultEvent,
    UnknownEvent,
)
from ..models.answers import Answer, Citation, Source

Cited = Union[Citation, Source]

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "mistral_knowledge.relay")


class Shapes:
    """Shapes the events of one stream."""

    def __init__(self) -> None:
        self._nameless_calls = 0

    def of(self, event: Event) -> Tuple[str, Dict[str, Any]]:
        """(name, data) of an event as R2R would send it."""
        data = dict(event.data) if isinstance(event.data, dict) else {}
        if isinstance(event, SearchResultsEvent):
            data["data"] = {**data["data"], **search_results(event.results)}
        elif isinstance(event, CitationEvent):
            data.update(_citation(event.citation))
            data["payload"] = payload(event.citation) if event.is_new else None
        elif isinstance(event, (ToolCallEvent, ToolResultEvent)):
            data["tool_call_id"] = self._call_id(event)
        elif isinstance(event, FinalAnswerEvent):
            data.update(final(event.answer))
        elif isinstance(event, UnknownEvent):
            # Under its own name it could pass for an event that readers do know.
            data = {"name": event.name, "payload": event.payload}
        return event.event, data

    def _call_id(self, event: Union[ToolCallEvent, ToolResultEvent]) -> str:
        if event.tool_call_id is not None:
            return event.tool_call_id
        if isinstance(event, ToolCallEvent):
            self._nameless_calls += 1
        return f"call_{self._nameless_calls}"


def search_results(sources: List[Source]) -> Dict[str, Any]:
    """R2R's lists of what was found; those that are not named here are empty."""
    web = [source for source in sources if source.source_type == "web"]
    chunks = [payload(source) for source in sources if source.source_type != "web"]
    pages = [{**payload(source), "position": place} for place, source in enumerate(web, 1)]
    return {
        "chunk_search_results": chunks,
        "web_page_search_results": pages,
        "web_search_results": [],
    }


def payload(source: Cited) -> Dict[str, Any]:
    """A source as R2R describes one: a page of the web, or else a chunk of a document."""
    told = {
        "title": source.title,
        "url": source.url,
        "source_id": source.source_id,
        "document_id": source.document_id,
        "source_type": source.source_type,
        "resolved": source.resolved,
    }
    shared = {"id": _source_uuid(source), "title": source.title, "url": source.url}
    if source.source_type == "web":
        page = {"link": source.url, "snippet": None, "position": source.index, "type": "organic"}
        return {**shared, **page, "metadata": told}
    chunk: Dict[str, Any] = {"owner_id": None, "collection_ids": [], "score": None, "text": ""}
    return {**shared, "document_id": _document_uuid(source), **chunk, "metadata": told}


def final(answer: Answer) -> Dict[str, Any]:
    """What the final answer says beyond `event.data`, and its citations."""
    usage = answer.usage.log_fields() if answer.usage else None
    return {
        "citations": grouped(answer),
        "conversation_id": answer.conversation_id,
        "metadata": {
            "model": answer.model,
            "finish_reason": answer.finish_reason,
            "truncated": answer.truncated,
            "usage": usage,
            "request_id": answer.request_id,
        },
    }


def grouped(answer: Answer) -> List[Dict[str, Any]]:
    """The citations of an answer, one for each source, with all places where it is cited."""
    return [
        {
            "id": source.id,
            "object": "citation",
            "index": source.index,
            **_citation(source),
            "spans": [{"start": start, "end": end} for start, end in source.spans],
            "payload": payload(source),
        }
        for source in answer.sources
    ]


def _citation(source: Cited) -> Dict[str, Any]:
    return {
        "source_type": _R2R_TYPES.get(source.source_type, source.source_type),
        "source_id": _source_uuid(source),
        "document_id": None if source.source_type == "web" else _document_uuid(source),
        "source_title": source.title,
        "resolved": source.resolved,
    }


_R2R_TYPES = {"document": "chunk", "file": "chunk"}


def _source_uuid(source: Cited) -> str:
    return _uuid("source", source.id if source.source_id is None else str(source.source_id))


def _document_uuid(source: Cited) -> str:
    # The query of a signed link is another one each time.
    place = redact_url(source.url) if source.url else None
    return _uuid("document", source.document_id or place or source.title or source.id)


def _uuid(kind: str, name: Optional[str]) -> str:
    try:
        return str(uuid.UUID(name))
    except ValueError:
        # Only what UTF-8 can carry can be hashed.
        plain = f"{kind} {name}".encode("utf-8", "replace").decode("utf-8")
        return str(uuid.uuid5(_NAMESPACE, plain))
