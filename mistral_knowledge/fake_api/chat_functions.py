"""Functions on chat completions: which ones the model calls, and what came of those it called.

The rules are those of conversations, so the messages are read as the entries they would be there.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, Tuple

import attr

from .agent_model import calls_of, nothing_to_use
from .chat_request import text_of_content
from .checks import Field, Fields, Place, issues_of
from .conversation_entries import Entry
from .conversation_tools import Toolbox, toolbox_of
from .problems import Issue, invalid_chat
from .steps import Asking
from .turn import read_turn

_MESSAGE: Fields = {"tool_calls": Field("list"), "tool_call_id": Field("str")}
_CALL: Fields = {
    "id": Field("str"),
    "type": Field("str"),
    "index": Field("int"),
    "function": Field("object", required=True, nullable=False),
}
_CALLED: Fields = {
    "name": Field("str", required=True, nullable=False),
    "arguments": Field(required=True, nullable=False),
}


@attr.s(auto_attribs=True, slots=True, frozen=True)
class FunctionTurn:
    """What a chat has to do with functions: the calls to make now, else what there is to tell."""

    calls: List[Asking]
    told: List[str]


def function_turn(body: Mapping[str, Any]) -> FunctionTurn:
    """The turn of a checked request; 422 for calls that are none, 400 where results do not fit."""
    issues = [
        one
        for number, message in enumerate(body["messages"])
        for one in _issues(message, ("body", "messages", number))
    ]
    if issues:
        raise invalid_chat(issues)
    turn = read_turn([entry for message in body["messages"] for entry in _entries(message)])
    functions = [tool for tool in body.get("tools") or [] if "function" in tool]
    toolbox, must = _chosen(toolbox_of(functions), body.get("tool_choice"))
    told = [f"{name} gave: {result}" for name, result in turn.results]
    if not told and toolbox.functions:
        told = [nothing_to_use(toolbox)]
    return FunctionTurn(calls_of(turn, toolbox, must), told)


def _chosen(toolbox: Toolbox, choice: Any) -> Tuple[Toolbox, bool]:
    """The functions that may be called, and whether one of them must be."""
    if isinstance(choice, dict):
        wanted = {
            name: parameters
            for name, parameters in toolbox.functions.items()
            if choice.get("function") == {"name": name}
        }
        return Toolbox(functions=wanted), True
    return Toolbox() if choice == "none" else toolbox, choice in ("any", "required")


def _issues(message: Dict[str, Any], place: Place) -> List[Issue]:
    found = issues_of(message, _MESSAGE, place)
    for number, call in enumerate([] if found else message.get("tool_calls") or []):
        here = (*place, "tool_calls", number)
        issues = issues_of(call, _CALL, here, forbid_extra=True)
        found += issues or issues_of(call["function"], _CALLED, (*here, "function"))
    return found


def _entries(message: Dict[str, Any]) -> Iterator[Entry]:
    role, content = message.get("role", "user"), text_of_content(message.get("content"))
    if role != "tool":
        yield {"type": "message.input", "role": role, "content": content}
    elif message.get("tool_call_id"):
        result = {"tool_call_id": message["tool_call_id"], "result": content}
        yield {"type": "function.result", **result}
    for call in message.get("tool_calls") or []:
        called = {name: call["function"][name] for name in _CALLED}
        yield {"type": "function.call", "tool_call_id": call.get("id"), **called}
