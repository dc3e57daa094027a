"""Chat completions: what their chunks mean (`POST /v1/chat/completions`).

https://docs.mistral.ai/api/#tag/chat. The answer is whole once every choice has its
finish_reason, or `[DONE]` is in. Usage may come with the last chunk or after it. Pure.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Optional, Set

from .._error_words import is_error_payload
from ..errors import UnexpectedResponseError
from .assembly import Assembly
from .content import KnownSources, read_content, sources_in, tool_text
from .events import Event, UnknownEvent
from .reader import Payload, fail
from .tool_calls import ToolCallJoiner, place

_AROUND = ("choices", "p", "usage")


class ChatReader:
    """Reads `chat.completion.chunk` payloads; see `reader.Reader`."""

    def __init__(self, request_id: Optional[str] = None) -> None:
        self.assembly = Assembly(request_id)
        self.complete = False
        self.ended = False
        self._request_id = request_id
        self._known: KnownSources = {}
        self._calls = ToolCallJoiner()
        self._open: Set[Any] = set()
        self._seen_envelope = False

    def read(self, name: str, payload: Dict[str, Any]) -> List[Event]:
        """The events of one chunk."""
        choices = payload.get("choices")
        usage = payload.get("usage")
        if name == "error" or "error" in payload or not choices:
            self._refuse_errors(name, payload)
        if usage or not choices or not self._seen_envelope:
            self._read_around(payload, usage)
        events: List[Event] = []
        for choice in choices if isinstance(choices, list) else ():
            events += self._read_choice(choice)
        return events

    def done(self) -> List[Event]:
        """`[DONE]` is an end mark, whether or not a finish_reason came."""
        self.complete = self.ended = True
        return self._flushed()

    def unfold(self, body: Dict[str, Any]) -> Iterator[Payload]:
        """The chunks that would have streamed a one-shot `body`."""
        choices = body.get("choices")
        if is_error_payload(body):
            fail(body, self._request_id, self.assembly)
        if not isinstance(choices, list) or not choices:
            raise UnexpectedResponseError("the reply is no chat completion: it has no choices")
        for number, choice in enumerate(choices):
            # The first choice of a body is the answer, whatever number a server gave it.
            yield from _unfold_choice(number, choice)
        yield "message", {**body, "choices": [], "usage": body.get("usage")}
        # A one-shot body is whole by its framing, even where a finish_reason is missing.
        yield "message", None

    def _refuse_errors(self, name: str, payload: Dict[str, Any]) -> None:
        if name == "error" or is_error_payload(payload):
            fail(payload, self._request_id, self.assembly)

    def _read_around(self, payload: Dict[str, Any], usage: Any) -> None:
        self._seen_envelope = True
        self.assembly.envelope({key: payload[key] for key in payload if key not in _AROUND})
        if isinstance(usage, dict):
            self.assembly.usage(usage)

    def _read_choice(self, choice: Any) -> List[Event]:
        if not isinstance(choice, dict):
            return [UnknownEvent("choice", choice)]
        index, delta = place(choice.get("index")), choice.get("delta")
        reason = choice.get("finish_reason")
        if index != 0:
            events: List[Event] = [UnknownEvent("choice", choice)]
        else:
            events = self._read_delta(delta) if isinstance(delta, dict) else []
        if reason:
            events += self._finish(index, reason, choice)
        elif not self.complete:
            self._open.add(index)
        return events

    def _read_delta(self, delta: Dict[str, Any]) -> List[Event]:
        content = delta.get("content")
        if delta.get("role") == "tool":
            return self._tool_result(delta, content)
        calls = delta.get("tool_calls")
        if calls:
            self._join(place(delta.get("index")), calls)
        events = read_content(content, self.assembly, self._known) if content else []
        return self._flushed() + events if events else events

    def _join(self, scope: Any, calls: Any) -> None:
        for fragment in calls if isinstance(calls, list) else [calls]:
            if isinstance(fragment, dict):
                self._calls.add(scope, fragment)

    def _tool_result(self, delta: Dict[str, Any], content: Any) -> List[Event]:
        text = tool_text(content)
        self._known.update(sources_in(text))
        result = self.assembly.tool_result(delta.get("tool_call_id"), text, delta.get("name"))
        return [*self._flushed(), result]

    def _finish(self, index: Any, reason: Any, choice: Dict[str, Any]) -> List[Event]:
        if reason == "error":
            fail(choice, self._request_id, self.assembly)
        if index == 0:
            self.assembly.finish(str(reason))
        self._open.discard(index)
        self.complete = not self._open
        return self._flushed()

    def _flushed(self) -> List[Event]:
        return [self.assembly.tool_call(call) for call in self._calls.take()]


def _unfold_choice(index: int, choice: Any) -> Iterator[Payload]:
    if not isinstance(choice, dict):
        yield "message", {"choices": [choice]}
        return
    for delta in _deltas(choice):
        yield "message", {"choices": [{"index": index, "delta": delta}]}
    rest = {key: choice[key] for key in choice if key not in ("message", "messages")}
    yield "message", {"choices": [{**rest, "index": index, "delta": {}}]}


def _deltas(choice: Dict[str, Any]) -> List[Any]:
    """The messages of a choice: what server-run tools did, then the answer itself."""
    message, messages = choice.get("message"), choice.get("messages")
    turns = messages if isinstance(messages, list) else []
    if not isinstance(message, dict):
        return turns
    return [turn for turn in turns[:-1] if _is_tool_turn(turn)] + [message]


def _is_tool_turn(turn: Any) -> bool:
    return isinstance(turn, dict) and (turn.get("role") == "tool" or bool(turn.get("tool_calls")))
