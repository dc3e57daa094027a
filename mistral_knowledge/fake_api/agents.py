"""Agents that the API knows: a model with instructions and tools of its own."""

from __future__ import annotations

import json
import uuid
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ..errors import InvalidArgumentError
from .conversation_tools import tool_issues
from .parts import Parts
from .problems import not_found


def add_agent(
    parts: Parts,
    model: str,
    instructions: Optional[str],
    tools: Sequence[Mapping[str, Any]],
    completion_args: Optional[Mapping[str, Any]],
) -> str:
    """Store an agent; returns its id. InvalidArgumentError for tools that the API refuses."""
    given: List[Dict[str, Any]] = [dict(tool) for tool in tools]
    issues = tool_issues(given)
    if issues:
        raise InvalidArgumentError(f"tools= {issues[0]['loc'][2:]}: {issues[0]['msg']}")
    agent_id = f"ag_{uuid.uuid4().hex}"
    facts = {
        "model": model,
        "instructions": instructions,
        "tools": given,
        "completion_args": dict(completion_args or {}),
    }
    parts.store.insert("agents", id=agent_id, facts=json.dumps(facts))
    return agent_id


def agent_facts(parts: Parts, agent_id: str) -> Dict[str, Any]:
    """What an agent is; 404 if there is none."""
    row = parts.store.row("SELECT facts FROM agents WHERE id = ?", agent_id)
    if row is None:
        raise not_found("Agent")
    facts: Dict[str, Any] = json.loads(row["facts"])
    return facts
