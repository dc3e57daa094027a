"""Answers that need more than one reply: functions that the model calls, and leave for tools.

The model asks for a function; the caller's Python runs it, and its result goes back to the model,
until the answer is there. What sends the next request is handed down; nothing here reaches up.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, Generator, List, Mapping, Optional, Tuple, Type

import attr

from .._checks import callables, items, mappings, number
from .._json import json_text, read_json
from ..errors import AnswerError, InvalidArgumentError
from ..models.answers import ToolCall
from .assembly import Assembly
from .events import Event

Functions = Mapping[str, Callable[..., Any]]
Confirm = Callable[[ToolCall], bool]
Encode = Callable[[Any], str]

MAX_ROUNDS = 8


@attr.s(auto_attribs=True, slots=True)
class Rounds:
    """How calls of the model are answered.

    functions: the caller's functions by name
    confirm: whether a tool that needs leave may run
    reported_errors: exceptions of functions that are told to the model; others are raised
    max_rounds: how many further requests an answer may take
    """

    functions: Functions = attr.ib(factory=dict)
    confirm: Optional[Confirm] = None
    reported_errors: Tuple[Type[Exception], ...] = ()
    max_rounds: int = MAX_ROUNDS
    _done: int = 0

    def __attrs_post_init__(self) -> None:
        mappings(functions=self.functions)
        items("functions", list(self.functions), str, "functions by their names")
        named = {f"functions[{name!r}]": function for name, function in self.functions.items()}
        callables(confirm=self.confirm, **named)
        number("max_rounds", self.max_rounds, 0)
        kinds = items("reported_errors", self.reported_errors, type, "exception classes")
        if not all(issubclass(kind, Exception) for kind in kinds):
            raise InvalidArgumentError("reported_errors= has a class in it that is no exception")
        self.reported_errors = tuple(kinds)

    def replies_to(
        self, calls: List[ToolCall], assembly: Assembly, encode: Encode
    ) -> Generator[Event, None, Dict[str, Any]]:
        """Run what `calls` ask for, yield the results as events, and return the next body.

        The body has `inputs` (function results) and `tool_confirmations`; it is empty where the
        calls are left to the caller. Raises AnswerError after `max_rounds`, and for a tool that
        needs leave while there is no `confirm`.
        """
        asking = [call for call in calls if call.confirmation == "pending"]
        running = [call for call in calls if call.confirmation is None]
        body: Dict[str, Any] = {}
        if asking:
            body["tool_confirmations"] = [self._decision(call, assembly) for call in asking]
        if running and self.functions:
            body["inputs"] = []
            for call in running:
                result = self._result(call, encode)
                yield assembly.tool_result(call.tool_call_id, result, call.name)
                body["inputs"].append(_entry(call, result))
        self._count(body, assembly)
        return body

    def _count(self, body: Dict[str, Any], assembly: Assembly) -> None:
        if not body:
            return
        self._done += 1
        if self._done > self.max_rounds:
            raise AnswerError(
                f"the model still calls functions after {self.max_rounds} rounds; "
                "raise max_rounds= if it should go on",
                assembly.partial(),
            )

    def _decision(self, call: ToolCall, assembly: Assembly) -> Dict[str, Any]:
        if self.confirm is None:
            raise AnswerError(
                f"the tool {call.name!r} needs leave to run and was not given it: "
                "give confirm=, a function from the ToolCall to True or False",
                assembly.partial(),
            )
        allowed = bool(self.confirm(call))
        call.confirmation = "allowed" if allowed else "denied"
        decision = "allow" if allowed else "deny"
        return {"tool_call_id": call.tool_call_id, "confirmation": decision}

    def _result(self, call: ToolCall, encode: Encode) -> str:
        function = self.functions.get(call.name)
        if function is None:
            known = ", ".join(sorted(self.functions))
            return _error(f"there is no function {call.name!r}; there are: {known}")
        arguments, problem = _arguments(function, call.arguments)
        if problem is not None:
            return _error(problem)
        try:
            value = function(**arguments)
        except self.reported_errors as error:
            return _error(f"{type(error).__name__}: {error}")
        return value if isinstance(value, str) else encode(value)


def _arguments(function: Callable[..., Any], text: str) -> Tuple[Dict[str, Any], Optional[str]]:
    """(arguments, None), or ({}, what is wrong with them); they come from a model."""
    try:
        arguments = read_json(text or "{}")
    except ValueError as error:
        return {}, f"the arguments are no JSON: {error}"
    if not isinstance(arguments, dict):
        return {}, "the arguments are no JSON object"
    try:
        inspect.signature(function).bind(**arguments)
    except TypeError as error:
        return {}, f"the arguments do not fit: {error}"
    except ValueError:  # a builtin without a signature: calling it will tell
        return arguments, None
    return arguments, None


def _entry(call: ToolCall, result: str) -> Dict[str, Any]:
    return {"type": "function.result", "tool_call_id": call.tool_call_id, "result": result}


def _error(words: str) -> str:
    return json_text({"error": words})
