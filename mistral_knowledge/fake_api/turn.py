"""Where a conversation stands: what the model was asked last, and what came of its calls since."""

from __future__ import annotations

import json
from typing import Any, Dict, FrozenSet, List, Mapping, Sequence, Tuple

import attr

from .chat_request import text_of_content
from .conversation_entries import Entry
from .problems import ApiProblem, chat_problem

_DECISIONS = {"allow": "allowed", "deny": "denied"}


@attr.s(auto_attribs=True, slots=True, frozen=True)
class Turn:
    """What there is to answer.

    question: the last one of the user; prompt: all texts so far
    called: the names of what was called since; results: (function, result) of each that came back
    allowed, denied: the names of tools that were given leave, or refused it
    begun: whether the model has already spoken since
    """

    question: str
    prompt: str
    called: FrozenSet[str]
    results: List[Tuple[str, str]]
    allowed: List[str]
    denied: List[str]
    begun: bool


def read_turn(entries: Sequence[Entry]) -> Turn:
    """The turn that `entries` end in; 400 where calls and results do not fit together."""
    _check_order(entries)
    questions = [number for number, entry in enumerate(entries) if _is_question(entry)]
    start = questions[-1] if questions else 0
    since = entries[start:]
    calls = {entry["tool_call_id"]: entry for entry in since if _is(entry, "function.call")}
    results = [entry for entry in since if _is(entry, "function.result")]
    return Turn(
        question=text_of_content(entries[start].get("content")) if questions else "",
        prompt="\n".join(map(_text, entries)),
        called=frozenset(call["name"] for call in calls.values()),
        results=[
            (calls[entry["tool_call_id"]]["name"], entry["result"])
            for entry in results
            if entry["tool_call_id"] in calls
        ],
        allowed=_with_status(calls, "allowed"),
        denied=_with_status(calls, "denied"),
        begun=any(_is(entry, "message.output") for entry in since) or bool(calls),
    )


def decided(entries: Sequence[Entry], decisions: Mapping[str, str]) -> List[Entry]:
    """The entries with the decisions about pending calls in them; 400 for calls not pending."""
    pending = {entry["tool_call_id"] for entry in entries if _is_pending(entry)}
    for call_id in decisions:
        if call_id not in pending:
            raise _out_of_order(f"There is no pending tool call {call_id}")
    return [_decided(entry, decisions) for entry in entries]


def _decided(entry: Entry, decisions: Mapping[str, str]) -> Entry:
    decision = decisions.get(entry.get("tool_call_id", ""))
    if decision is None or not _is_pending(entry):
        return entry
    return {**entry, "confirmation_status": _DECISIONS[decision]}


def _check_order(entries: Sequence[Entry]) -> None:
    open_calls = set()
    for entry in entries:
        if _is(entry, "function.call") and entry.get("confirmation_status") in (None, "pending"):
            open_calls.add(entry["tool_call_id"])
        elif _is(entry, "function.result"):
            if entry["tool_call_id"] not in open_calls:
                words = f"Unexpected tool call id {entry['tool_call_id']} in tool results"
                raise _out_of_order(words)
            open_calls.remove(entry["tool_call_id"])
    if open_calls:
        raise _out_of_order("Not the same number of function calls and responses")


def _out_of_order(words: str) -> ApiProblem:
    return chat_problem(400, words, "3230")


def _with_status(calls: Mapping[str, Entry], status: str) -> List[str]:
    return [call["name"] for call in calls.values() if call.get("confirmation_status") == status]


def _is(entry: Entry, kind: str) -> bool:
    return bool(entry["type"] == kind)


def _is_pending(entry: Entry) -> bool:
    return _is(entry, "function.call") and entry.get("confirmation_status") == "pending"


def _is_question(entry: Entry) -> bool:
    return _is(entry, "message.input") and entry["role"] == "user"


def _text(entry: Dict[str, Any]) -> str:
    arguments = entry.get("arguments", "")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments)
    return " ".join((text_of_content(entry.get("content")), entry.get("result", ""), arguments))
