"""What stands in for Mistral behind the relay: replies that the test lets through step by step."""

from __future__ import annotations

import json
import threading
from typing import Any, List, Optional

from mistral_knowledge.errors import AbortedError
from mistral_knowledge.transports.fake import Moment, Scripted, Stall, Step

# Seconds after which a test that waits for something fails.
PATIENCE = 30


def reply(*steps: Any, whole: bool = True, conversation_id: str = "conv_1") -> Scripted:
    """The reply to a question: events (dicts) and happenings; `whole`: with its end mark."""
    first = {"type": "conversation.response.started", "conversation_id": conversation_id}
    last = [{"type": "conversation.response.done", "usage": {}}] if whole else []
    return Scripted.events(*[_step(step) for step in (first, *steps, *last)])


def _step(step: Any) -> Step:
    return f"data: {json.dumps(step)}\n\n".encode() if isinstance(step, dict) else step


def text(content: Any) -> dict:
    return {"type": "message.output.delta", "id": "msg_1", "content": content}


def thinking(words: str) -> dict:
    return text({"type": "thinking", "thinking": [{"type": "text", "text": words}]})


def citation(title: Optional[str], url: Optional[str] = None, tool: str = "web_search") -> dict:
    return text({"type": "tool_reference", "tool": tool, "title": title, "url": url})


def tool_run(name: str, arguments: str, found: str) -> List[dict]:
    shared = {"id": f"tool_{name}", "name": name}
    return [
        {"type": "tool.execution.started", "arguments": arguments, **shared},
        {"type": "tool.execution.done", "info": {"found": found}, **shared},
    ]


def chat_reply(*steps: Any) -> Scripted:
    """The reply of chat completions: contents of deltas and happenings, with its end mark."""
    chunks = [step if hasattr(step, "run") else _chunk({"content": step}) for step in steps]
    end = [_chunk({"content": ""}, "stop"), b"data: [DONE]\n\n"]
    return Scripted.events(*map(_step, [*chunks, *end]))


def _chunk(delta: dict, finish_reason: Optional[str] = None) -> dict:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {"id": "cmpl_1", "model": "m", "choices": [choice]}


def content_of(step: dict) -> Any:
    """What a delta of a conversation holds, for one of chat completions."""
    content = step["content"]
    return [content] if isinstance(content, dict) else content


class Gate:
    """Stands in a reply: what follows comes once the test has opened it."""

    def __init__(self) -> None:
        self._opened = threading.Event()

    def open(self) -> None:
        self._opened.set()

    def run(self, moment: Moment) -> None:
        assert self._opened.wait(PATIENCE), "the test never opened the gate"


class Watched(Stall):
    """A stall that knows when it was ended by an abort: what Mistral sees of one."""

    def __init__(self) -> None:
        super().__init__()
        self.aborted = threading.Event()

    def run(self, moment: Moment) -> None:
        try:
            super().run(moment)
        except AbortedError:
            self.aborted.set()
            raise
