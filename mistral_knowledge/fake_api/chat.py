"""Answers in the form of /v1/chat/completions: one body, or a stream of chunks."""

from __future__ import annotations

import json
import random
import uuid
from typing import Any, Dict, Iterator, List

import attr

from .answering import Composed
from .composer import Part, text_of
from .links import Links
from .sse import DONE, event, padding
from .steps import Asking
from .tokens import small_pieces


@attr.s(auto_attribs=True, slots=True, frozen=True)
class ChatWriter:
    """Writes one answer; both forms have the same content."""

    answer_id: str
    created: int
    model: str
    choices: int
    links: Links

    def whole(self, answer: Composed) -> Dict[str, Any]:
        """The body of a reply that is not streamed."""
        message = {
            "role": "assistant",
            "content": self._content(answer.parts),
            "tool_calls": [_tool_call(*one) for one in enumerate(answer.calls)] or None,
            "prefix": False,
        }
        choice = {"message": message, "finish_reason": answer.finish_reason}
        choices = [{"index": index, **choice} for index in range(self.choices)]
        return {**self._head("chat.completion"), "choices": choices, "usage": self._usage(answer)}

    def stream(self, answer: Composed, chance: random.Random) -> Iterator[bytes]:
        """The events of a streamed reply, one by one."""
        last = self.choices - 1
        for index in range(self.choices):
            yield self._chunk(chance, index, {"role": "assistant", "content": ""})
            for part in answer.parts:
                for content in self._deltas(part, chance):
                    yield self._chunk(chance, index, {"content": content})
            usage = self._usage(answer) if index == last else None
            calls = [_tool_call(*one) for one in enumerate(answer.calls)]
            end = {"content": "", **({"tool_calls": calls} if calls else {})}
            yield self._chunk(chance, index, end, answer.finish_reason, usage)
        yield DONE

    def _head(self, kind: str) -> Dict[str, Any]:
        return {"id": self.answer_id, "object": kind, "created": self.created, "model": self.model}

    def _content(self, parts: List[Part]) -> Any:
        if all(isinstance(part, str) for part in parts):
            return text_of(parts)
        return [self._content_chunk(part) for part in parts]

    def _content_chunk(self, part: Part) -> Dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        url = self.links.lasting("original", part.document_id)
        return {"type": "document_url", "document_url": url, "document_name": part.name}

    def _deltas(self, part: Part, chance: random.Random) -> Iterator[Any]:
        if isinstance(part, str):
            yield from small_pieces(part, chance)
        else:
            yield [self._content_chunk(part)]

    def _chunk(
        self,
        chance: random.Random,
        index: int,
        delta: Dict[str, Any],
        finish_reason: Any = None,
        usage: Any = None,
    ) -> bytes:
        choice = {"index": index, "delta": delta, "finish_reason": finish_reason}
        chunk = {**self._head("chat.completion.chunk"), "choices": [choice]}
        if usage is not None:
            chunk["usage"] = usage
        return event({**chunk, "p": padding(chance)})

    def _usage(self, answer: Composed) -> Dict[str, Any]:
        prompt = answer.prompt_tokens + answer.passage_tokens
        completion = answer.completion_tokens * self.choices
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "num_cached_tokens": 0,
            "prompt_tokens_details": {"cached_tokens": 0},
        }


def _tool_call(index: int, call: Asking) -> Dict[str, Any]:
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    function = {"name": call.name, "arguments": arguments}
    return {"id": uuid.uuid4().hex[:9], "type": "function", "function": function, "index": index}
