"""/v1/conversations, all but asking: list, get, history, messages, delete."""

from __future__ import annotations

import json
from typing import Any, Dict

from .call import Call
from .conversations import conversation_row, delete, load, wire_conversation
from .exchange import ApiReply, empty_reply, json_reply
from .paging import page_of
from .parts import Parts
from .problems import invalid, issue
from .routing import Route

PATH = "/v1/conversations/{conversation}"

# The official SDK (3.7.0) sends this where it was given no metadata.
_NO_METADATA = "~?~unset~?~sentinel~?~"


def _list(parts: Parts, call: Call) -> ApiReply:
    page, wanted = page_of(call, largest=None), _metadata(call)
    rows = parts.store.rows("SELECT * FROM conversations ORDER BY seq DESC")
    fitting = [row for row in rows if _fits(json.loads(row["facts"]).get("metadata"), wanted)]
    shown = fitting[page.offset : page.offset + page.size]
    return json_reply([wire_conversation(row) for row in shown])


def _fits(metadata: Any, wanted: Dict[str, Any]) -> bool:
    return wanted.items() <= {**(metadata or {})}.items()


def _metadata(call: Call) -> Dict[str, Any]:
    text = call.text("metadata")
    try:
        value = json.loads(text) if text else None
    except (ValueError, RecursionError):
        value = text
    if value in (None, _NO_METADATA):
        return {}
    if not isinstance(value, dict):
        words = "Input should be a valid dictionary"
        raise invalid([issue(["query", "metadata"], "dict_type", words, value)])
    return value


def _get(parts: Parts, call: Call) -> ApiReply:
    return json_reply(wire_conversation(conversation_row(parts, call.names["conversation"])))


def _history(parts: Parts, call: Call) -> ApiReply:
    kept = load(parts, call.names["conversation"])
    head = {"object": "conversation.history", "conversation_id": kept.id}
    return json_reply({**head, "entries": kept.entries})


def _messages(parts: Parts, call: Call) -> ApiReply:
    kept = load(parts, call.names["conversation"])
    head = {"object": "conversation.messages", "conversation_id": kept.id}
    messages = [entry for entry in kept.entries if entry["type"].startswith("message.")]
    return json_reply({**head, "messages": messages})


def _delete(parts: Parts, call: Call) -> ApiReply:
    with parts.store.transaction():
        delete(parts, call.names["conversation"])
    return empty_reply()


ROUTES = [
    Route("GET", "/v1/conversations", _list),
    Route("GET", PATH, _get),
    Route("DELETE", PATH, _delete),
    Route("GET", f"{PATH}/history", _history),
    Route("GET", f"{PATH}/messages", _messages),
]
