"""The fields of the bodies that the conversations endpoints take; all others are forbidden."""

from __future__ import annotations

from .checks import Field, Fields

COMPLETION_ARGS: Fields = {
    "stop": Field(),
    "presence_penalty": Field("number", low=-2, high=2),
    "frequency_penalty": Field("number", low=-2, high=2),
    "temperature": Field("number", low=0, high=1),
    "top_p": Field("number", low=0, high=1),
    "max_tokens": Field("int", low=0),
    "random_seed": Field("int", low=0),
    "prediction": Field("object"),
    "response_format": Field("object"),
    "tool_choice": Field("str", nullable=False, choices=("auto", "none", "any", "required")),
    "reasoning_effort": Field("str"),
}
CONFIRMATION: Fields = {
    "tool_call_id": Field("str", required=True, nullable=False),
    "confirmation": Field("str", required=True, nullable=False, choices=("allow", "deny")),
}
_HANDOFF = ("client", "server")

START: Fields = {
    "inputs": Field(required=True, nullable=False),
    "stream": Field("bool"),
    "store": Field("bool"),
    "handoff_execution": Field("str", choices=_HANDOFF),
    "instructions": Field("str"),
    "tools": Field("list"),
    "completion_args": Field("object"),
    "guardrails": Field("list"),
    "name": Field("str"),
    "description": Field("str"),
    "metadata": Field("object"),
    "agent_id": Field("str"),
    "agent_version": Field(),
    "model": Field("str"),
}
_CONTINUED: Fields = {
    "inputs": Field(nullable=False),
    "stream": Field("bool", nullable=False),
    "store": Field("bool", nullable=False),
    "handoff_execution": Field("str", nullable=False, choices=_HANDOFF),
    "completion_args": Field("object", nullable=False),
}
APPEND: Fields = {**_CONTINUED, "tool_confirmations": Field("list")}
RESTART: Fields = {
    **_CONTINUED,
    "from_entry_id": Field("str", required=True, nullable=False),
    "guardrails": Field("list"),
    "metadata": Field("object"),
    "agent_version": Field(),
}
