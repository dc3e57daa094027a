"""A conversation, and the entries it is made of."""

import datetime
from typing import Any, Dict, Optional

import attr

from ._convert import register, required_text


@register()
@attr.s(auto_attribs=True, slots=True)
class Conversation:
    """A conversation that the server keeps (`/v1/conversations`).

    id: its id
    model: which model answers, or None; agent_id, agent_version: which agent, or None
    name, description, metadata, instructions: as given when it was started
    created_at, updated_at: aware datetimes
    raw: the JSON as it came, tools and completion arguments included
    """

    id: str = attr.ib(validator=required_text)
    model: Optional[str] = None
    agent_id: Optional[str] = None
    agent_version: Optional[str] = None
    name: Optional[str] = None
    description: Optional[str] = attr.ib(default=None, repr=False)
    metadata: Optional[Dict[str, Any]] = attr.ib(default=None, repr=False)
    instructions: Optional[str] = attr.ib(default=None, repr=False)
    created_at: Optional[datetime.datetime] = None
    updated_at: Optional[datetime.datetime] = None
    raw: Dict[str, Any] = attr.ib(factory=dict, repr=False, eq=False)

    def log_fields(self) -> Dict[str, Any]:
        """Identifiers only: what may go into a log."""
        return {"conversation_id": self.id, "model": self.model, "agent_id": self.agent_id}


@register()
@attr.s(auto_attribs=True, slots=True)
class Entry:
    """One entry of a conversation: a message, a tool execution, a function call or its result.

    id: its id, where it has one
    type: `message.input`, `message.output`, `tool.execution`, `function.call`,
        `function.result`, `agent.handoff`, or what the server invents
    role: of a message; name: of a tool or function
    created_at, completed_at: aware datetimes
    raw: the JSON as it came, with the content
    """

    id: Optional[str] = None
    type: Optional[str] = None
    role: Optional[str] = None
    name: Optional[str] = None
    created_at: Optional[datetime.datetime] = None
    completed_at: Optional[datetime.datetime] = None
    raw: Dict[str, Any] = attr.ib(factory=dict, repr=False, eq=False)

    @property
    def text(self) -> str:
        """The words of a message; of its text chunks, where the content is made of chunks."""
        content = self.raw.get("content")
        if isinstance(content, str):
            return content
        chunks = content if isinstance(content, list) else [content]
        texts = (chunk.get("text") for chunk in chunks if isinstance(chunk, dict))
        return "".join(text for text in texts if isinstance(text, str))

    def log_fields(self) -> Dict[str, Any]:
        """Identifiers only: what may go into a log."""
        return {"entry_id": self.id, "type": self.type}
