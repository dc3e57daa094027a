"""Conversations: what their events mean (`POST /v1/conversations` and what continues one).

https://docs.mistral.ai/api/#tag/beta.conversations. The answer is whole once
`conversation.response.done` is in; `[DONE]` is no end mark here. Pure.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional

from .._error_words import is_error_payload
from .._json import json_text
from ..errors import UnexpectedResponseError
from ..models.answers import ToolCall
from .assembly import Assembly, Cited
from .content import KnownSources, read_content, tool_source
from .events import Event, UnknownEvent
from .reader import Payload, fail
from .tool_calls import arguments_text, usable_id

_LISTS_OF_SOURCES = ("results", "sources", "references", "documents", "search_results")


class ConversationReader:
    """Reads conversation events; see `reader.Reader`.

    calls: the function calls of this reply that are for the caller to answer or to confirm
    """

    def __init__(
        self, request_id: Optional[str] = None, assembly: Optional[Assembly] = None
    ) -> None:
        self.assembly = assembly or Assembly(request_id)
        self.complete = False
        self.ended = False
        self.calls: List[ToolCall] = []
        self._request_id = request_id
        self._known: KnownSources = {}
        self._running: Dict[str, ToolCall] = {}
        self._asked: Dict[str, ToolCall] = {}
        self._message_id: Optional[str] = None

    def read(self, name: str, payload: Dict[str, Any]) -> List[Event]:
        """The events of one payload; where its name and its type differ, the type counts."""
        kind = payload.get("type")
        kind = kind if kind and isinstance(kind, str) else name
        if kind == "message.output.delta":
            return self._flushed(kind) + self._message(payload)
        if name == "error" or payload.get("error") or _is_untyped_error(payload):
            fail(payload, self._request_id, self.assembly)
        read = _EVENTS.get(kind)
        if read is None:
            return [*self._flushed(kind), UnknownEvent(str(kind), payload)]
        return self._flushed(kind) + read(self, payload)

    def done(self) -> List[Event]:
        """`[DONE]` ends the stream, but does not make the answer whole."""
        self.ended = True
        return self._flushed("")

    def unfold(self, body: Dict[str, Any]) -> Iterator[Payload]:
        """The events that would have streamed a one-shot `body`."""
        if is_error_payload(body):
            fail(body, self._request_id, self.assembly)
        outputs = body.get("outputs")
        if not isinstance(outputs, list):
            raise UnexpectedResponseError("the reply is no conversation: it has no outputs")
        around = {key: body[key] for key in body if key not in ("outputs", "usage")}
        yield "message", {**around, "type": "conversation.response.started"}
        for index, entry in enumerate(outputs):
            yield from _unfold_entry(index, entry)
        yield "message", {"type": "conversation.response.done", "usage": body.get("usage")}

    def _message(self, payload: Dict[str, Any]) -> List[Event]:
        if payload.get("id") != self._message_id:
            self._message_id = payload.get("id")
            fields = {key: payload.get(key) for key in ("id", "model", "agent_id")}
            self.assembly.envelope({key: value for key, value in fields.items() if value})
        return read_content(payload.get("content"), self.assembly, self._known)

    def _started(self, payload: Dict[str, Any]) -> List[Event]:
        self.assembly.envelope({key: payload[key] for key in payload if key != "type"})
        return []

    def _ended(self, payload: Dict[str, Any]) -> List[Event]:
        usage = payload.get("usage")
        if isinstance(usage, dict):
            self.assembly.usage(usage)
        self.complete = self.ended = True
        return []

    def _failed(self, payload: Dict[str, Any]) -> List[Event]:
        fail(payload, self._request_id, self.assembly)

    def _tool_started(self, payload: Dict[str, Any]) -> List[Event]:
        call = self._running_call(payload)
        call.arguments += arguments_text(payload.get("arguments"))
        return []

    def _tool_done(self, payload: Dict[str, Any]) -> List[Event]:
        call = self._running_call(payload)
        del self._running[_key(payload)]
        info = payload.get("info")
        called = self.assembly.tool_call(call)
        found = self.assembly.found(_found(call.name, info))
        content = json_text(info) if info else ""
        result = self.assembly.tool_result(call.tool_call_id, content, call.name)
        return [called, result, *found]

    def _running_call(self, payload: Dict[str, Any]) -> ToolCall:
        fresh = ToolCall(payload.get("id"), str(payload.get("name") or ""), by_server=True)
        return self._running.setdefault(_key(payload), fresh)

    def _function_call(self, payload: Dict[str, Any]) -> List[Event]:
        name = payload.get("name")
        call = self._asked.setdefault(_key(payload), ToolCall(None, ""))
        call.tool_call_id = call.tool_call_id or usable_id(payload.get("tool_call_id"))
        if isinstance(name, str) and name != call.name:
            call.name += name
        call.arguments += arguments_text(payload.get("arguments"))
        call.confirmation = payload.get("confirmation_status") or call.confirmation
        return []

    def _flushed(self, kind: str) -> List[Event]:
        """Calls are complete once something else than their own kind of event comes."""
        events: List[Event] = []
        if self._running and not kind.startswith("tool.execution."):
            events += [self.assembly.tool_call(call) for call in self._running.values()]
            self._running = {}
        if self._asked and kind != "function.call.delta":
            self.calls += self._asked.values()
            events += [self.assembly.tool_call(call) for call in self._asked.values()]
            self._asked = {}
        return events


_EVENTS: Dict[str, Callable[[ConversationReader, Dict[str, Any]], List[Event]]] = {
    "conversation.response.started": ConversationReader._started,
    "conversation.response.done": ConversationReader._ended,
    "conversation.response.error": ConversationReader._failed,
    "tool.execution.started": ConversationReader._tool_started,
    "tool.execution.delta": ConversationReader._tool_started,
    "tool.execution.done": ConversationReader._tool_done,
    "function.call.delta": ConversationReader._function_call,
}


def _is_untyped_error(payload: Mapping[str, Any]) -> bool:
    return payload.get("object") == "error" or ("type" not in payload and is_error_payload(payload))


def _key(payload: Mapping[str, Any]) -> str:
    """What tells calls apart: the entry's id, else the call's, else their place."""
    for name in ("id", "tool_call_id", "output_index"):
        value = payload.get(name)
        if value not in (None, "", "null"):
            return f"{name}:{value}"
    return ""


def _found(tool: str, info: Any) -> List[Cited]:
    """The sources in a tool's `info`, wherever it lists things with a title or URL."""
    if not isinstance(info, Mapping):
        return []
    lists = [info.get(name) for name in _LISTS_OF_SOURCES]
    items = [item for one in lists if isinstance(one, list) for item in one]
    sources = [tool_source(tool, item) for item in items if isinstance(item, Mapping)]
    return [source for source in sources if source.resolved]


def _unfold_entry(index: int, entry: Any) -> Iterator[Payload]:
    fields = entry if isinstance(entry, dict) else {"value": entry}
    kind = fields.get("type") or ("message.output" if "content" in fields else "untyped")
    rest = {**fields, "output_index": index}
    if kind == "message.output":
        yield from _unfold_message(rest)
    elif kind == "tool.execution":
        yield "message", {**rest, "type": "tool.execution.started"}
        yield "message", {**rest, "type": "tool.execution.done"}
    elif kind == "function.call":
        yield "message", {**rest, "type": "function.call.delta"}
    else:
        yield "message", {**fields, "type": kind}


def _unfold_message(fields: Dict[str, Any]) -> Iterator[Payload]:
    content = fields.get("content")
    for number, part in enumerate(content if isinstance(content, list) else [content]):
        delta = {**fields, "type": "message.output.delta", "content_index": number}
        yield "message", {**delta, "content": part}
