"""What the official SDK's models hold, and what ours do: the same values in both."""

from __future__ import annotations

import contextlib
import datetime
import enum
from typing import Any, Callable, Dict, List, Optional, Tuple
from urllib.parse import urlsplit

import attr
from mistralai.client.types.basemodel import Unset
from pydantic import BaseModel

from mistral_knowledge import Answer, AnswerStream, Entry, File, SignedUrl
from mistral_knowledge.resources._listing import Listing

# What no reply has: it is ours.
_OURS = {"raw", "created"}
# What some of the official models have: they have one for each kind of entry, for instance.
_NOT_IN_ALL = {"agent_id", "agent_version", "deleted", "model", "name", "role"}
# What the official models call otherwise.
_RENAMED = {(File, "size"): "size_bytes"}


def fields_of(ours: Any) -> Dict[str, Any]:
    """The values of one of our models."""
    names = [one.name for one in attr.fields(type(ours)) if one.name not in _OURS]
    words = {"text": ours.text} if isinstance(ours, Entry) else {}
    return {**{name: getattr(ours, name) for name in names}, **words}


def fields_like(ours: Any, theirs: Any) -> Dict[str, Any]:
    """The same fields of an official model, in our types."""
    return {
        name: _value(_field(type(ours), name, theirs), value)
        for name, value in fields_of(ours).items()
    }


def _field(kind: Any, name: str, theirs: Any) -> Any:
    if (kind, name) == (Entry, "text"):
        content = getattr(theirs, "content", "")
        return "".join(map(_text, content if isinstance(content, list) else [content]))
    default = [None] if name in _NOT_IN_ALL else []
    return getattr(theirs, _RENAMED.get((kind, name), name), *default)


def _value(theirs: Any, ours: Any) -> Any:
    if isinstance(theirs, Unset):
        return None
    if isinstance(theirs, enum.Enum):
        return theirs.value
    if isinstance(theirs, BaseModel):
        return theirs.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(ours, datetime.datetime) and isinstance(theirs, int):
        return datetime.datetime.fromtimestamp(theirs, datetime.timezone.utc)
    return theirs


def plain(reply: Any) -> Any:
    """What a call of either SDK gave, read to its end, in values that can be compared."""
    if isinstance(reply, AnswerStream):
        return plain(reply.get_answer())
    if isinstance(reply, Answer):
        return _our_answer(reply)
    if isinstance(reply, SignedUrl):
        return _path(reply.url)
    if isinstance(reply, Listing):
        return list(reply)
    if isinstance(reply, list) and reply and hasattr(reply[0], "data"):
        return _their_answer(contextlib.nullcontext(reply))
    if hasattr(reply, "choices") or hasattr(reply, "outputs") or hasattr(reply, "response"):
        return _their_answer(reply)
    return reply.read() if hasattr(reply, "read") else reply


def same(ours: Any, theirs: Any) -> None:
    """Fails unless a call of ours gave what the official one gave; nothing, where nothing is told.

    Both as `plain` gives them.
    """
    if isinstance(ours, list):
        others = next((getattr(theirs, name) for name in _LISTS if hasattr(theirs, name)), theirs)
        assert [fields_of(one) for one in ours] == [
            fields_like(*pair) for pair in zip(ours, others)
        ]
        assert len(ours) == len(others)
    elif attr.has(type(ours)):
        assert fields_of(ours) == fields_like(ours, theirs)
    elif isinstance(ours, str):
        assert ours == _words(theirs)
    elif ours is not None:
        assert ours == theirs


_LISTS = ("data", "entries", "messages")


def _words(theirs: Any) -> str:
    """What a reply that is only a text holds; of a URL what both can have in common."""
    text = theirs if isinstance(theirs, str) else getattr(theirs, "text", None)
    text = theirs.url if text is None else text
    return _path(text) if text.startswith("http") else str(text)


def _path(url: Optional[str]) -> str:
    """A URL without its port and its signature."""
    return urlsplit(url or "").path


def _given(value: Any) -> Any:
    return None if isinstance(value, Unset) else value


def _our_answer(answer: Answer) -> Dict[str, Any]:
    return {
        "text": answer.text,
        "sources": [(one.title, _path(one.url)) for one in answer.citations],
        "tokens": _tokens(answer.usage),
    }


def _their_answer(reply: Any) -> Dict[str, Any]:
    """The same of an official chat completion, conversation, or stream of either."""
    if hasattr(reply, "choices"):
        if not reply.choices or not reply.choices[0].message:
            raise NotRead("no message")
        return _told([reply.choices[0].message.content], reply.usage)
    if hasattr(reply, "outputs"):
        for one in reply.outputs:
            _text(one)
        spoken = [one for one in reply.outputs if type(one).__name__ == "MessageOutputEntry"]
        return _told([one.content for one in spoken], reply.usage)
    contents: List[Any] = []
    usage = None
    with reply as events:
        for event in events:
            usage = getattr(event.data, "usage", None) or usage
            contents += _deltas(event.data)
    return _told(contents, usage)


def _deltas(data: Any) -> List[Any]:
    if type(data).__name__.startswith("Unknown"):
        raise NotRead(type(data).__name__)
    if hasattr(data, "choices"):
        return [choice.delta.content for choice in data.choices]
    return [data.content] if data.type == "message.output.delta" else []


def _told(contents: List[Any], usage: Any) -> Dict[str, Any]:
    listed = [content if isinstance(content, list) else [content] for content in contents]
    chunks = [chunk for several in listed for chunk in several]
    kinds = [type(one).__name__ for one in chunks]
    sources = [_SOURCES[kind](one) for one, kind in zip(chunks, kinds) if kind in _SOURCES]
    return {
        "text": "".join(map(_text, chunks)),
        "sources": [(_given(title) or None, _path(_given(url))) for title, url in sources],
        "tokens": _tokens(usage),
    }


_SOURCES: Dict[str, Callable[[Any], Tuple[str, str]]] = {
    "DocumentURLChunk": lambda chunk: (chunk.document_name, chunk.document_url),
    "ToolReferenceChunk": lambda chunk: (chunk.title, chunk.url),
}


class NotRead(Exception):
    """The official SDK took a part of a reply for something that it does not know."""


def _text(chunk: Any) -> str:
    if type(chunk).__name__.startswith("Unknown"):
        raise NotRead(type(chunk).__name__)
    return chunk if isinstance(chunk, str) else getattr(chunk, "text", None) or ""


def _tokens(usage: Any) -> Optional[List[int]]:
    return usage and [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens]
