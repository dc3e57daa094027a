"""/v1/conversations, asking: start a conversation, append to it, restart it from an entry."""

from __future__ import annotations

from typing import Any, Dict, List

from .agent_model import steps_of
from .call import Call
from .conversation_entries import Entry, completed
from .conversation_reply import ReplyWriter
from .conversation_request import ConversationRequest, read_append, read_restart, read_start
from .conversations import Conversation, load, new_conversation_id, save, started
from .entry_writer import EntryWriter, usage_of
from .exchange import ApiReply, json_reply
from .parts import Parts
from .problems import detail, not_found
from .routes_chat import event_reply
from .routes_conversations import PATH
from .routing import Route
from .turn import decided, read_turn


def _start(parts: Parts, call: Call) -> ApiReply:
    asked = read_start(call.json())
    with parts.store.transaction():
        return _reply(parts, asked, started(parts, asked.body))


def _append(parts: Parts, call: Call) -> ApiReply:
    asked = read_append(call.json())
    with parts.store.transaction():
        conversation = load(parts, call.names["conversation"])
        conversation.appends += 1
        return _reply(parts, asked, conversation)


def _restart(parts: Parts, call: Call) -> ApiReply:
    asked = read_restart(call.json())
    with parts.store.transaction():
        before = load(parts, call.names["conversation"])
        if not before.appends:
            raise detail(400, "A conversation can be restarted once it was appended to")
        kept = _until(before.entries, asked.body["from_entry_id"])
        facts = {**before.facts, **_changes(asked.body)}
        return _reply(parts, asked, Conversation(new_conversation_id(), facts, kept))


def _changes(body: Dict[str, Any]) -> Dict[str, Any]:
    names = ("metadata", "guardrails", "agent_version")
    return {name: body[name] for name in names if body.get(name) is not None}


def _until(entries: List[Entry], entry_id: str) -> List[Entry]:
    for number, entry in enumerate(entries, 1):
        if entry["id"] == entry_id:
            return entries[:number]
    raise not_found("Entry")


def _reply(parts: Parts, asked: ConversationRequest, conversation: Conversation) -> ApiReply:
    """Answer, within a transaction: what is kept is kept before anything of it is sent."""
    known = decided(conversation.entries, asked.confirmations)
    entries = [*known, *completed(asked.inputs, parts.now())]
    turn, now = read_turn(entries), parts.now()
    arguments = conversation.arguments(asked.arguments)
    steps = steps_of(parts, turn, conversation.toolbox(), arguments)
    outputs = _writer(conversation, now).entries(steps)
    if asked.store:
        save(parts, conversation, [*entries, *outputs])
    usage = usage_of(f"{conversation.instructions}\n{turn.prompt}", steps)
    writer = ReplyWriter(conversation.id, outputs, usage, now)
    if asked.stream:
        return event_reply(writer.stream(parts.chance()))
    return json_reply(writer.whole())


def _writer(conversation: Conversation, now: str) -> EntryWriter:
    model = conversation.facts.get("model") or conversation.agent.get("model")
    return EntryWriter(now, model, conversation.facts.get("agent_id"))


ROUTES = [
    Route("POST", "/v1/conversations", _start),
    Route("POST", PATH, _append),
    Route("POST", f"{PATH}/restart", _restart),
]
