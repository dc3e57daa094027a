"""The entries that a request puts into a conversation: how they are checked and completed."""

from __future__ import annotations

import uuid
from typing import Any, Dict, List

from .checks import Field, Fields, Place, issues_of
from .problems import Issue, issue

Entry = Dict[str, Any]

_HEAD: Fields = {
    "object": Field("str"),
    "type": Field("str"),
    "id": Field("str"),
    "created_at": Field("time"),
    "completed_at": Field("time"),
}
_SPEAKER: Fields = {"agent_id": Field("str"), "model": Field("str")}
_NAMED = Field("str", required=True, nullable=False)
_CONTENT = Field(required=True, nullable=False)
_AGENTS = (("previous", "id"), ("previous", "name"), ("next", "id"), ("next", "name"))
_KINDS: Dict[str, Fields] = {
    "message.input": {
        "role": Field("str", required=True, nullable=False, choices=("assistant", "user")),
        "content": _CONTENT,
        "prefix": Field("bool", nullable=False),
    },
    "message.output": {**_SPEAKER, "role": Field("str"), "content": _CONTENT},
    "function.result": {"tool_call_id": _NAMED, "result": _NAMED},
    "function.call": {
        **_SPEAKER,
        "tool_call_id": _NAMED,
        "name": _NAMED,
        "arguments": Field(required=True, nullable=False),
        "confirmation_status": Field("str", choices=("pending", "allowed", "denied")),
    },
    "tool.execution": {
        **_SPEAKER,
        "name": _NAMED,
        "arguments": _NAMED,
        "info": Field("object", nullable=False),
    },
    "agent.handoff": {f"{place}_agent_{name}": _NAMED for place, name in _AGENTS},
}
_PREFIXES = {
    "function.result": "fr",
    "function.call": "fc",
    "tool.execution": "tool_exec",
    "agent.handoff": "handoff",
}


def input_issues(inputs: Any) -> List[Issue]:
    """What is wrong with `inputs`: text, or a list of entries."""
    place: Place = ("body", "inputs")
    if inputs is None or isinstance(inputs, str):
        return []
    if not isinstance(inputs, list):
        return [issue(place, "list_type", "Input should be a valid list", inputs)]
    found: List[Issue] = []
    for number, entry in enumerate(inputs):
        found += _entry_issues(entry, (*place, number))
    return found


def _entry_issues(entry: Any, place: Place) -> List[Issue]:
    kind = _kind(entry) if isinstance(entry, dict) else None
    fields = _KINDS.get(kind) if isinstance(kind, str) else None
    if fields is None:
        words = "Input tag does not match any of the expected tags"
        return [issue(place, "union_tag_invalid", words, entry)]
    found = issues_of(entry, {**_HEAD, **fields}, place, forbid_extra=True)
    return found or _content_issues(entry.get("content", ""), (*place, "content"))


def _content_issues(content: Any, place: Place) -> List[Issue]:
    if isinstance(content, str):
        return []
    if isinstance(content, list) and all(isinstance(chunk, dict) for chunk in content):
        return []
    return [issue(place, "string_type", "Input should be a valid string", content)]


def completed(inputs: Any, now: str) -> List[Entry]:
    """The entries of checked `inputs`, each with its id and its times."""
    if isinstance(inputs, str):
        inputs = [{"role": "user", "content": inputs}]
    return [{**head(_kind(entry), now), **entry} for entry in inputs or []]


def head(kind: str, now: str) -> Entry:
    """The fields that every entry begins with; its id is a fresh one."""
    entry_id = f"{_PREFIXES.get(kind, 'msg')}_{uuid.uuid4().hex}"
    return {
        "object": "entry",
        "type": kind,
        "created_at": now,
        "completed_at": now,
        "id": entry_id,
    }


def _kind(entry: Entry) -> str:
    """The type; a bare `role` and `content` is a message."""
    kind: str = entry.get("type") or "message.input"
    return kind
