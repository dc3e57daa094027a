"""/v1/chat/completions: answers that quote the libraries a request names."""

from __future__ import annotations

import uuid
from typing import Any

from .answering import Composed, calling, compose
from .call import Call
from .chat import ChatWriter
from .chat_functions import FunctionTurn, function_turn
from .chat_request import ChatRequest, read_chat_request, unknown_library
from .exchange import ApiReply, json_reply
from .parts import Parts
from .routing import Route


def _complete(parts: Parts, call: Call) -> ApiReply:
    body = call.json()
    asked = read_chat_request(body, parts.options.accept_stream_options)
    _check_libraries(parts, asked)
    answer = _answer(parts, asked, function_turn(body))
    writer = ChatWriter(
        uuid.uuid4().hex, int(parts.clock()), asked.model, asked.choices, parts.links
    )
    if not asked.stream:
        return json_reply(writer.whole(answer))
    return event_reply(writer.stream(answer, parts.chance()))


def _answer(parts: Parts, asked: ChatRequest, turn: FunctionTurn) -> Composed:
    if turn.calls:
        return calling(asked.words, turn.calls)
    limit = asked.max_tokens
    return compose(parts, asked.question, asked.words, asked.library_ids, limit, turn.told)


def event_reply(events: Any) -> ApiReply:
    """A reply that is a stream of events."""
    headers = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
    return ApiReply(200, headers, events)


def _check_libraries(parts: Parts, asked: ChatRequest) -> None:
    for library_id in asked.library_ids or []:
        if parts.store.row("SELECT id FROM libraries WHERE id = ?", library_id) is None:
            raise unknown_library(library_id)


ROUTES = [Route("POST", "/v1/chat/completions", _complete)]
