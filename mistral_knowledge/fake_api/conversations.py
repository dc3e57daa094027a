"""Conversations: how they are made, kept and shown."""

from __future__ import annotations

import json
import sqlite3
import uuid
from typing import Any, Dict, List, Mapping, Sequence

import attr

from .agents import agent_facts
from .conversation_entries import Entry
from .conversation_tools import Toolbox, toolbox_of
from .parts import Parts
from .problems import not_found

_SHOWN = ("name", "description", "metadata")
_OF_A_MODEL = ("model", "instructions", "tools", "completion_args", "guardrails")
_OF_AN_AGENT = ("agent_id", "agent_version")


@attr.s(auto_attribs=True, slots=True)
class Conversation:
    """A conversation and its entries; `facts` is what it was started with."""

    id: str
    facts: Dict[str, Any]
    entries: List[Entry] = attr.ib(factory=list)
    appends: int = 0

    @property
    def agent(self) -> Mapping[str, Any]:
        """What its agent adds; empty if it has none."""
        return self.facts.get("agent") or {}

    @property
    def instructions(self) -> str:
        """All that the model is told beforehand."""
        given = (self.agent.get("instructions"), self.facts.get("instructions"))
        return "\n".join(words for words in given if words)

    def toolbox(self) -> Toolbox:
        """The tools of the agent and of the conversation."""
        return toolbox_of([*self.agent.get("tools", []), *(self.facts.get("tools") or [])])

    def arguments(self, own: Mapping[str, Any]) -> Dict[str, Any]:
        """Completion arguments: those of one request before those of the conversation."""
        kept = self.facts.get("completion_args") or {}
        return {**self.agent.get("completion_args", {}), **kept, **own}


def started(parts: Parts, body: Mapping[str, Any]) -> Conversation:
    """A conversation as a request starts it, not kept yet; 404 for an unknown agent or library."""
    names = (*_SHOWN, *_OF_A_MODEL, *_OF_AN_AGENT)
    facts = {name: body[name] for name in names if body.get(name) is not None}
    if "agent_id" in facts:
        facts["agent"] = agent_facts(parts, facts["agent_id"])
    conversation = Conversation(new_conversation_id(), facts)
    for library_id in conversation.toolbox().library_ids or []:
        if parts.store.row("SELECT id FROM libraries WHERE id = ?", library_id) is None:
            raise not_found(f"Library {library_id}")
    return conversation


def new_conversation_id() -> str:
    """A fresh id."""
    return f"conv_{uuid.uuid4().hex}"


def conversation_row(parts: Parts, conversation_id: str) -> sqlite3.Row:
    """The row of a conversation; 404 if there is none."""
    row = parts.store.row("SELECT * FROM conversations WHERE id = ?", conversation_id)
    if row is None:
        raise not_found("Conversation")
    return row


def load(parts: Parts, conversation_id: str) -> Conversation:
    """A conversation that was kept, with its entries; 404 if there is none."""
    row = conversation_row(parts, conversation_id)
    sql = "SELECT entry FROM entries WHERE conversation_id = ? ORDER BY seq"
    entries = [json.loads(one["entry"]) for one in parts.store.rows(sql, conversation_id)]
    return Conversation(row["id"], json.loads(row["facts"]), entries, row["appends"])


def save(parts: Parts, conversation: Conversation, entries: Sequence[Entry]) -> None:
    """Keep a conversation with these entries, within a transaction."""
    store, now = parts.store, parts.now()
    store.run(
        "INSERT OR IGNORE INTO conversations (id, created_at, facts) VALUES (?, ?, ?)",
        conversation.id,
        now,
        json.dumps(conversation.facts, ensure_ascii=False),
    )
    store.update("conversations", conversation.id, updated_at=now, appends=conversation.appends)
    store.run("DELETE FROM entries WHERE conversation_id = ?", conversation.id)
    for entry in entries:
        text = json.dumps(entry, ensure_ascii=False)
        store.insert("entries", conversation_id=conversation.id, id=entry["id"], entry=text)


def delete(parts: Parts, conversation_id: str) -> None:
    """Forget a conversation and its entries, within a transaction; 404 if there is none."""
    conversation_row(parts, conversation_id)
    parts.store.run("DELETE FROM entries WHERE conversation_id = ?", conversation_id)
    parts.store.run("DELETE FROM conversations WHERE id = ?", conversation_id)


def wire_conversation(row: sqlite3.Row) -> Dict[str, Any]:
    """A conversation as the API shows it."""
    facts = json.loads(row["facts"])
    wire = {name: row[name] for name in ("id", "created_at", "updated_at")}
    wire = {"object": "conversation", **wire, **{name: facts.get(name) for name in _SHOWN}}
    if "agent_id" in facts:
        return {**wire, **{name: facts.get(name) for name in _OF_AN_AGENT}}
    own = {name: facts.get(name) for name in _OF_A_MODEL}
    return {**wire, **own, "tools": own["tools"] or [], "completion_args": _args(own)}


def _args(own: Mapping[str, Any]) -> Dict[str, Any]:
    return {"tool_choice": "auto", **(own["completion_args"] or {})}
