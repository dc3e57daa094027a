"""What a request to a conversation asks for, checked as the real endpoints check it."""

from __future__ import annotations

from typing import Any, Dict, List

import attr

from .checks import Fields, issues_of
from .conversation_entries import input_issues
from .conversation_fields import APPEND, COMPLETION_ARGS, CONFIRMATION, RESTART, START
from .conversation_tools import tool_issues
from .problems import Issue, invalid, issue


@attr.s(auto_attribs=True, slots=True, frozen=True)
class ConversationRequest:
    """A checked request. `body` is all of it; what it leaves out is not there."""

    body: Dict[str, Any] = attr.ib(repr=False)

    @property
    def inputs(self) -> Any:
        """Text, or a list of entries, or None."""
        return self.body.get("inputs")

    @property
    def stream(self) -> bool:
        """Whether events are wanted."""
        return bool(self.body.get("stream"))

    @property
    def store(self) -> bool:
        """Whether the conversation is kept."""
        return self.body.get("store") is not False

    @property
    def arguments(self) -> Dict[str, Any]:
        """The completion arguments."""
        return self.body.get("completion_args") or {}

    @property
    def confirmations(self) -> Dict[str, str]:
        """The decisions about tool calls, by the ids of the calls."""
        given = self.body.get("tool_confirmations") or []
        return {one["tool_call_id"]: one["confirmation"] for one in given}


def read_start(body: Any) -> ConversationRequest:
    """A request that starts a conversation."""
    request = _read(body, START)
    issues = [*_owner_issues(request.body), *tool_issues(request.body.get("tools") or [])]
    if issues:
        raise invalid(issues)
    return request


def read_append(body: Any) -> ConversationRequest:
    """A request that continues a conversation."""
    return _read(body, APPEND)


def read_restart(body: Any) -> ConversationRequest:
    """A request that restarts a conversation from one of its entries."""
    return _read(body, RESTART)


def _read(body: Any, fields: Fields) -> ConversationRequest:
    issues = issues_of(body, fields, forbid_extra=True) or _inner_issues(body)
    if issues:
        raise invalid(issues)
    return ConversationRequest(body)


def _inner_issues(body: Dict[str, Any]) -> List[Issue]:
    place = ("body", "completion_args")
    arguments = body.get("completion_args") or {}
    found = issues_of(arguments, COMPLETION_ARGS, place, forbid_extra=True)
    for number, one in enumerate(body.get("tool_confirmations") or []):
        place_of_one = ("body", "tool_confirmations", number)
        found += issues_of(one, CONFIRMATION, place_of_one, forbid_extra=True)
    return found + input_issues(body.get("inputs"))


def _owner_issues(body: Dict[str, Any]) -> List[Issue]:
    given = [name for name in ("agent_id", "model") if body.get(name) is not None]
    if len(given) == 1:
        return []
    words = "Value error, give either an agent_id or a model"
    return [issue(["body"], "value_error", words, {name: body[name] for name in given})]
