"""What `content` means: null, text, one chunk or a list of chunks, in every wire form alike.

One odd chunk never spoils its neighbours: what cannot be read becomes an UnknownEvent. Pure.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional

from .._json import json_text, read_json
from .._secrets import redact_url
from .assembly import Assembly, Cited
from .events import Event

KnownSources = Dict[str, Mapping[str, Any]]


def read_content(content: Any, assembly: Assembly, known: KnownSources) -> List[Event]:
    """The events of a `content` value.

    known: what earlier tool results said about sources, by id, for `reference` chunks.
    """
    if isinstance(content, str):
        return [assembly.text(content)] if content else []
    if content is None:
        return []
    events: List[Event] = []
    for chunk in content if isinstance(content, list) else [content]:
        events += _read_chunk(chunk, assembly, known)
    return events


def _read_chunk(chunk: Any, assembly: Assembly, known: KnownSources) -> List[Event]:
    if isinstance(chunk, str):
        return [assembly.text(chunk)] if chunk else []
    if not isinstance(chunk, dict):
        return [assembly.unknown_chunk(type(chunk).__name__, chunk)]
    kind = chunk.get("type") or _kind_by_fields(chunk)
    read = _CHUNKS.get(kind) if isinstance(kind, str) else None
    events = read(chunk, assembly, known) if read else None
    return [assembly.unknown_chunk(str(kind), chunk)] if events is None else events


def _kind_by_fields(chunk: Mapping[str, Any]) -> str:
    """What a chunk without a type is, as far as its fields tell."""
    fitting = (kind for kind, names in _FIELDS.items() if all(name in chunk for name in names))
    return next(fitting, "untyped")


def _text(chunk: Dict[str, Any], assembly: Assembly, _: KnownSources) -> Optional[List[Event]]:
    text = chunk.get("text")
    if text is not None and not isinstance(text, str):
        return None
    return [assembly.text(text)] if text else []


def _thinking(chunk: Dict[str, Any], assembly: Assembly, _: KnownSources) -> List[Event]:
    return [assembly.thinking(thinking_text(chunk.get("thinking")), chunk)]


def _document_url(
    chunk: Dict[str, Any], assembly: Assembly, _: KnownSources
) -> Optional[List[Event]]:
    url, title = _string(chunk.get("document_url")), _string(chunk.get("document_name"))
    if url is None and title is None:
        return None
    # A new signature in the query does not make it another document.
    key = ("document_url", redact_url(url or ""), title)
    source = Cited(key, "document", title=title, url=url)
    return assembly.cite([source], _string(chunk.get("text")) or "", chunk, "document_url")


def _reference(
    chunk: Dict[str, Any], assembly: Assembly, known: KnownSources
) -> Optional[List[Event]]:
    ids = chunk.get("reference_ids")
    ids = ids if isinstance(ids, list) else [ids]
    if not all(isinstance(one, (str, int)) for one in ids):
        return None
    sources = [_referenced(one, known.get(str(one))) for one in ids]
    return assembly.cite(sources, _string(chunk.get("text")) or "", chunk, "reference")


def _referenced(source_id: Any, info: Optional[Mapping[str, Any]]) -> Cited:
    facts = info or {}
    return Cited(
        key=("reference", str(source_id)),
        source_type="document",
        source_id=source_id,
        document_id=_string(facts.get("document_id")),
        title=_string(facts.get("title")) or _string(facts.get("name")),
        url=_string(facts.get("url")),
        resolved=info is not None,
    )


def _tool_reference(
    chunk: Dict[str, Any], assembly: Assembly, _: KnownSources
) -> Optional[List[Event]]:
    source = tool_source(_string(chunk.get("tool")) or "", chunk)
    return assembly.cite([source], _string(chunk.get("text")) or "", chunk, "tool_reference")


def tool_source(tool: str, facts: Mapping[str, Any]) -> Cited:
    """What a tool found, from the facts it gives about it; a URL is enough to tell it apart."""
    title, url = _string(facts.get("title")), _string(facts.get("url"))
    return Cited(
        key=("tool_reference", tool, url or title),
        source_type=_tool_source_type(tool),
        document_id=_string(facts.get("document_id")),
        title=title,
        url=url,
        resolved=bool(title or url),
    )


def _tool_source_type(tool: str) -> str:
    if tool.startswith("web_search"):
        return "web"
    return "document" if tool == "document_library" else "tool"


_CHUNKS: Dict[str, Callable[[Dict[str, Any], Assembly, KnownSources], Optional[List[Event]]]] = {
    "text": _text,
    "thinking": _thinking,
    "document_url": _document_url,
    "reference": _reference,
    "tool_reference": _tool_reference,
}


# What has to be in a chunk of each kind; a reference may have a text beside it.
_FIELDS = {
    "reference": ("reference_ids",),
    "tool_reference": ("tool", "title"),
    "document_url": ("document_url",),
    "thinking": ("thinking",),
    "text": ("text",),
}


def thinking_text(value: Any) -> str:
    """The words in a `thinking` value: text, or a list of text chunks and other parts."""
    return "".join(map(_part_text, value if isinstance(value, list) else [value]))


def _part_text(part: Any) -> str:
    words = part.get("text") if isinstance(part, dict) else part
    return words if isinstance(words, str) else ""


def tool_text(content: Any) -> str:
    """What a tool gave, as text: chunks are joined, other values are JSON."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(_is_text_chunk(chunk) for chunk in content):
        return "".join(chunk["text"] for chunk in content)
    return "" if content is None else json_text(content)


def sources_in(text: str) -> KnownSources:
    """What a tool result says about sources: a JSON object by id, or a list of objects with ids."""
    try:
        payload = read_json(text)
    except ValueError:
        return {}
    if isinstance(payload, dict):
        return {key: value for key, value in payload.items() if isinstance(value, dict)}
    items = payload if isinstance(payload, list) else []
    return {str(item["id"]): item for item in items if isinstance(item, dict) and "id" in item}


def _is_text_chunk(chunk: Any) -> bool:
    return isinstance(chunk, dict) and isinstance(chunk.get("text"), str)


def _string(value: Any) -> Optional[str]:
    return value if isinstance(value, str) and value else None
