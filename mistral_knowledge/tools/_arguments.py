"""The arguments of a tool call, checked: they come from a model, and may be anything."""

from __future__ import annotations

import difflib
import typing
from typing import Any, List, Mapping, Optional, Type

from ._schema import KINDS, fields_of

_KIND_OF = {
    str: "text",
    bool: "a boolean",
    int: "an integer",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


MOST_PROBLEMS = 5  # of one kind that a model is told


class BadArgumentsError(Exception):
    """A model's arguments do not fit; `problems` are sentences for the model."""

    def __init__(self, *problems: str) -> None:
        super().__init__(*problems)
        self.problems = problems


def read_arguments(declared: Type[Any], params: Any) -> Any:
    """`params` as an object of the `declared` class. Raises BadArgumentsError.

    null stands for what is left out: models send it for optional arguments.
    """
    if not isinstance(params, Mapping):
        raise BadArgumentsError(f"the arguments must be a JSON object, not {_kind(params)}")
    fields = {one.name: one for one in fields_of(declared)}
    given = {name: value for name, value in params.items() if value is not None}
    unknown = [name for name in params if name not in fields]
    problems = [_unknown(name, list(fields)) for name in unknown[:MOST_PROBLEMS]]
    problems += [
        f"{one.name} is missing: {one.words['description']}"
        for one in fields.values()
        if one.required and one.name not in given
    ]
    known = {name: value for name, value in given.items() if name in fields}
    for name, value in known.items():
        problem = _problem(fields[name].hint, fields[name].words, value)
        problems += [f"{name} must be {problem}"] if problem else []
    if problems:
        raise BadArgumentsError(*problems)
    return declared(**{name: _value(fields[name].hint, one) for name, one in known.items()})


def _unknown(name: Any, known: List[str]) -> str:
    shown = name[:100] if isinstance(name, str) else f"of type {type(name).__name__}"
    near = difflib.get_close_matches(shown, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
    return f"there is no argument {shown!r}; {hint}"


def _problem(hint: Any, words: Mapping[str, Any], value: Any) -> Optional[str]:
    """What `value` must be and is not; None if it fits."""
    if typing.get_origin(hint) is list:
        return _list_problem(typing.get_args(hint)[0], words, value)
    if not _is(hint, value):
        return f"{_named(KINDS[hint])}, not {_kind(value)}"
    if "enum" in words and value not in words["enum"]:
        return "one of " + ", ".join(words["enum"])
    if isinstance(value, str):
        return _text_problem(words, value)
    low, high = words.get("minimum", value), words.get("maximum", value)
    return None if low <= value <= high else f"between {low} and {high}"


def _list_problem(hint: Any, words: Mapping[str, Any], value: Any) -> Optional[str]:
    if not isinstance(value, list):
        return f"a list, not {_kind(value)}"
    low, high = words.get("minItems", 0), words.get("maxItems", len(value))
    if not low <= len(value) <= high:
        return f"a list of {low} to {high}" if value else "a list that is not empty"
    problems = (_problem(hint, {"minLength": 1}, item) for item in value)
    return next((f"a list of which each is {problem}" for problem in problems if problem), None)


def _text_problem(words: Mapping[str, Any], value: str) -> Optional[str]:
    if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
        return "text without NUL and unpaired surrogates"
    if words.get("minLength") and not value.strip():
        return "text that is not empty"
    return None


def _is(hint: Any, value: Any) -> bool:
    if hint is int:
        whole = isinstance(value, float) and value.is_integer()
        return whole or (isinstance(value, int) and not isinstance(value, bool))
    return isinstance(value, hint)


def _value(hint: Any, value: Any) -> Any:
    return int(value) if hint is int else value


def _kind(value: Any) -> str:
    return _KIND_OF.get(type(value), f"a {type(value).__name__}")


def _named(kind: str) -> str:
    return "text" if kind == "string" else f"an {kind}" if kind == "integer" else f"a {kind}"
