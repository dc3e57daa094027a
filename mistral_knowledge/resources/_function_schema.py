"""The declaration of a Python function as a tool, from its signature and docstring."""

from __future__ import annotations

import inspect
import typing
from typing import Any, Callable, Dict, Mapping

_TYPES: Dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}


def declaration(name: str, function: Callable[..., Any]) -> Dict[str, Any]:
    """A function tool: parameters by their type hints, required where there is no default.

    What a hint does not say stays open: a parameter without one takes any JSON value.
    """
    parameters = _parameters(function)
    hints = _hints(function)
    schema = {
        "type": "object",
        "properties": {one.name: _schema(hints.get(one.name)) for one in parameters.values()},
        "required": [one.name for one in parameters.values() if one.default is one.empty],
    }
    words = inspect.getdoc(function) or ""
    described = {"name": name, "description": words, "parameters": schema}
    return {"type": "function", "function": described}


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # a builtin without a signature
        return {}
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {name: one for name, one in parameters.items() if one.kind in named}


def _hints(function: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError):  # hints that name what is not there, or no function at all
        return {}


def _schema(hint: Any) -> Dict[str, Any]:
    arguments = [one for one in typing.get_args(hint) if one is not type(None)]
    if typing.get_origin(hint) is typing.Union and len(arguments) == 1:
        return _schema(arguments[0])
    kind = _TYPES.get(typing.get_origin(hint) or hint)
    if kind == "array" and arguments:
        return {"type": "array", "items": _schema(arguments[0])}
    return {"type": kind} if kind else {}
