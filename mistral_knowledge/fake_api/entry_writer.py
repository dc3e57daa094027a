"""What the model did, as entries of a conversation, and what it cost."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from typing import Any, Dict, Iterator, List, Optional, Sequence

import attr

from .conversation_entries import Entry, head
from .steps import Asking, Piece, Reference, Run, Saying, Step, Thought
from .tokens import count_tokens


@attr.s(auto_attribs=True, slots=True, frozen=True)
class EntryWriter:
    """Writes entries; `model` or `agent_id` is who speaks in them."""

    now: str
    model: Optional[str]
    agent_id: Optional[str]

    def entries(self, steps: Sequence[Step]) -> List[Entry]:
        """One entry for each step."""
        return [self._entry(step) for step in steps]

    def _entry(self, step: Step) -> Entry:
        speaker = {"agent_id": self.agent_id, "model": self.model}
        if isinstance(step, Run):
            arguments = _compact(step.arguments)
            fields = {"name": step.name, "arguments": arguments, "info": step.info}
            return {**head("tool.execution", self.now), **speaker, **fields}
        if isinstance(step, Asking):
            return {**head("function.call", self.now), **speaker, **_call(step)}
        fields = {"role": "assistant", "content": _content(step)}
        return {**head("message.output", self.now), **speaker, **fields}


def _call(step: Asking) -> Dict[str, Any]:
    return {
        "tool_call_id": uuid.uuid4().hex[:9],
        "name": step.name,
        "arguments": _compact(step.arguments),
        "confirmation_status": "pending" if step.pending else None,
    }


def _content(step: Any) -> Any:
    if isinstance(step, Thought):
        return [{"type": "thinking", "thinking": [_text(step.text)], "closed": True}]
    if all(isinstance(piece, str) for piece in step.pieces):
        return "".join(step.pieces)
    return [_chunk(piece) for piece in _merged(step.pieces)]


def _merged(pieces: Sequence[Piece]) -> Iterator[Piece]:
    words = ""
    for piece in pieces:
        if isinstance(piece, str):
            words += piece
            continue
        if words:
            yield words
        words = ""
        yield piece
    if words:
        yield words


def _chunk(piece: Piece) -> Dict[str, Any]:
    if isinstance(piece, Reference):
        return {
            "type": "tool_reference",
            "tool": piece.tool,
            "title": piece.title,
            "url": piece.url,
        }
    return _text(piece)


def _text(words: str) -> Dict[str, Any]:
    return {"type": "text", "text": words}


def usage_of(prompt: str, steps: Sequence[Step]) -> Dict[str, Any]:
    """Token counts: what was read, what was written, and what server tools read."""
    runs = [step for step in steps if isinstance(step, Run)]
    prompt_tokens, completion = count_tokens(prompt), sum(map(_written, steps))
    connector = sum(run.tokens for run in runs)
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion,
        "total_tokens": prompt_tokens + completion + connector,
        "connector_tokens": connector if runs else None,
        "connectors": dict(Counter(run.name for run in runs)) or None,
    }


def _written(step: Step) -> int:
    if isinstance(step, Thought):
        return count_tokens(step.text)
    if isinstance(step, Saying):
        return sum(count_tokens(piece) for piece in step.pieces if isinstance(piece, str))
    return count_tokens(_compact(step.arguments))


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
