"""R2R's shapes: what `event.data` is, made when it is asked for."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

from ..models.answers import Answer, Citation, Source

_R2R_TYPES = {"document": "chunk", "file": "chunk", "web": "web", "tool": "tool"}


class Data(Dict[str, Any]):
    """A JSON object whose keys are attributes too, nested ones included.

    >>> Data({"delta": {"content": [{"type": "text"}]}}).delta.content[0].type
    'text'
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return attributed(self[name])
        except KeyError:
            raise AttributeError(name) from None

    def __reduce__(self) -> Any:
        return Data, (dict(self),)


def attributed(value: Any) -> Any:
    """`value` with its objects as `Data`, however deep."""
    if isinstance(value, dict):
        return value if isinstance(value, Data) else Data(value)
    return [attributed(item) for item in value] if isinstance(value, list) else value


def text_delta(prefix: str, kind: str, offset: int, text: str) -> Data:
    """The data of a `message` or `thinking` event; `offset` makes its id its own."""
    payload = {"value": text, "annotations": []}
    content = [{"type": "text", "payload": payload}]
    return Data(
        id=f"{prefix}_{offset:08x}", object=f"agent.{kind}.delta", delta={"content": content}
    )


def citation_data(citation: Citation, is_new: bool) -> Data:
    """The data of a `citation` event, with the documented and the live server's keys."""
    return Data(
        _of_source(citation),
        raw_index=citation.raw_index,
        start_index=citation.start_index,
        end_index=citation.end_index,
        is_new=is_new,
        span={"start": citation.start_index, "end": citation.end_index},
        payload=_payload(citation) if is_new else None,
    )


def source_data(source: Source) -> Dict[str, Any]:
    """One grouped citation of a `final_answer` event."""
    spans = [{"start": start, "end": end} for start, end in source.spans]
    return {**_of_source(source), "spans": spans, "payload": _payload(source)}


def final_data(answer: Answer) -> Data:
    """The data of a `final_answer` event."""
    kind = "agent" if answer.conversation_id else "rag"
    return Data(
        id="msg_final",
        object=f"{kind}.final_answer",
        generated_answer=answer.text,
        citations=[source_data(source) for source in answer.sources],
    )


def search_data(number: int, sources: List[Source]) -> Data:
    """The data of a `search_results` event; lists that R2R has and Mistral does not are empty."""
    web = [_payload(source) for source in sources if source.source_type == "web"]
    rest = [_payload(source) for source in sources if source.source_type != "web"]
    results = {
        "chunk_search_results": rest,
        "graph_search_results": [],
        "web_page_search_results": [],
        "web_search_results": web,
        "document_search_results": [],
        "generic_tool_result": [],
    }
    return Data(id=f"search_{number}", object="rag.search_results", data=results)


def tool_call_data(tool_call_id: Optional[str], name: str, arguments: str) -> Data:
    """The data of a `tool_call` event; `arguments` is JSON text."""
    return Data(tool_call_id=tool_call_id, name=name, arguments=arguments)


def tool_result_data(tool_call_id: Optional[str], content: str) -> Data:
    """The data of a `tool_result` event."""
    return Data(tool_call_id=tool_call_id, role="tool", content=content)


def _of_source(source: Any) -> Dict[str, Any]:
    return {
        "id": source.id,
        "object": "citation",
        "index": source.index,
        "source_type": _R2R_TYPES.get(source.source_type, source.source_type),
        "source_id": _source_id(source),
        "document_id": source.document_id,
        "source_title": source.title,
    }


def _payload(source: Any) -> Dict[str, Any]:
    return {
        "id": _source_id(source),
        "document_id": source.document_id,
        "title": source.title,
        "url": source.url,
    }


def _source_id(source: Any) -> str:
    return str(source.source_id) if source.source_id is not None else str(source.id)
