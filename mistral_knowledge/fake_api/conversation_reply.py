"""Replies of conversations: one body, or a stream of events that adds up to it."""

from __future__ import annotations

import random
from typing import Any, Callable, Dict, Iterator, List, Tuple

import attr

from .conversation_entries import Entry
from .sse import event
from .tokens import small_pieces

# The kind of an event and its fields.
Delta = Tuple[str, Dict[str, Any]]

_FRAGMENT = 12


@attr.s(auto_attribs=True, slots=True, frozen=True)
class ReplyWriter:
    """Writes a reply: as one body, or as events that add up to it."""

    conversation_id: str
    outputs: List[Entry]
    usage: Dict[str, Any]
    now: str

    def whole(self) -> Dict[str, Any]:
        """The body of a reply that is not streamed."""
        return {
            "object": "conversation.response",
            "conversation_id": self.conversation_id,
            "outputs": self.outputs,
            "usage": self.usage,
        }

    def stream(self, chance: random.Random) -> Iterator[bytes]:
        """The events of a streamed reply, one by one; nothing follows the last one."""
        yield self._event("conversation.response.started", conversation_id=self.conversation_id)
        for index, entry in enumerate(self.outputs):
            place = {"output_index": index, "id": entry["id"]}
            for kind, fields in _deltas(entry, chance):
                yield self._event(kind, **place, **fields)
        yield self._event("conversation.response.done", usage=self.usage)

    def _event(self, kind: str, **fields: Any) -> bytes:
        return event({"type": kind, "created_at": self.now, **fields}, kind)


def _deltas(entry: Entry, chance: random.Random) -> Iterator[Delta]:
    return _WRITERS[entry["type"]](entry, chance)


def _execution(entry: Entry, chance: random.Random) -> Iterator[Delta]:
    kind, first = "tool.execution.started", _speaker(entry)
    for fragment in _fragments(entry["arguments"]):
        yield kind, {"name": entry["name"], "arguments": fragment, **first}
        kind, first = "tool.execution.delta", {}
    yield "tool.execution.done", {"name": entry["name"], "info": entry["info"]}


def _call(entry: Entry, chance: random.Random) -> Iterator[Delta]:
    names = ("name", "tool_call_id", "confirmation_status")
    fields = {**_speaker(entry), **{name: entry[name] for name in names}}
    for fragment in _fragments(entry["arguments"]):
        yield "function.call.delta", {**fields, "arguments": fragment}


def _message(entry: Entry, chance: random.Random) -> Iterator[Delta]:
    content = entry["content"]
    for index, part in enumerate(content if isinstance(content, list) else [content]):
        for piece in _pieces(part, chance):
            place = {"content_index": index, "role": "assistant", **_speaker(entry)}
            yield "message.output.delta", {**place, "content": piece}


def _pieces(part: Any, chance: random.Random) -> Iterator[Any]:
    if isinstance(part, str):
        yield from small_pieces(part, chance)
    elif part["type"] == "text":
        yield from small_pieces(part["text"], chance)
    elif part["type"] == "thinking":
        yield from _thoughts(part, chance)
    else:
        yield part


def _thoughts(chunk: Dict[str, Any], chance: random.Random) -> Iterator[Dict[str, Any]]:
    pieces = list(small_pieces(chunk["thinking"][0]["text"], chance))
    for number, piece in enumerate(pieces, 1):
        words = [{"type": "text", "text": piece}]
        yield {"type": "thinking", "thinking": words, "closed": number == len(pieces)}


def _fragments(text: str) -> List[str]:
    return [text[at : at + _FRAGMENT] for at in range(0, len(text), _FRAGMENT)]


def _speaker(entry: Entry) -> Dict[str, Any]:
    return {name: entry[name] for name in ("model", "agent_id")}


_WRITERS: Dict[str, Callable[[Entry, random.Random], Iterator[Delta]]] = {
    "tool.execution": _execution,
    "function.call": _call,
    "message.output": _message,
}
